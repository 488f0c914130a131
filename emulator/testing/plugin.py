"""The former entry point of the pytest plugin, for installs whose metadata still names it.

The plugin is ``pytest_dynamometer``; an install made before it moved out of the package loads it
from here. Reinstalling makes this module unneeded.
"""

from pytest_dynamometer import *  # noqa: F403  # its hooks and fixtures, for pytest to find
