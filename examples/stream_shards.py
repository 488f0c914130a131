"""A consumer that reads every change of an item in order, while partitions split.

Scenario: counters are raised, and a consumer keeps a copy of them from the stream. A stream has a
shard for each partition of its table. When a partition splits, its shard ends and its children
begin: a consumer that starts with the children sees new values before old ones. The rule is to read
a shard only when its parent is read to its end.

Both consumers below read the same stream. The first takes the shards as the newest come first; its
copy ends with values that are out of date. Settings(stream_shards="one"), the default, has a single
shard as DynamoDB Local has, and hides the mistake.
"""

from typing import Any

from emulator import Emulator, ManualClock, Settings

COUNTERS = 12
ROUNDS = 10
KILOBYTES = 2


def changed(emu: Emulator) -> str:
    """Raise all counters some times; what they carry fills the partitions. Return the stream."""
    client = emu.client()
    client.create_table(
        TableName="counters",
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
    )
    table = emu.table("counters")
    for number in range(1, ROUNDS + 1):
        for counter in range(COUNTERS):
            padding = "x" * (number * KILOBYTES * 1024 // ROUNDS)
            table.put_item(Item={"id": f"c{counter}", "value": number, "padding": padding})
            emu.clock.advance(1)
    return table.latest_stream_arn


def shards(emu: Emulator, arn: str) -> list[dict[str, Any]]:
    opened: list[dict[str, Any]] = emu.client().describe_stream(StreamArn=arn)["StreamDescription"][
        "Shards"
    ]
    return opened


def parents_first(opened: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return shards in an order in which none comes before its parent."""
    ordered: list[dict[str, Any]] = []
    while len(ordered) < len(opened):
        known = {shard["ShardId"] for shard in opened} - {shard["ShardId"] for shard in ordered}
        ordered += [
            shard
            for shard in opened
            if shard["ShardId"] in known and shard.get("ParentShardId") not in known
        ]
    return ordered


def copy(emu: Emulator, arn: str, ordered: list[dict[str, Any]]) -> tuple[dict[str, int], int]:
    """Return the counters as a consumer has them, and how often one went backwards."""
    client = emu.client()
    counters: dict[str, int] = {}
    backwards = 0
    for shard in ordered:
        iterator = client.get_shard_iterator(
            StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        while iterator is not None:
            answer = client.get_records(ShardIterator=iterator, Limit=7)
            for record in answer["Records"]:
                image = record["dynamodb"]["NewImage"]
                key, value = image["id"]["S"], int(image["value"]["N"])
                backwards += value < counters.get(key, 0)
                counters[key] = value
            # An open shard always gives another iterator: without records, it is read for now.
            iterator = answer.get("NextShardIterator") if answer["Records"] else None
    return counters, backwards


def main() -> None:
    settings = Settings(stream_shards="partitions", partition_bytes=6 * 1024)
    emu = Emulator(clock=ManualClock(), settings=settings)
    arn = changed(emu)
    opened = shards(emu, arn)
    children = [shard for shard in opened if "ParentShardId" in shard]
    print(f"partitions {len(emu.partitions('counters'))}, shards {len(opened)}, ", end="")
    print(f"of which {len(children)} have a parent")
    for name, ordered in (
        ("newest first", list(reversed(opened))),
        ("parents first", parents_first(opened)),
    ):
        counters, backwards = copy(emu, arn, ordered)
        right = sum(value == ROUNDS for value in counters.values())
        print(f"{name:<14} {right:>2} of {COUNTERS} counters right, {backwards:>2} went backwards")


if __name__ == "__main__":
    main()
