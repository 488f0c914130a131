"""The front end: JavaScript modules and style sheets as files, and one page made of them.

``kit/`` has what every page uses: elements, number formats, scales, charts, tables, colours.
``report/`` is the lab's report, ``session/`` that of a test session, ``console/`` the page of the
server.
A server hands the files out as they are; ``page`` puts them into one file that needs no network.
"""

from emulator.web.files import read
from emulator.web.pages import page, style

__all__ = ["page", "read", "style"]
