"""Every index that holds an item is written, and paid for, with it.

Scenario: an order of less than 1 KB. One PutItem costs one unit for the table and one for each
global index that holds the order: with three, one write is four. What a later update costs depends
on what it touches: nothing of the index, something it shows, or its key.
"""

from typing import Any

from emulator import Emulator, ManualClock

INDEXED = ("customer", "status", "warehouse")
ORDER = {"id": "order-1", "customer": "c-1", "status": "pending", "warehouse": "w-1", "note": "-"}


def create(emu: Emulator, indexes: int) -> str:
    name = f"orders-{indexes}"
    used = INDEXED[:indexes]
    request: dict[str, Any] = {
        "TableName": name,
        "AttributeDefinitions": [
            {"AttributeName": attribute, "AttributeType": "S"} for attribute in ("id", *used)
        ],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    if used:
        request["GlobalSecondaryIndexes"] = [
            {
                "IndexName": f"by-{attribute}",
                "KeySchema": [{"AttributeName": attribute, "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["note"]},
            }
            for attribute in used
        ]
    emu.client().create_table(**request)
    return name


def show(what: str, answer: dict[str, Any]) -> None:
    cost = answer["ConsumedCapacity"]
    arms = cost.get("GlobalSecondaryIndexes", {})
    indexes = ", ".join(f"{name} {arms[name]['CapacityUnits']}" for name in sorted(arms))
    table = cost["Table"]["CapacityUnits"]
    print(f"{what:<32}{cost['CapacityUnits']:>5}  table {table}  {indexes}".rstrip())


def main() -> None:
    emu = Emulator(clock=ManualClock())
    print(f"{'write':<32}{'units':>5}")
    for indexes in range(len(INDEXED) + 1):
        table = emu.table(create(emu, indexes))
        answer = table.put_item(Item=ORDER, ReturnConsumedCapacity="INDEXES")
        show(f"new order, in {indexes} of 3 indexes", answer)

    table = emu.table("orders-3")

    def update(what: str, name: str, value: object) -> None:
        answer = table.update_item(
            Key={"id": "order-1"},
            UpdateExpression="SET #name = :value",
            ExpressionAttributeNames={"#name": name},
            ExpressionAttributeValues={":value": value},
            ReturnConsumedCapacity="INDEXES",
        )
        show(what, answer)

    update("an attribute no index shows", "paid", value=True)
    update("an attribute all indexes show", "note", "gift")
    update("the same value again", "note", "gift")
    update("a key of one index", "status", "shipped")
    sparse = {name: value for name, value in ORDER.items() if name != "warehouse"} | {
        "id": "order-2"
    }
    show(
        "new order without a warehouse",
        table.put_item(Item=sparse, ReturnConsumedCapacity="INDEXES"),
    )
    show(
        "the order deleted",
        table.delete_item(Key={"id": "order-1"}, ReturnConsumedCapacity="INDEXES"),
    )


if __name__ == "__main__":
    main()
