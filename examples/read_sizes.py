"""What a read costs: sizes, rounding, consistency.

Scenario: items from 1 KB to 20 KB. A strongly consistent read costs one unit for each 4 KB begun,
an eventually consistent one half of that, a transactional one twice as much. A 20 KB item is five
units, so one partition serves 600 such reads a second, not 3,000.

Single reads round each item; a Query rounds once, over everything it evaluated.
"""

from emulator import Emulator, ManualClock

SIZES_KB = (1, 4, 5, 20)
PARTITION_UNITS_PER_SECOND = 3_000


def item_of(name: str, size_bytes: int) -> dict[str, str]:
    """Return an item of exactly so many bytes: names and values both count."""
    item = {"PK": "doc", "SK": name, "body": ""}
    used = sum(len(key) + len(value) for key, value in item.items())
    return item | {"body": "x" * (size_bytes - used)}


def main() -> None:
    emu = Emulator(clock=ManualClock())
    client = emu.client()
    client.create_table(
        TableName="documents",
        AttributeDefinitions=[
            {"AttributeName": "PK", "AttributeType": "S"},
            {"AttributeName": "SK", "AttributeType": "S"},
        ],
        KeySchema=[
            {"AttributeName": "PK", "KeyType": "HASH"},
            {"AttributeName": "SK", "KeyType": "RANGE"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    table = emu.table("documents")

    def get(name: str, *, consistent: bool) -> float:
        answer = table.get_item(
            Key={"PK": "doc", "SK": name}, ConsistentRead=consistent, ReturnConsumedCapacity="TOTAL"
        )
        units: float = answer["ConsumedCapacity"]["CapacityUnits"]
        return units

    def transact_get(name: str) -> float:
        key = {"PK": {"S": "doc"}, "SK": {"S": name}}
        answer = client.transact_get_items(
            TransactItems=[{"Get": {"TableName": "documents", "Key": key}}],
            ReturnConsumedCapacity="TOTAL",
        )
        units: float = answer["ConsumedCapacity"][0]["CapacityUnits"]
        return units

    print(f"{'item':>8}{'eventual':>10}{'strong':>8}{'transaction':>13}{'strong reads/s':>16}")
    for size in (0, *SIZES_KB):
        name = f"{size:02}-KB"
        if size:
            table.put_item(Item=item_of(name, size * 1024))
        strong = get(name, consistent=True)
        row = f"{get(name, consistent=False):>10}{strong:>8}{transact_get(name):>13}"
        print(f"{name if size else 'missing':>8}{row}{PARTITION_UNITS_PER_SECOND / strong:>16.0f}")

    for number in range(10):
        table.put_item(Item=item_of(f"part-{number}", 1_000))
    singly = sum(get(f"part-{number}", consistent=True) for number in range(10))
    together = table.query(
        KeyConditionExpression="PK = :doc AND begins_with(SK, :part)",
        ExpressionAttributeValues={":doc": "doc", ":part": "part-"},
        ConsistentRead=True,
        ReturnConsumedCapacity="TOTAL",
    )["ConsumedCapacity"]["CapacityUnits"]
    print("strong reads/s: what one partition serves")
    print(
        f"ten items of 1,000 bytes, strongly consistent: {singly} one by one, {together} in a Query"
    )


if __name__ == "__main__":
    main()
