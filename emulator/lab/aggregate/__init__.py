"""The aggregate engine: the same rules on numbers of calls, second by second."""

from emulator.lab.aggregate.engine import run

__all__ = ["run"]
