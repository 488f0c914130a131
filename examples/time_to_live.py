"""Items that expire, without waiting for it.

Scenario: sessions live for an hour. Time is virtual, so the test advances the clock. An expired
item is not gone at once: the service removes it some time later, and until then it is read and
billed. Settings.ttl_delay says how much later; reads filter on the time themselves.

Removal costs no units and shows in the stream as a deletion by the service, not by a user.
"""

from typing import Any

from emulator import Emulator, ManualClock, Settings

SESSIONS = 3
HOUR = 3_600
TTL_DELAY = 2 * HOUR


def create(emu: Emulator) -> None:
    client = emu.client()
    client.create_table(
        TableName="sessions",
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "OLD_IMAGE"},
    )
    client.update_time_to_live(
        TableName="sessions",
        TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"},
    )


def removals(emu: Emulator) -> list[dict[str, Any]]:
    client = emu.client()
    arn = emu.table("sessions").latest_stream_arn
    shard = client.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
    iterator = client.get_shard_iterator(
        StreamArn=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON"
    )["ShardIterator"]
    found = client.get_records(ShardIterator=iterator)["Records"]
    return [record for record in found if record["eventName"] == "REMOVE"]


def main() -> None:
    clock = ManualClock()
    emu = Emulator(clock=clock, settings=Settings(ttl_delay=TTL_DELAY))
    create(emu)
    table = emu.table("sessions")
    for number in range(SESSIONS):
        expires = int(clock.now()) + (number + 1) * HOUR
        table.put_item(Item={"id": f"s-{number}", "expires": expires})
    table.put_item(Item={"id": "text", "expires": "tomorrow"})  # no number: never expires

    written = emu.metrics.sum("ConsumedWriteCapacityUnits")
    print(f"{'hours':>5}{'stored':>8}{'still valid':>13}{'removed':>9}")
    for hour in range(7):
        stored = table.scan(Select="COUNT")["Count"]
        valid = table.scan(
            FilterExpression="expires > :now",
            ExpressionAttributeValues={":now": int(clock.now())},
            Select="COUNT",
        )["Count"]
        removed = emu.metrics.sum("TimeToLiveDeletedItemCount")
        print(f"{hour:>5}{stored:>8}{valid:>13}{removed:>9.0f}")
        clock.advance(HOUR + 60)

    cost = emu.metrics.sum("ConsumedWriteCapacityUnits") - written
    who = removals(emu)[0]["userIdentity"]
    print(f"write units of the removals: {cost:g}; done by {who['Type']} {who['PrincipalId']}")


if __name__ == "__main__":
    main()
