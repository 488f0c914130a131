"""The aggregate engine: the same rules on numbers of calls, second by second."""

from emulator.lab.aggregate.courses import WorldCourse, courses
from emulator.lab.aggregate.engine import run
from emulator.lab.aggregate.worlds import WorldsEngine

__all__ = ["WorldCourse", "WorldsEngine", "courses", "run"]
