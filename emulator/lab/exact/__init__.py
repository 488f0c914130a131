"""The exact engine: the real emulator in virtual time, request by request."""

from emulator.lab.exact.engine import run

__all__ = ["run"]
