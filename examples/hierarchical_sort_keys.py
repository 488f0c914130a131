"""A hierarchy in the sort key: one Query at every level.

Scenario: what a player owns is filed as category::slot::item. begins_with reads any subtree, and
costs what it returns, because the order of strings keeps a subtree together. The separator must be
part of the prefix: "inventory::arm" also finds "inventory::arms".
"""

from emulator import Emulator, ManualClock

PLAYER = "account-1234"
OWNED = (
    "bank::gold",
    "inventory::armor::head::item-101",
    "inventory::armor::head::item-102",
    "inventory::armor::chest::item-201",
    "inventory::arms::item-301",
    "inventory::weapons::sword::item-401",
    "inventory::weapons::bow::item-402",
    "profile",
)
QUESTIONS = (
    "",
    "inventory::",
    "inventory::arm",
    "inventory::armor::",
    "inventory::armor::head::",
    "inventory::armor::head::item-102",
)


def main() -> None:
    emu = Emulator(clock=ManualClock())
    emu.client().create_table(
        TableName="players",
        AttributeDefinitions=[
            {"AttributeName": "account", "AttributeType": "S"},
            {"AttributeName": "path", "AttributeType": "S"},
        ],
        KeySchema=[
            {"AttributeName": "account", "KeyType": "HASH"},
            {"AttributeName": "path", "KeyType": "RANGE"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    table = emu.table("players")
    for path in OWNED:
        table.put_item(Item={"account": PLAYER, "path": path, "details": "x" * 3_000})

    print(f"{'begins_with':<36}{'items':>6}{'read units':>12}")
    for prefix in QUESTIONS:
        condition, values = "account = :account", {":account": PLAYER}
        names = {}
        if prefix:
            condition += " AND begins_with(#path, :prefix)"
            values[":prefix"] = prefix
            names = {"ExpressionAttributeNames": {"#path": "path"}}
        page = table.query(
            KeyConditionExpression=condition,
            ExpressionAttributeValues=values,
            ReturnConsumedCapacity="TOTAL",
            **names,
        )
        units = page["ConsumedCapacity"]["CapacityUnits"]
        print(f"{prefix or '(everything)':<36}{page['Count']:>6}{units:>12}")


if __name__ == "__main__":
    main()
