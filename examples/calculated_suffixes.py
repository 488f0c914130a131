"""Calculated suffixes: more keys for one hot thing, and what reading them back costs.

Scenario: the feed of a star gets 300 posts of 10 KB a second, 3,000 write units, in a table with
5,000 provisioned. Under one key a third passes. The suffix is calculated from the post's id, so
that a single post can still be read with one GetItem; reading the feed asks every suffix.

Three suffixes would be enough if each had a partition of its own. They have not: the hash decides,
and suffixes share partitions. Told: twice the needed number of keys will do. By the hash it need
not: six still collide here, twenty do not, and every one of them is one more Query for the feed.
"""

import zlib

from emulator import Emulator, ManualClock

POSTS_PER_SECOND = 300
POST_BYTES = 10_000
SECONDS = 10
PROVISIONED = 5_000
SUFFIXES = (1, 3, 6, 20)
NEWEST = 10


def suffix_of(post: str, suffixes: int) -> int:
    return zlib.crc32(post.encode()) % suffixes


def main() -> None:
    clock = ManualClock()
    emu = Emulator(clock=clock, capacity="enforce")
    client = emu.client()
    body = {"body": {"S": "x" * POST_BYTES}}
    offered = SECONDS * POSTS_PER_SECOND
    print(
        f"{'suffixes':>8}{'accepted':>10}{'':>6}{'partitions':>12}{'queries':>9}{'read units':>12}"
    )
    for suffixes in SUFFIXES:
        table = f"feed-{suffixes}"
        client.create_table(
            TableName=table,
            AttributeDefinitions=[
                {"AttributeName": "feed", "AttributeType": "S"},
                {"AttributeName": "post", "AttributeType": "S"},
            ],
            KeySchema=[
                {"AttributeName": "feed", "KeyType": "HASH"},
                {"AttributeName": "post", "KeyType": "RANGE"},
            ],
            ProvisionedThroughput={"ReadCapacityUnits": 1_000, "WriteCapacityUnits": PROVISIONED},
        )
        accepted = 0
        for number in range(offered):
            post = f"{number:06}"
            feed = {"S": f"star#{suffix_of(post, suffixes)}"}
            try:
                client.put_item(TableName=table, Item={"feed": feed, "post": {"S": post}, **body})
                accepted += 1
            except client.exceptions.ProvisionedThroughputExceededException:
                pass
            if (number + 1) % POSTS_PER_SECOND == 0:
                clock.advance(1)
        clock.advance(60)
        used = sum(part.items > 0 for part in emu.partitions(table))
        units = 0.0
        for suffix in range(suffixes):
            page = client.query(
                TableName=table,
                KeyConditionExpression="feed = :feed",
                ExpressionAttributeValues={":feed": {"S": f"star#{suffix}"}},
                ScanIndexForward=False,
                Limit=NEWEST,
                ReturnConsumedCapacity="TOTAL",
            )
            units += page["ConsumedCapacity"]["CapacityUnits"]
        share = accepted / offered
        print(f"{suffixes:>8}{accepted:>10,}{share:>6.0%}{used:>12}{suffixes:>9}{units:>12}")
    print(f"read units: the newest {NEWEST} posts, which any of the suffixes may hold")


if __name__ == "__main__":
    main()
