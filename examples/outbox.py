"""The outbox: a change and its message in one transaction, and each message acted on once.

Scenario: an order and the event that tells others of it are written in one TransactWriteItems. A
filter lets only inserted outbox items through, and the handler publishes them. Delivery is at
least once: some batches come twice, as after an answer that was lost. A consumer that counts what
it gets is wrong; one that remembers the ids of events is right.

The table's own changes come through the same stream and never reach the handler.
"""

from typing import Any

from emulator import Emulator, ManualClock

ORDERS = 12
SEED = 4
OUTBOX = {
    "eventName": ["INSERT"],
    "dynamodb": {"Keys": {"pk": {"S": [{"prefix": "OUTBOX#"}]}}},
}


def create(emu: Emulator) -> None:
    emu.client().create_table(
        TableName="shop",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
    )


def place(emu: Emulator, number: int) -> None:
    """Write an order and the event about it, or neither."""
    order = {"pk": {"S": f"ORDER#{number}"}, "state": {"S": "placed"}}
    event = {"pk": {"S": f"OUTBOX#{number}"}, "type": {"S": "OrderPlaced"}}
    puts = [{"Put": {"TableName": "shop", "Item": item}} for item in (order, event)]
    emu.client().transact_write_items(TransactItems=puts)


class Counter:
    """A consumer that trusts that every event comes once."""

    def __init__(self) -> None:
        self.taken: list[str] = []

    def take(self, event_id: str) -> None:
        self.taken.append(event_id)


class Ledger(Counter):
    """A consumer that knows the events that it has taken."""

    def take(self, event_id: str) -> None:
        if event_id not in self.taken:
            super().take(event_id)


def main() -> None:
    emu = Emulator(clock=ManualClock())
    create(emu)
    counter, ledger = Counter(), Ledger()

    def publish(event: dict[str, Any], _context: Any) -> None:
        for record in event["Records"]:
            event_id = record["dynamodb"]["NewImage"]["pk"]["S"]
            counter.take(event_id)
            ledger.take(event_id)

    with emu.event_source(
        "shop", publish, batch_size=2, filters=[OUTBOX], at_least_once=SEED
    ) as source:
        for number in range(ORDERS):
            place(emu, number)
            emu.clock.advance(1)
        emu.table("shop").delete_item(Key={"pk": "OUTBOX#0"})
        source.drain()
        metrics = source.metrics

    print(f"orders placed: {ORDERS}")
    print(f"records in the stream: {metrics.polled}, filtered out: {metrics.filtered}")
    print(f"calls of the handler: {metrics.invocations}, records in them: {metrics.invoked}")
    print(f"counted by a consumer that trusts: {len(counter.taken)}")
    print(f"counted by a consumer that remembers: {len(ledger.taken)}")


if __name__ == "__main__":
    main()
