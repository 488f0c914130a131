"""A global index for sellers: orders by region and day, and what its order costs.

Scenario: a seller's page asks for the orders of a day, of a span of days, or of one category on a
day. The index key is partition (sellerId, region), sort (orderDate, category, orderId).

"One category over a span of days" puts an equality after a range, which the key cannot express.
A filter cannot help either: it may not name a key attribute. Two ways remain, and the table shows
the price of each: read the span and sort it out at home, or pay with every write for a second
index whose sort key begins with the category.
"""

import random
from datetime import date, timedelta
from typing import Any

from emulator import Emulator, ManualClock

SEED = 7
SELLER, REGION = "seller-1", "eu"
FIRST_DAY = date(2024, 3, 1)
DAYS = 90
ORDERS_PER_DAY = 8
CATEGORIES = ("books", "garden", "music", "toys")
BY_DATE = ("orderDate", "category", "orderId")
BY_CATEGORY = ("category", "orderDate", "orderId")
BOTH = "sellerId = :s AND #region = :r"
SPAN = {":from": "2024-04-01", ":to": "2024-04-30"}


def index(name: str, sort: tuple[str, ...]) -> dict[str, Any]:
    return {
        "IndexName": name,
        "KeySchema": [{"AttributeName": key, "KeyType": "HASH"} for key in ("sellerId", "region")]
        + [{"AttributeName": key, "KeyType": "RANGE"} for key in sort],
        "Projection": {"ProjectionType": "ALL"},
    }


def create(emu: Emulator, table: str, *indexes: dict[str, Any]) -> None:
    names = ("orderId", "sellerId", "region", "orderDate", "category")
    emu.client().create_table(
        TableName=table,
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in names],
        KeySchema=[{"AttributeName": "orderId", "KeyType": "HASH"}],
        GlobalSecondaryIndexes=list(indexes),
        BillingMode="PAY_PER_REQUEST",
    )


def fill(emu: Emulator, table: str) -> float:
    """Write the orders, and return the write units of one."""
    dice = random.Random(SEED)
    units = 0.0
    for number in range(DAYS * ORDERS_PER_DAY):
        day = FIRST_DAY + timedelta(days=number // ORDERS_PER_DAY)
        answer = emu.table(table).put_item(
            Item={
                "orderId": f"order-{number:05}",
                "sellerId": SELLER,
                "region": REGION,
                "orderDate": day.isoformat(),
                "category": dice.choice(CATEGORIES),
                "lines": "x" * 300,
            },
            ReturnConsumedCapacity="TOTAL",
        )
        units = answer["ConsumedCapacity"]["CapacityUnits"]
    return units


def ask(
    emu: Emulator, table: str, name: str, condition: str, values: dict[str, Any], **more: Any
) -> dict[str, Any]:
    return emu.table(table).query(
        IndexName=name,
        KeyConditionExpression=f"{BOTH} AND {condition}",
        ExpressionAttributeNames={"#region": "region"},
        ExpressionAttributeValues={":s": SELLER, ":r": REGION, **values},
        ReturnConsumedCapacity="TOTAL",
        **more,
    )


def show(question: str, page: dict[str, Any]) -> None:
    units = page["ConsumedCapacity"]["CapacityUnits"]
    print(f"{question:<34}{page['Count']:>7}{page['ScannedCount']:>6}{units:>12}")


def main() -> None:
    emu = Emulator(clock=ManualClock())
    create(emu, "one-index", index("byDate", BY_DATE))
    create(emu, "two-indexes", index("byDate", BY_DATE), index("byCategory", BY_CATEGORY))
    one, two = fill(emu, "one-index"), fill(emu, "two-indexes")

    day = {":d": "2024-04-09"}
    print(f"{'question':<34}{'orders':>7}{'read':>6}{'read units':>12}")
    show("a day", ask(emu, "one-index", "byDate", "orderDate = :d", day))
    show(
        "a day's music",
        ask(emu, "one-index", "byDate", "orderDate = :d AND category = :c", {**day, ":c": "music"}),
    )
    show("April", ask(emu, "one-index", "byDate", "orderDate BETWEEN :from AND :to", SPAN))

    music = {**SPAN, ":c": "music"}
    question = "orderDate BETWEEN :from AND :to AND category = :c"
    try:
        ask(emu, "one-index", "byDate", question, music)
    except emu.client().exceptions.ClientError as error:
        print(f"April's music: {error.response['Error']['Message']}")
    try:
        ask(
            emu,
            "one-index",
            "byDate",
            "orderDate BETWEEN :from AND :to",
            music,
            FilterExpression="category = :c",
        )
    except emu.client().exceptions.ClientError as error:
        print(f"April, filtered by category: {error.response['Error']['Message']}")
    page = ask(emu, "one-index", "byDate", "orderDate BETWEEN :from AND :to", SPAN)
    page["Count"] = sum(order["category"] == "music" for order in page["Items"])
    show("April's music, sorted out at home", page)
    question = "category = :c AND orderDate BETWEEN :from AND :to"
    show("April's music, by a second index", ask(emu, "two-indexes", "byCategory", question, music))
    print(f"write units of an order: {one} with one index, {two} with two")


if __name__ == "__main__":
    main()
