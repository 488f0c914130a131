"""Global tables: a table in several regions, and a write's way from one to the others.

This room decides which write wins, when it arrives, which writes are refused, and how a request is
served that concerns several regions. It is loaded with the first replica (``engine.network``).
"""

from emulator.regions.replication import catch_up, deliver
from emulator.regions.serving import serve
from emulator.regions.writes import check_write, expires_here, send

__all__ = ["catch_up", "check_write", "deliver", "expires_here", "send", "serve"]
