"""A global index with five key attributes: matches of a tournament.

Scenario: matches lie under their own id. Pages of a tournament ask by region, then by round, then
by bracket, then by match. One index answers them all, with keys made of the attributes as they
are: partition (tournamentId, region), sort (round, bracket, matchId). No attribute holds a string
such as "WINTER2024#NA-EAST" that somebody has to build, parse and keep in step.

First come all forms of question that the service answers, then the six it refuses, each with its
own words. The order in which clauses are written is free; a gap in the order of the key is not.
"""

import re
from typing import Any

from emulator import Emulator, ManualClock

PARTITION = ("tournamentId", "region")
SORT = ("round", "bracket", "matchId")
NAMES = {"#t": "tournamentId", "#r": "region"}
MATCHES = (
    # tournamentId, region, round, bracket, matchId
    ("WINTER2024", "NA-EAST", "FINALS", "CHAMPIONSHIP", "match-001"),
    ("WINTER2024", "NA-EAST", "SEMIFINALS", "UPPER", "match-002"),
    ("WINTER2024", "NA-EAST", "SEMIFINALS", "UPPER", "match-003"),
    ("WINTER2024", "NA-EAST", "SEMIFINALS", "LOWER", "match-004"),
    ("WINTER2024", "NA-EAST", "QUARTERFINALS", "UPPER", "match-005"),
    ("WINTER2024", "NA-WEST", "FINALS", "CHAMPIONSHIP", "match-006"),
    ("SUMMER2024", "NA-EAST", "FINALS", "CHAMPIONSHIP", "match-007"),
)
VALUES = {
    ":t": "WINTER2024",
    ":r": "NA-EAST",
    ":round": "SEMIFINALS",
    ":bracket": "UPPER",
    ":match": "match-003",
    ":low": "match-001",
    ":q": "Q",
}
BOTH = "#t = :t AND #r = :r"

ANSWERED = (
    ("the whole region", BOTH),
    ("one round", f"{BOTH} AND round = :round"),
    ("one round and bracket", f"{BOTH} AND round = :round AND bracket = :bracket"),
    ("one match", f"{BOTH} AND round = :round AND bracket = :bracket AND matchId = :match"),
    ("rounds by prefix", f"{BOTH} AND begins_with(round, :q)"),
    ("rounds from Q on", f"{BOTH} AND round >= :q"),
    ("brackets below UPPER", f"{BOTH} AND round = :round AND bracket < :bracket"),
    (
        "a range of matches",
        f"{BOTH} AND round = :round AND bracket = :bracket AND matchId BETWEEN :low AND :match",
    ),
    (
        "the same, written backwards",
        "matchId BETWEEN :low AND :match AND bracket = :bracket AND round = :round "
        "AND #r = :r AND #t = :t",
    ),
)
REFUSED = (
    ("skips a sort attribute", f"{BOTH} AND round = :round AND matchId = :match"),
    ("inequality on a partition attribute", "#t = :t AND #r > :r"),
    (
        "condition after an inequality",
        f"{BOTH} AND round > :round AND bracket = :bracket",
    ),
    ("a partition attribute is missing", "#t = :t AND round = :round"),
    ("starts in the middle of the sort key", f"{BOTH} AND bracket = :bracket"),
    ("a reserved word without a name", "#t = :t AND region = :r"),
)


def create(emu: Emulator) -> None:
    emu.client().create_table(
        TableName="matches",
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": "S"} for name in PARTITION + SORT
        ],
        KeySchema=[{"AttributeName": "matchId", "KeyType": "HASH"}],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "byTournament",
                "KeySchema": [{"AttributeName": name, "KeyType": "HASH"} for name in PARTITION]
                + [{"AttributeName": name, "KeyType": "RANGE"} for name in SORT],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    for match in MATCHES:
        emu.table("matches").put_item(Item=dict(zip(PARTITION + SORT, match, strict=True)))


def ask(emu: Emulator, condition: str, **more: Any) -> dict[str, Any]:
    used = re.findall(r"[#:]\w+", condition)
    return emu.table("matches").query(
        IndexName="byTournament",
        KeyConditionExpression=condition,
        ExpressionAttributeNames={place: NAMES[place] for place in used if place in NAMES},
        ExpressionAttributeValues={place: VALUES[place] for place in used if place in VALUES},
        **more,
    )


def numbers(page: dict[str, Any]) -> str:
    return " ".join(match["matchId"].removeprefix("match-") for match in page["Items"])


def main() -> None:
    emu = Emulator(clock=ManualClock())
    create(emu)

    print("answered")
    for question, condition in ANSWERED:
        print(f"  {question:<28} {numbers(ask(emu, condition))}")
    print(f"  {'in reverse':<28} {numbers(ask(emu, BOTH, ScanIndexForward=False))}")
    page = ask(emu, BOTH, Limit=2)
    print(f"  {'two at a time':<28} {numbers(page)}, then on from")
    print(f"  {'':<28} {', '.join(sorted(page['LastEvaluatedKey']))}")

    print("refused")
    refusal = emu.client().exceptions.ClientError
    for mistake, condition in REFUSED:
        try:
            ask(emu, condition)
        except refusal as error:
            print(f"  {mistake}\n    {error.response['Error']['Message']}")


if __name__ == "__main__":
    main()
