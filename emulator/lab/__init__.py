"""The lab: which key scheme throttles, and what it costs, before it is deployed.

A modeller writes down a workload (access patterns with rates and key distributions) and two or
more designs (keys as templates over the workload's fields), and compares them:

>>> from emulator.lab import Capacity, Design, Field, Pattern, Workload, compare
>>> workload = Workload(
...     fields=[Field("deviceId", count=1_000)],
...     patterns=[Pattern("record event", "PutItem", rate=120)],
...     duration=60,
... )
>>> capacity = Capacity(read=10, write=100)
>>> result = compare(workload, [
...     Design("device key", partition="{deviceId}", sort="{timestamp}", capacity=capacity),
... ], worlds=20, headroom=False)
>>> device = result.designs[0]
>>> device.grade, device.ages.first.risk.chance, device.ages.lived.risk.chance
('throttles', 0.0, 1.0)
>>> device.fix
'provision 138 write units on the table'

Names load what they need when they are first used: numpy and YAML are needed by the lab alone.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from emulator.lab.analysis.comparison import compare
    from emulator.lab.analysis.play import Outcome, play
    from emulator.lab.analysis.study import StudyOptions
    from emulator.lab.analysis.sweeps import RayExecutor, Sweep, sweep
    from emulator.lab.files import load
    from emulator.lab.inputs.arrival_rates import Constant, Daily, Ramp, Spikes
    from emulator.lab.inputs.clients import Clients
    from emulator.lab.inputs.design import Capacity, Design, Index, Key, Table
    from emulator.lab.inputs.distributions import (
        Hotspot,
        Latest,
        Sequential,
        Uniform,
        Weights,
        Zipf,
    )
    from emulator.lab.inputs.history import History, Units
    from emulator.lab.inputs.patterns import Field, Pattern, Preload, Sizes
    from emulator.lab.inputs.traces import record
    from emulator.lab.inputs.workload import Workload
    from emulator.lab.outcome.result_types import Comparison
    from emulator.lab.searches import Search, search
    from emulator.service.errors import DocumentError

_MODULES: Final = {
    "analysis.comparison": ("compare",),
    "analysis.play": ("Outcome", "play"),
    "analysis.study": ("StudyOptions",),
    "analysis.sweeps": ("RayExecutor", "Sweep", "sweep"),
    "files": ("load",),
    "inputs.arrival_rates": ("Constant", "Daily", "Ramp", "Spikes"),
    "inputs.clients": ("Clients",),
    "inputs.design": ("Capacity", "Design", "Index", "Key", "Table"),
    "inputs.distributions": ("Hotspot", "Latest", "Sequential", "Uniform", "Weights", "Zipf"),
    "inputs.documents": ("DocumentError",),
    "inputs.history": ("History", "Units"),
    "inputs.patterns": ("Field", "Pattern", "Preload", "Sizes"),
    "inputs.traces": ("record",),
    "inputs.workload": ("Workload",),
    "outcome.result_types": ("Comparison",),
    "searches": ("Search", "search"),
}
_MODULE_OF: Final = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Capacity",
    "Clients",
    "Comparison",
    "Constant",
    "Daily",
    "Design",
    "DocumentError",
    "Field",
    "History",
    "Hotspot",
    "Index",
    "Key",
    "Latest",
    "Outcome",
    "Pattern",
    "Preload",
    "Ramp",
    "RayExecutor",
    "Search",
    "Sequential",
    "Sizes",
    "Spikes",
    "StudyOptions",
    "Sweep",
    "Table",
    "Uniform",
    "Units",
    "Weights",
    "Workload",
    "Zipf",
    "compare",
    "load",
    "play",
    "record",
    "search",
    "sweep",
]


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(f"emulator.lab.{module}"), name)
    except ModuleNotFoundError as missing:
        from emulator.command_line import NEEDS  # programs load no argparse

        needs = NEEDS.format(what=f"emulator.lab.{name}", module=missing.name)
        raise ModuleNotFoundError(needs, name=missing.name) from missing


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})
