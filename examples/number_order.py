"""Numbers that sort as numbers, and numbers that sort as text.

Scenario: scores of a game, listed from low to high. Keys built by hand hold the score as text, and
text is compared letter by letter: "5" comes after "1000". Padding with zeros mends that for as
long as nobody scores more digits, fractions or less than nothing. A number attribute in the key
needs none of it; in a global index it may stand anywhere among up to four sort attributes.
"""

from collections.abc import Callable
from typing import Any

from emulator import Emulator, ManualClock

SCORES = (5, 1000, 50, 500, 10, 1, -3, -30)
FORMS: dict[str, tuple[str, Callable[[int], Any]]] = {
    # sort attribute of an index: its type, and how a score is written there
    "text": ("S", str),
    "padded": ("S", lambda score: f"{score:05}"),
    "score": ("N", int),
}


def main() -> None:
    emu = Emulator(clock=ManualClock())
    types = {"player": "S", "game": "S"} | {name: kind for name, (kind, _) in FORMS.items()}
    emu.client().create_table(
        TableName="scores",
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": kind} for name, kind in types.items()
        ],
        KeySchema=[{"AttributeName": "player", "KeyType": "HASH"}],
        GlobalSecondaryIndexes=[
            {
                "IndexName": f"by-{name}",
                "KeySchema": [
                    {"AttributeName": "game", "KeyType": "HASH"},
                    {"AttributeName": name, "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
            for name in FORMS
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    table = emu.table("scores")
    for score in SCORES:
        written: dict[str, Any] = {name: write(score) for name, (_, write) in FORMS.items()}
        table.put_item(Item={"player": f"player{score}", "game": "chess", **written})

    print(f"{'key':<8}{'low to high':<56}more than 50")
    for name, (_, write) in FORMS.items():
        everyone = table.query(
            IndexName=f"by-{name}",
            KeyConditionExpression="game = :g",
            ExpressionAttributeValues={":g": "chess"},
        )
        better = table.query(
            IndexName=f"by-{name}",
            KeyConditionExpression="game = :g AND #score > :least",
            ExpressionAttributeNames={"#score": name},
            ExpressionAttributeValues={":g": "chess", ":least": write(50)},
        )
        order = " ".join(str(item[name]) for item in everyone["Items"])
        above = " ".join(str(item[name]) for item in better["Items"])
        print(f"{name:<8}{order:<56}{above}")


if __name__ == "__main__":
    main()
