"""What is loaded when it is first used is loaded here, before a pytest within a test does so.

Such a pytest forgets the modules that it has loaded, and the next one loads them again. Whoever
still holds the first ones, as the library's own rooms do, would then raise other classes than a
test expects.
"""

import pkgutil
from importlib import import_module

import emulator

#: What no plugin loads; some of it needs packages that may be missing.
_OTHERS = ("emulator.__main__", "emulator.lab", "emulator.mcp")


def load_rooms():
    """Load all modules that the plugin may load."""
    for module in pkgutil.walk_packages(emulator.__path__, "emulator."):
        if not module.name.startswith(_OTHERS):
            import_module(module.name)


load_rooms()
