"""What a stream shows: four view types, three kinds of change.

Scenario: an order is placed, paid and deleted. The same changes are written to four tables, one for
each view type, and read from their streams. A consumer that counts new orders looks at eventName
and skips MODIFY and REMOVE.

A view type cannot be changed: a stream is switched off and a new one, with a new name, switched on.
"""

from typing import Any

from emulator import Emulator, ManualClock

VIEWS = ("KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES")


def create(emu: Emulator, view: str) -> None:
    emu.client().create_table(
        TableName=view,
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": view},
    )


def change(emu: Emulator, name: str) -> None:
    table = emu.table(name)
    table.put_item(Item={"id": "o-1", "state": "placed"})
    table.update_item(
        Key={"id": "o-1"},
        UpdateExpression="SET #state = :state",
        ExpressionAttributeNames={"#state": "state"},
        ExpressionAttributeValues={":state": "paid"},
    )
    table.put_item(Item={"id": "o-1", "state": "paid"})  # nothing changes: no record
    table.delete_item(Key={"id": "o-1"})


def records(emu: Emulator, name: str) -> list[dict[str, Any]]:
    """Read a stream from its beginning, as a consumer does."""
    client = emu.client()
    arn = emu.table(name).latest_stream_arn
    found: list[dict[str, Any]] = []
    for shard in client.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]:
        iterator = client.get_shard_iterator(
            StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        found += client.get_records(ShardIterator=iterator)["Records"]
    return found


def shown(image: dict[str, Any] | None) -> str:
    return "-" if image is None else image["state"]["S"]


def main() -> None:
    emu = Emulator(clock=ManualClock())
    print(f"{'view type':<20}{'event':<8}{'key':<6}{'old':<8}new")
    for view in VIEWS:
        create(emu, view)
        change(emu, view)
        for record in records(emu, view):
            data = record["dynamodb"]
            images = f"{shown(data.get('OldImage')):<8}{shown(data.get('NewImage'))}"
            print(f"{view:<20}{record['eventName']:<8}{data['Keys']['id']['S']:<6}{images}")
    inserts = [r for r in records(emu, "NEW_IMAGE") if r["eventName"] == "INSERT"]
    print(f"new orders: {len(inserts)}")

    client = emu.client()
    old = emu.table("KEYS_ONLY").latest_stream_arn
    enabled = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    try:
        client.update_table(TableName="KEYS_ONLY", StreamSpecification=enabled)
    except client.exceptions.ClientError as error:
        print(f"another view type: {error.response['Error']['Message']}")
    client.update_table(TableName="KEYS_ONLY", StreamSpecification={"StreamEnabled": False})
    client.update_table(TableName="KEYS_ONLY", StreamSpecification=enabled)
    new = emu.table("KEYS_ONLY").latest_stream_arn
    print(f"switched off and on: {'the same stream' if new == old else 'another stream'}")


if __name__ == "__main__":
    main()
