"""What would have throttled: an existing test, left as it is.

Scenario: a suite has a test that imports a catalogue and marks it as on sale. It passes, here as on
every other emulator. In ``observe``, the default, admission is computed as in production but
nothing is refused: the test still passes, and afterwards the emulator says what production would
have said. With ``enforce`` the same test meets the exception itself.

No time passes during the test, so table and index have one second's worth of capacity: the worst
case. What the table would have refused never reaches the index. What the index has no room for
waits, and counts as throttled from the first change on, though base writes pass for minutes yet.
"""

from emulator import Emulator, ManualClock

PRODUCTS = 200
PROVISIONED = 50
INDEX_PROVISIONED = 10


def import_catalogue(emu: Emulator) -> None:
    """The code under test."""
    client = emu.client()
    for number in range(PRODUCTS):
        client.put_item(
            TableName="products", Item={"id": {"S": f"p-{number}"}, "status": {"S": "draft"}}
        )
    for number in range(PRODUCTS):
        client.update_item(
            TableName="products",
            Key={"id": {"S": f"p-{number}"}},
            UpdateExpression="SET #status = :sale",
            ExpressionAttributeNames={"#status": "status"},
            ExpressionAttributeValues={":sale": {"S": "sale"}},
        )


def catalogue_test(emu: Emulator) -> None:
    """The existing test."""
    emu.call(
        "CreateTable",
        {
            "TableName": "products",
            "AttributeDefinitions": [
                {"AttributeName": "id", "AttributeType": "S"},
                {"AttributeName": "status", "AttributeType": "S"},
            ],
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
            "GlobalSecondaryIndexes": [
                {
                    "IndexName": "byStatus",
                    "KeySchema": [{"AttributeName": "status", "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "KEYS_ONLY"},
                    "ProvisionedThroughput": {
                        "ReadCapacityUnits": PROVISIONED,
                        "WriteCapacityUnits": INDEX_PROVISIONED,
                    },
                }
            ],
            "ProvisionedThroughput": {
                "ReadCapacityUnits": PROVISIONED,
                "WriteCapacityUnits": PROVISIONED,
            },
        },
    )
    import_catalogue(emu)
    on_sale = emu.table("products").query(
        IndexName="byStatus",
        KeyConditionExpression="#status = :sale",
        ExpressionAttributeNames={"#status": "status"},
        ExpressionAttributeValues={":sale": "sale"},
        Select="COUNT",
    )
    assert on_sale["Count"] == PRODUCTS


def main() -> None:
    emu = Emulator(clock=ManualClock(), capacity="observe")
    with emu.budget(wcu=10_000) as ledger:
        catalogue_test(emu)
    print(f"observe: passed, {ledger.calls} calls, {ledger.write_units:g} write units")
    print(f"{ledger.throttles} writes would have been throttled:")
    for (reason, resource), times in ledger.reasons.items():
        print(f"{times:>6} x {reason} on {resource.split(':table/')[1]}")
    for entry in ledger.entries[:2]:
        print(f"{entry.throttles:>6} of {entry.calls} by {entry.operation} {entry.table}")
    throttled = emu.insights("products", "byStatus").throttled_partition_keys
    print(
        "throttled keys of the index:",
        ", ".join(f"{key.key[0]} {key.value:.0f} x" for key in throttled),
    )

    try:
        catalogue_test(Emulator(clock=ManualClock(), capacity="enforce"))
    except emu.client().exceptions.ProvisionedThroughputExceededException as error:
        print(f"enforce: {error}")

    try:
        with emu.budget(throttles=0):
            import_catalogue(emu)
    except AssertionError as error:
        print(f"as a budget: {str(error).splitlines()[0]}")


if __name__ == "__main__":
    main()
