"""A counter with a version never loses an update, in any order of requests.

Both clients read, add one and write back. With a condition on the version and another attempt,
every order of three clients counts to three; without, two clients lose an update.
"""

from emulator import ApiError, Emulator
from emulator.strategies import create_request
from emulator.testing import every_interleaving

KEY = {"TableName": "counters", "Key": {"pk": {"S": "visits"}}}


def seen_by(emu):
    item = emu.call("GetItem", KEY).get("Item", {})
    return int(item.get("version", {"N": "0"})["N"])


def put(seen):
    version = {"N": str(seen + 1)}
    return {"TableName": "counters", "Item": KEY["Key"] | {"version": version}}


def count_carelessly(emu):
    emu.call("PutItem", put(seen_by(emu)))


def count(emu):
    for _ in range(6):
        seen = seen_by(emu)
        condition = "attribute_not_exists(version) OR version = :seen"
        values = {":seen": {"N": str(seen)}}
        request = {"ConditionExpression": condition, "ExpressionAttributeValues": values}
        try:
            emu.call("PutItem", put(seen) | request)
        except ApiError:
            continue  # somebody was faster, or the read was stale
        return
    raise RuntimeError("six attempts were not enough")


def surprise(counts, clients):
    emu = Emulator()
    emu.call("CreateTable", create_request("counters", "pk"))
    runs = every_interleaving(emu, *[lambda: counts(emu)] * clients)
    for run in runs:
        version = int(emu.call("GetItem", KEY | {"ConsistentRead": True})["Item"]["version"]["N"])
        if version != clients:
            return f"in the order {run.schedule} {clients} updates count as {version}"
    return f"none is lost in {runs.played} orders"


def main():
    print("two without a condition: ", surprise(count_carelessly, 2))
    print("two with a version:      ", surprise(count, 2))
    print("three with a version:    ", surprise(count, 3))


if __name__ == "__main__":
    main()
