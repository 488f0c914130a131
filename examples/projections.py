"""What an index holds decides what it costs: KEYS_ONLY, INCLUDE, ALL.

Scenario: orders of 10 KB with an index by customer. ALL copies the whole order into the index:
every write pays ten units twice, and a list of forty orders reads 400 KB. KEYS_ONLY writes one
unit and reads next to nothing, but shows only keys; whoever needs more reads the orders one by
one. INCLUDE is the middle: the list shows date and total without a second read.
"""

from typing import Any

from emulator import Emulator, ManualClock

ORDERS = 40
ORDER_BYTES = 10_000
PROJECTIONS: dict[str, dict[str, Any]] = {
    "KEYS_ONLY": {"ProjectionType": "KEYS_ONLY"},
    "INCLUDE": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["day", "total"]},
    "ALL": {"ProjectionType": "ALL"},
}


def create(emu: Emulator, name: str, projection: dict[str, Any]) -> None:
    emu.client().create_table(
        TableName=name,
        AttributeDefinitions=[
            {"AttributeName": "id", "AttributeType": "S"},
            {"AttributeName": "customer", "AttributeType": "S"},
        ],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "byCustomer",
                "KeySchema": [{"AttributeName": "customer", "KeyType": "HASH"}],
                "Projection": projection,
            }
        ],
        BillingMode="PAY_PER_REQUEST",
    )


def units(answer: dict[str, Any]) -> float:
    consumed: float = answer["ConsumedCapacity"]["CapacityUnits"]
    return consumed


def main() -> None:
    emu = Emulator(clock=ManualClock())
    print(
        f"{'projection':<12}{'insert':>8}{'update':>8}{'list':>8}{'details':>9}{'index bytes':>13}"
    )
    for name, projection in PROJECTIONS.items():
        create(emu, name, projection)
        table = emu.table(name)
        for number in range(ORDERS):
            order = {"id": f"o-{number}", "customer": "c-1", "day": "2024-04-09", "total": 12}
            inserted = table.put_item(
                Item=order | {"lines": "x" * ORDER_BYTES}, ReturnConsumedCapacity="TOTAL"
            )
        updated = table.update_item(
            Key={"id": "o-0"},
            UpdateExpression="SET packed = :yes",
            ExpressionAttributeValues={":yes": True},
            ReturnConsumedCapacity="TOTAL",
        )
        listed = table.query(
            IndexName="byCustomer",
            KeyConditionExpression="customer = :c",
            ExpressionAttributeValues={":c": "c-1"},
            ReturnConsumedCapacity="TOTAL",
        )
        details = 0.0
        if name != "ALL":
            for order in listed["Items"]:
                key = {"id": order["id"]}
                details += units(table.get_item(Key=key, ReturnConsumedCapacity="TOTAL"))
        table.reload()
        size = table.global_secondary_indexes[0]["IndexSizeBytes"]
        row = f"{units(inserted):>8}{units(updated):>8}{units(listed):>8}{details:>9}{size:>13,}"
        print(f"{name:<12}{row}")
    print("insert, update: write units; list: read units of 40 entries; details: of their orders")


if __name__ == "__main__":
    main()
