"""The public errors: what ``Emulator.call`` raises, and what misuse of our own API raises.

The classes are defined in ``emulator.service.errors``, whose docstring draws their tree.

>>> from emulator.errors import ApiError, ValidationException
>>> issubclass(ValidationException, ApiError)
True
"""

from emulator.service.errors import *  # noqa: F403  # this module is the public door to that one
