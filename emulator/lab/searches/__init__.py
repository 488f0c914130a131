"""The search for designs: access patterns in, the best key designs out.

The room proposes keys, indexes and capacity (``keys``, ``proposals``), rules out what bounds rule
out (``bounds``), plays what is left, few worlds first (``short_list``), and explains what it found
(``answers``). What answers a pattern, plays and prices is decided elsewhere.
"""

from emulator.lab.searches.short_list import Search, search

__all__ = ["Search", "search"]
