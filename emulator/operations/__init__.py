"""What may be asked: one file per API operation, request shapes as data, rules as functions.

This room decides the order of checks and every message; it alone speaks the wire's words.
"""

from typing import Any

from emulator.operations.homes import HOMES
from emulator.operations.registry import Operation, find, run

NAMES = frozenset(HOMES)

__all__ = ["NAMES", "OPERATIONS", "Operation", "find", "run"]


def __getattr__(name: str) -> Any:
    if name == "OPERATIONS":
        # All of them, loaded: for those who list operations, not for those who call them.
        return {operation: find(operation) for operation in sorted(NAMES)}
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
