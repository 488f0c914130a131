"""Many to many without joins: an adjacency list and its inverted index.

Scenario: people are members of groups. Every person, every group and every membership is an item of
one table; a membership lies under the person and points to the group. The index turns the two keys
round, so that the same item also lies under the group. Both sides are one Query; a name that both
sides show is copied into the membership, which is the price of not joining.
"""

from emulator import Emulator, ManualClock

PEOPLE = {"ann": "Ann", "ben": "Ben", "eve": "Eve"}
GROUPS = {"chess": "Chess club", "choir": "Choir"}
MEMBERSHIPS = (("ann", "chess"), ("ann", "choir"), ("ben", "chess"), ("eve", "chess"))


def create(emu: Emulator) -> None:
    emu.client().create_table(
        TableName="graph",
        AttributeDefinitions=[
            {"AttributeName": "PK", "AttributeType": "S"},
            {"AttributeName": "SK", "AttributeType": "S"},
        ],
        KeySchema=[
            {"AttributeName": "PK", "KeyType": "HASH"},
            {"AttributeName": "SK", "KeyType": "RANGE"},
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "inverted",
                "KeySchema": [
                    {"AttributeName": "SK", "KeyType": "HASH"},
                    {"AttributeName": "PK", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        BillingMode="PAY_PER_REQUEST",
    )


def fill(emu: Emulator) -> None:
    with emu.table("graph").batch_writer() as batch:
        for person, name in PEOPLE.items():
            batch.put_item(Item={"PK": f"PERSON#{person}", "SK": f"PERSON#{person}", "name": name})
        for group, name in GROUPS.items():
            batch.put_item(Item={"PK": f"GROUP#{group}", "SK": f"GROUP#{group}", "name": name})
        for person, group in MEMBERSHIPS:
            batch.put_item(
                Item={
                    "PK": f"PERSON#{person}",
                    "SK": f"GROUP#{group}",
                    "person": PEOPLE[person],
                    "group": GROUPS[group],
                }
            )


def main() -> None:
    emu = Emulator(clock=ManualClock())
    create(emu)
    fill(emu)
    table = emu.table("graph")

    groups = table.query(
        KeyConditionExpression="PK = :person AND begins_with(SK, :groups)",
        ExpressionAttributeValues={":person": "PERSON#ann", ":groups": "GROUP#"},
        ReturnConsumedCapacity="TOTAL",
    )
    members = table.query(
        IndexName="inverted",
        KeyConditionExpression="SK = :group AND begins_with(PK, :people)",
        ExpressionAttributeValues={":group": "GROUP#chess", ":people": "PERSON#"},
        ReturnConsumedCapacity="TOTAL",
    )
    both = table.query(
        IndexName="inverted",
        KeyConditionExpression="SK = :group",
        ExpressionAttributeValues={":group": "GROUP#chess"},
        ReturnConsumedCapacity="TOTAL",
    )
    print(f"{'question':<28}{'read units':>11}  answer")
    for question, page, attribute in (
        ("groups of ann", groups, "group"),
        ("members of chess", members, "person"),
        ("chess and its members", both, "PK"),
    ):
        units = page["ConsumedCapacity"]["CapacityUnits"]
        print(f"{question:<28}{units:>11}  {', '.join(item[attribute] for item in page['Items'])}")

    joining = table.put_item(
        Item={"PK": "PERSON#eve", "SK": "GROUP#choir", "person": "Eve", "group": "Choir"},
        ReturnConsumedCapacity="TOTAL",
    )
    print(f"{'write units of a membership':<28}{joining['ConsumedCapacity']['CapacityUnits']:>11}")


if __name__ == "__main__":
    main()
