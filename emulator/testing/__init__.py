"""Testing: what the pytest plugin does; beside its entry point, the only room that knows pytest.

This room decides what a project may configure, how a database is seeded and restored, how a table
is written in few words, what a session reports, and in which orders the requests of an experiment
are served. ``pytest_dynamometer``, the entry point, lies outside of the package and loads it when a
test asks for one of its fixtures. Experiments need neither pytest nor the plugin:

    every_interleaving                       callables at once, in every order of their requests
    every_crash, ProcessDied                 a callable that dies, or loses an answer, at a request
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from emulator.testing.schedule import ProcessDied, every_crash, every_interleaving

__all__ = ["ProcessDied", "every_crash", "every_interleaving"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module("emulator.testing.schedule"), name)
    return value
