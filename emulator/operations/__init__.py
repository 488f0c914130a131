"""Operations: one file per API operation, request shapes as data, rules as functions.

This room decides the order of checks and every message; it alone speaks the wire's words. Which
operations there are, and in which file, is in ``emulator.service.catalogue``: a file is read when
its operation is first asked for, since an application uses a handful of them.
"""

from emulator.operations.registry import Operation, find, run, serve
from emulator.operations.responses import LongAnswer

__all__ = ["LongAnswer", "Operation", "find", "run", "serve"]
