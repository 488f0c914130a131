"""Eventually consistent reads cost half, and may show the past.

Scenario: a balance is written and read back at once. The emulator shows the past only when asked:
with ``ec_lag`` an eventually consistent read sees the table as it was so long ago, with ``gsi_lag``
a global index does. Time is virtual, so the test waits for nothing.

Strong consistency costs twice as much, and global indexes do not offer it at all.
"""

from emulator import Emulator, ManualClock, Settings

EC_LAG_SECONDS = 0.2
GSI_LAG_SECONDS = 0.5
STEP_SECONDS = 0.15


def main() -> None:
    clock = ManualClock()
    emu = Emulator(clock=clock, settings=Settings(ec_lag=EC_LAG_SECONDS, gsi_lag=GSI_LAG_SECONDS))
    emu.client().create_table(
        TableName="accounts",
        AttributeDefinitions=[
            {"AttributeName": "id", "AttributeType": "S"},
            {"AttributeName": "owner", "AttributeType": "S"},
        ],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "byOwner",
                "KeySchema": [{"AttributeName": "owner", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    table = emu.table("accounts")
    table.put_item(Item={"id": "a", "owner": "ann", "balance": 10})
    clock.advance(60)
    table.put_item(Item={"id": "a", "owner": "ann", "balance": 99})

    owner = {
        "IndexName": "byOwner",
        "KeyConditionExpression": "#owner = :ann",
        "ExpressionAttributeNames": {"#owner": "owner"},
        "ExpressionAttributeValues": {":ann": "ann"},
    }
    print(f"{'seconds later':<15}{'strong':>8}{'eventual':>10}{'index':>7}")
    for step in range(5):
        strong = table.get_item(Key={"id": "a"}, ConsistentRead=True)["Item"]["balance"]
        eventual = table.get_item(Key={"id": "a"})["Item"]["balance"]
        indexed = table.query(**owner)["Items"][0]["balance"]
        print(f"{step * STEP_SECONDS:<15.2f}{strong:>8}{eventual:>10}{indexed:>7}")
        clock.advance(STEP_SECONDS)

    for consistent in (False, True):
        answer = table.get_item(
            Key={"id": "a"}, ConsistentRead=consistent, ReturnConsumedCapacity="TOTAL"
        )
        print(f"ConsistentRead={consistent}: {answer['ConsumedCapacity']['CapacityUnits']} units")
    try:
        table.query(**owner, ConsistentRead=True)
    except emu.client().exceptions.ClientError as error:
        print(f"on the index: {error.response['Error']['Message']}")


if __name__ == "__main__":
    main()
