"""Many worlds at once, in numbers: what a design does in each.

Its cost grows with the keys that matter one by one, with partitions, and with the seconds in which
a bucket may be short; not with keys, stored items or requests.
"""

from emulator.lab.world.plan import _highest as most_popular
from emulator.lab.world.worlds import Worlds, expected_bytes, run

__all__ = ["Worlds", "expected_bytes", "most_popular", "run"]
