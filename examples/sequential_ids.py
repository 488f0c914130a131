"""Sequential ids: what the hash mends, and what it cannot.

Scenario: orders are numbered 1, 2, 3, ... As partition keys such numbers do no harm to writes: the
hash sends neighbours to different partitions, and 4,000 write units a second pass. Told: counting
ids make a hot partition. By the hash they do not.

What hurts is that people read what is new. When everybody looks at the newest order, its one
partition serves 3,000 read units a second, however the ids were made; random ids fare no better.
"""

import random
import uuid
from collections.abc import Callable
from contextlib import suppress

from emulator import Emulator, ManualClock

SEED = 2
SECONDS = 5
WRITES_PER_SECOND = 100
ORDER_BYTES = 40_000  # 40 write units, 5 read units eventually consistent
READS_PER_SECOND = 800


def sequential(_: random.Random, number: int) -> str:
    return f"order-{number:08}"


def at_random(dice: random.Random, _: int) -> str:
    return str(uuid.UUID(int=dice.getrandbits(128)))


def run(
    emu: Emulator, clock: ManualClock, table: str, id_of: Callable[[random.Random, int], str]
) -> None:
    client = emu.client()
    client.create_table(
        TableName=table,
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        ProvisionedThroughput={"ReadCapacityUnits": 10_000, "WriteCapacityUnits": 5_000},
    )
    dice = random.Random(SEED)
    body = {"body": {"S": "x" * ORDER_BYTES}}
    throttled = client.exceptions.ProvisionedThroughputExceededException
    number = 0
    for _ in range(SECONDS):
        for _ in range(WRITES_PER_SECOND):
            number += 1
            newest = {"id": {"S": id_of(dice, number)}}
            with suppress(throttled):
                client.put_item(TableName=table, Item=newest | body)
        for _ in range(READS_PER_SECOND):
            with suppress(throttled):
                client.get_item(TableName=table, Key=newest)
        clock.advance(1)

    partitions = emu.partitions(table)
    written = [part.consumed_write for part in partitions]
    share = max(written) / sum(written)
    writes = emu.metrics.sum("WriteThrottleEvents", table)
    reads = emu.metrics.sum("ReadThrottleEvents", table)
    row = f"{len(partitions):>11}{share:>15.0%}{writes:>16.0f}{reads:>15,.0f}"
    print(f"{table:<12}{row}")


def main() -> None:
    clock = ManualClock()
    emu = Emulator(clock=clock, capacity="enforce")
    head = f"{'partitions':>11}{'busiest write':>15}{'writes refused':>16}{'reads refused':>15}"
    print(f"{'ids':<12}{head}")
    run(emu, clock, "sequential", sequential)
    run(emu, clock, "random", at_random)
    offered = f"{SECONDS * WRITES_PER_SECOND:,} writes, {SECONDS * READS_PER_SECOND:,} reads"
    print(f"of {offered} of the newest order")


if __name__ == "__main__":
    main()
