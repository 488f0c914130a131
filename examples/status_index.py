"""An index on a status falls behind, and in the end stops its table.

Scenario: orders under random ids, an on-demand table, 150 new orders of 10 KB a second: 1,500 write
units, spread evenly; the table alone serves that without a word. An index by status puts every new
order under "pending": one key, one partition, 1,000 units a second. The table goes on accepting
orders, and what the index has no room for waits: the index shows ever older orders, and counts
throttle events from the first second on. When too much waits, every write to the table is refused
with a reason that names the index. How much that is, is assumed (Settings.gsi_buffer_seconds).

The cure spreads the hot value over ten keys, pending#0 to pending#9; who lists the pending orders
asks ten times.
"""

import random
from typing import Any

from emulator import Emulator, ManualClock, Settings

SEED = 5
ORDERS_PER_SECOND = 150
ORDER_BYTES = 10_000
SECONDS = 10
SHARDS = 10


def create(emu: Emulator, name: str, *, indexed: bool) -> None:
    names = ("id", "state") if indexed else ("id",)
    request: dict[str, Any] = {
        "TableName": name,
        "AttributeDefinitions": [{"AttributeName": n, "AttributeType": "S"} for n in names],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    if indexed:
        request["GlobalSecondaryIndexes"] = [
            {
                "IndexName": "byState",
                "KeySchema": [{"AttributeName": "state", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ]
    emu.client().create_table(**request)


def load(emu: Emulator, clock: Any, table: str, *, shards: int) -> set[tuple[str, str]]:
    """Offer orders for some seconds; return why some were refused."""
    client = emu.client()
    dice = random.Random(SEED)
    reasons = set()
    for _ in range(SECONDS):
        for _ in range(ORDERS_PER_SECOND):
            order = {"id": {"S": f"{dice.getrandbits(64):016x}"}, "body": {"S": "x" * ORDER_BYTES}}
            shard = f"#{dice.randrange(shards)}" if shards > 1 else ""
            try:
                client.put_item(TableName=table, Item=order | {"state": {"S": f"pending{shard}"}})
            except client.exceptions.ThrottlingException as error:
                for reason in error.response["throttlingReasons"]:
                    reasons.add((reason["reason"], reason["resource"].split(":table/")[1]))
        clock.advance(1)
    return reasons


def main() -> None:
    clock = ManualClock()
    emu = Emulator(clock=clock, capacity="enforce")
    designs = (("no-index", False, 1), ("by-status", True, 1), ("by-shard", True, SHARDS))
    offered = SECONDS * ORDERS_PER_SECOND
    print(
        f"{'design':<12}{'offered':>8}{'refused':>9}{'delayed':>9}{'waiting':>9}  index closes in"
    )
    for table, indexed, shards in designs:
        create(emu, table, indexed=indexed)
        load(emu, clock, table, shards=shards)
        refused = emu.metrics.sum("ThrottledRequests", table)
        delayed = emu.metrics.sum("WriteThrottleEvents", table, "byState")
        row = f"{offered:>8,}{refused:>9,.0f}{delayed:>9,.0f}"
        if not indexed:
            print(f"{table:<12}{row}{'-':>9}  -")
            continue
        backlog = emu.backlog(table, "byState")
        closes = "never" if backlog.closes_in is None else f"{backlog.closes_in / 60:.0f} min"
        print(f"{table:<12}{row}{backlog.units:>9,.0f}  {closes}")

    strict = Emulator(
        clock=ManualClock(), capacity="enforce", settings=Settings(gsi_buffer_seconds=0)
    )
    create(strict, "by-status", indexed=True)
    reasons = load(strict, strict.clock, "by-status", shards=1)
    print("without a buffer, as a strict test wants it:")
    print("  " + ", ".join(f"{reason} {resource}" for reason, resource in sorted(reasons)))

    pages = [
        emu.table("by-shard").query(
            IndexName="byState",
            KeyConditionExpression="#state = :state",
            ExpressionAttributeNames={"#state": "state"},
            ExpressionAttributeValues={":state": f"pending#{shard}"},
            Limit=1,
            ReturnConsumedCapacity="TOTAL",
        )
        for shard in range(SHARDS)
    ]
    units = sum(page["ConsumedCapacity"]["CapacityUnits"] for page in pages)
    print(f"one order of each shard: {len(pages)} queries, {units} read units")


if __name__ == "__main__":
    main()
