"""Find the smallest traffic that throttles a design.

Two dozen sensors write readings of 100 KB, 98 write units each, at most one a second. A partition
takes 1,000 write units a second, whatever the table has (CAP-501). The search draws which sensors
report in the same second, is led on by ``target`` towards more throttles, and shrinks what it
finds: what is left is the smallest such crowd, and the key that got hot. With the hour as
partition key there is one; with the sensor as partition key, none is found.
"""

from hypothesis import Phase, given, settings, target
from hypothesis import strategies as st

from emulator import Emulator, ManualClock
from emulator.strategies import Burst, Request, Workload, create_request

READING = "x" * 100_000
SENSORS = [f"sensor-{number}" for number in range(24)]
BY_HOUR = create_request("readings", "hour", "sensor")
BY_SENSOR = create_request("readings", "sensor", "hour")


def write(sensor):
    item = {"hour": {"S": "10:00"}, "sensor": {"S": sensor}, "data": {"S": READING}}
    return Request("PutItem", {"TableName": "readings", "Item": item})


def at_once(sensors):
    """Return the traffic of sensors that all report at the same moment."""
    return Workload((Burst(0, 0, len(sensors), tuple(write(sensor) for sensor in sensors)),))


def search(design):
    """Return the smallest crowd found that is throttled, with its hottest key, or None."""
    found = []

    @settings(
        max_examples=50,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate, Phase.target, Phase.shrink],
    )
    @given(st.lists(st.sampled_from(SENSORS), min_size=1, unique=True))
    def try_one(sensors):
        emu = Emulator(clock=ManualClock(), capacity="enforce")
        emu.call("CreateTable", design)
        throttles = at_once(sensors).play(emu).throttles
        target(float(throttles))
        target(float(len(sensors)), label="crowd")
        if throttles:
            hottest = emu.insights("readings").throttled_partition_keys[0].key[0]
            found.append((sensors, hottest))
            raise AssertionError

    try:
        try_one()
    except AssertionError:
        return found[-1]
    return None


def main():
    sensors, hottest = search(BY_HOUR)
    print(f"by hour:   {len(sensors)} sensors at once are throttled, the hot key is {hottest!r}")
    print(f"by sensor: {search(BY_SENSOR) or 'no crowd found that is throttled'}")


if __name__ == "__main__":
    main()
