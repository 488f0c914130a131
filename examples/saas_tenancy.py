"""A global index that keeps tenants apart: resources of many customers of many tenants.

Scenario: every resource belongs to a customer of a tenant. The index key is partition (tenantId,
customerId), sort (resourceType, resourceId). A question has to name both partition attributes by
equality, so no condition can reach over the fence by accident.

The built-by-hand alternative joins the names to one string. Two different pairs can then make the
same key, which the last lines show; attributes that stay apart cannot collide.
"""

from typing import Any

from emulator import Emulator, ManualClock

PARTITION = ("tenantId", "customerId")
SORT = ("resourceType", "resourceId")
RESOURCES = (
    # tenantId, customerId, resourceType, resourceId
    ("acme", "north", "document", "d-1"),
    ("acme", "north", "document", "d-2"),
    ("acme", "north", "invoice", "i-1"),
    ("acme", "north", "project", "p-1"),
    ("acme", "south", "document", "d-3"),
    ("ac", "menorth", "document", "d-4"),
    ("globex", "north", "document", "d-5"),
)
BOTH = "tenantId = :t AND customerId = :c"
NORTH = {":t": "acme", ":c": "north"}


def create(emu: Emulator) -> None:
    names = ("uid", *PARTITION, *SORT, "joined")
    emu.client().create_table(
        TableName="resources",
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in names],
        KeySchema=[{"AttributeName": "uid", "KeyType": "HASH"}],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "byCustomer",
                "KeySchema": [{"AttributeName": name, "KeyType": "HASH"} for name in PARTITION]
                + [{"AttributeName": name, "KeyType": "RANGE"} for name in SORT],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            },
            {
                "IndexName": "byJoinedString",
                "KeySchema": [{"AttributeName": "joined", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            },
        ],
        BillingMode="PAY_PER_REQUEST",
    )


def fill(emu: Emulator) -> None:
    table = emu.table("resources")
    for number, resource in enumerate(RESOURCES):
        item = dict(zip(PARTITION + SORT, resource, strict=True))
        joined = item["tenantId"] + item["customerId"]
        table.put_item(Item={"uid": f"uid-{number}", "joined": joined, **item})
    # No customer: the table has it, the index does not.
    table.put_item(
        Item={"uid": "uid-9", "tenantId": "acme", "resourceType": "x", "resourceId": "y"}
    )


def ask(
    emu: Emulator, condition: str, values: dict[str, Any], index: str = "byCustomer"
) -> list[str]:
    page = emu.table("resources").query(
        IndexName=index, KeyConditionExpression=condition, ExpressionAttributeValues=values
    )
    return [item["uid"] for item in page["Items"]]


def main() -> None:
    emu = Emulator(clock=ManualClock())
    create(emu)
    fill(emu)
    questions = (
        ("everything of acme/north", BOTH, NORTH),
        ("its documents", f"{BOTH} AND resourceType = :k", {**NORTH, ":k": "document"}),
        (
            "one document",
            f"{BOTH} AND resourceType = :k AND resourceId = :i",
            {**NORTH, ":k": "document", ":i": "d-2"},
        ),
        (
            "types from i to p",
            f"{BOTH} AND resourceType BETWEEN :a AND :b",
            {**NORTH, ":a": "i", ":b": "q"},
        ),
        ("everything of ac/menorth", BOTH, {":t": "ac", ":c": "menorth"}),
    )
    for question, condition, values in questions:
        print(f"{question:<30}", *ask(emu, condition, values))

    for mistake, condition in (
        ("all customers of a tenant", "tenantId = :t"),
        ("customers by prefix", "tenantId = :t AND begins_with(customerId, :c)"),
    ):
        values = {":t": "acme", ":c": "n"} if ":c" in condition else {":t": "acme"}
        try:
            ask(emu, condition, values)
        except emu.client().exceptions.ClientError as error:
            print(f"{mistake:<30} {error.response['Error']['Message']}")

    rows = emu.table("resources").scan(Select="COUNT")["Count"]
    entries = emu.table("resources").scan(IndexName="byCustomer", Select="COUNT")["Count"]
    print(f"{'items without a customer':<30} {rows} in the table, {entries} in the index")

    joined = ask(emu, "joined = :j", {":j": "acmenorth"}, "byJoinedString")
    print(f"{'joined string acmenorth':<30}", *sorted(joined), "(two tenants in one answer)")


if __name__ == "__main__":
    main()
