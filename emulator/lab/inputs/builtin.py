"""The built-in comparison: device events, the hour as key against the device as key.

10,000 devices send 2,800 events a second in all, of 300 bytes each; the table has 5,000 write
units provisioned. Twice a second a client reads the last ten seconds of one device's events.
With the hour as partition key every write of an hour goes to one partition, which stops at 1,000
units a second while most of the capacity is unused, and the look at one device reads the events
of all; with the device as key nothing is throttled and the look costs half a unit. Between them
lies the hour with the device first in the sort key: its writes do not ascend, so the partition
can be split for heat, minutes after each hour began (CAP2-3), and until then throttles as well.
"""

from __future__ import annotations

from typing import Final

from emulator.lab.inputs.design import Capacity, Design
from emulator.lab.inputs.patterns import Field, Pattern
from emulator.lab.inputs.workload import Workload

TITLE: Final = "Device events: the hour as key against the device as key"
DEVICES: Final = 10_000
EVENTS_PER_SECOND: Final = 2_800
WRITE_UNITS: Final = 5_000
READ_UNITS: Final = 1_000


def device_events(*, duration: int = 3600, rate: float = EVENTS_PER_SECOND) -> Workload:
    """Return the workload: events written, and a device's last events read.

    >>> device_events(duration=60).requests
    168120.0
    """
    return Workload(
        fields=(Field("deviceId", count=DEVICES),),
        patterns=(
            Pattern("record event", "PutItem", rate=rate, size=300),
            Pattern(
                "last events of a device",
                "Query",
                rate=2,
                by=("deviceId",),
                span=10,
                size=300,
            ),
        ),
        duration=duration,
    )


def hour_and_device() -> tuple[Design, ...]:
    """Return the designs.

    >>> [design.name for design in hour_and_device()]
    ['hour key', 'device key', 'hour key by device']
    """
    capacity = Capacity(read=READ_UNITS, write=WRITE_UNITS)
    return (
        Design(
            "hour key",
            partition="{timestamp:hour}",
            sort="{timestamp}#{deviceId}",
            capacity=capacity,
        ),
        Design("device key", partition="{deviceId}", sort="{timestamp}", capacity=capacity),
        Design(
            "hour key by device",
            partition="{timestamp:hour}",
            sort="{deviceId}#{timestamp}",
            capacity=capacity,
        ),
    )
