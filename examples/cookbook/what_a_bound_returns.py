"""Does ``SK < 'DEVICE#~'`` return a user's profile and devices, and nothing else? (L3)

The plan: ``#PROFILE``, ``DEVICE#id`` and ``DEVICE#id#EVENT#time`` share a partition, and an upper
bound on the sort key is to leave the events out. Hypothesis looks for an item that the Query
returns against the plan, and shrinks it: an event of any device sorts below ``DEVICE#~``, because
what counts is the first character that differs. The cure is a bound between the kinds: give
events a prefix of their own.
"""

from hypothesis import find, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from emulator import Emulator
from emulator.strategies import create_request

DEVICES = st.integers(1, 99).map(lambda number: f"{number:02}")
TIMES = st.integers(0, 23).map(lambda hour: f"2026-04-01T{hour:02}")
NESTED = st.one_of(
    st.just("#PROFILE"),
    DEVICES.map(lambda device: f"DEVICE#{device}"),
    st.builds(lambda device, time: f"DEVICE#{device}#EVENT#{time}", DEVICES, TIMES),
)
SEPARATE = st.one_of(
    st.just("#PROFILE"),
    DEVICES.map(lambda device: f"DEVICE#{device}"),
    st.builds(lambda device, time: f"EVENT#{device}#{time}", DEVICES, TIMES),
)


def returned(sort_keys):
    """Return what the dashboard's Query gives of items with these sort keys."""
    emu = Emulator(capacity="off")
    emu.call("CreateTable", create_request("users", "user", "SK"))
    users = emu.table("users")
    for sort_key in sort_keys:
        users.put_item(Item={"user": "ann", "SK": sort_key})
    found = users.query(
        KeyConditionExpression="#u = :user AND SK < :bound",
        ExpressionAttributeNames={"#u": "user"},
        ExpressionAttributeValues={":user": "ann", ":bound": "DEVICE#~"},
    )
    return [item["SK"] for item in found["Items"]]


def surprise(layout):
    """Return the smallest table from which the Query returns an event, or None."""
    try:
        return find(
            st.lists(layout, min_size=1, max_size=5),
            lambda sort_keys: any("EVENT#" in one for one in returned(sort_keys)),
            settings=settings(max_examples=60, deadline=None, derandomize=True, database=None),
        )
    except NoSuchExample:
        return None


def main():
    print("events under their device:", surprise(NESTED))
    print("events apart:             ", surprise(SEPARATE))


if __name__ == "__main__":
    main()
