"""What a transaction costs more than the same writes without one.

Scenario: a checkout writes an order, takes one piece from stock and checks that the customer may
buy. As a transaction every table arm is paid twice; index arms are not, and the check pays as a
write although it writes nothing. Told as "twice the price" it is a little less with indexes, and
more with checks.

A transaction that fails its condition is taken to cost one table arm per action, not doubled.
"""

from typing import Any

from emulator import Emulator, ManualClock

TABLES = ("orders", "stock", "customers")


def create(emu: Emulator) -> None:
    for name in TABLES:
        indexed = name == "orders"
        names = ("id", "customer") if indexed else ("id",)
        request: dict[str, Any] = {
            "TableName": name,
            "AttributeDefinitions": [
                {"AttributeName": attribute, "AttributeType": "S"} for attribute in names
            ],
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
            "BillingMode": "PAY_PER_REQUEST",
        }
        if indexed:
            request["GlobalSecondaryIndexes"] = [
                {
                    "IndexName": "byCustomer",
                    "KeySchema": [{"AttributeName": "customer", "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "KEYS_ONLY"},
                }
            ]
        emu.client().create_table(**request)
    emu.table("customers").put_item(Item={"id": "c-1", "blocked": False})
    emu.table("stock").put_item(Item={"id": "book", "left": 3})


def checkout(order: str) -> list[dict[str, Any]]:
    take = {
        "TableName": "stock",
        "Key": {"id": {"S": "book"}},
        "UpdateExpression": "SET #left = #left - :one",
        "ConditionExpression": "#left >= :one",
        "ExpressionAttributeNames": {"#left": "left"},
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    allowed = {
        "TableName": "customers",
        "Key": {"id": {"S": "c-1"}},
        "ConditionExpression": "blocked = :no",
        "ExpressionAttributeValues": {":no": {"BOOL": False}},
    }
    item = {"id": {"S": order}, "customer": {"S": "c-1"}}
    return [
        {"Put": {"TableName": "orders", "Item": item}},
        {"Update": take},
        {"ConditionCheck": allowed},
    ]


def main() -> None:
    emu = Emulator(clock=ManualClock())
    create(emu)
    client = emu.client()
    cost = {"ReturnConsumedCapacity": "TOTAL"}
    put, take, check = (next(iter(action.values())) for action in checkout("order-1"))

    print(f"{'action':<26}{'alone':>7}{'in a transaction':>18}")
    alone = {
        "orders": client.put_item(**put, **cost),
        "stock": client.update_item(**take, **cost),
        "customers": client.get_item(
            TableName="customers", Key=check["Key"], ConsistentRead=True, **cost
        ),
    }
    answer = client.transact_write_items(TransactItems=checkout("order-2"), **cost)
    together = {arm["TableName"]: arm["CapacityUnits"] for arm in answer["ConsumedCapacity"]}
    actions = ("put, one index", "update", "check (alone: strong read)")
    for action, table in zip(actions, TABLES, strict=True):
        units = alone[table]["ConsumedCapacity"]["CapacityUnits"]
        print(f"{action:<26}{units:>7}{together[table]:>18}")

    client.transact_write_items(TransactItems=checkout("order-3"))
    before = emu.metrics.sum("ConsumedWriteCapacityUnits")
    try:
        client.transact_write_items(TransactItems=checkout("order-4"))
    except client.exceptions.TransactionCanceledException as error:
        print(error.response["Error"]["Message"])
    paid = emu.metrics.sum("ConsumedWriteCapacityUnits") - before
    print(f"sold out: {paid} units all the same (assumed: AWS does not say, rule CAP-308)")


if __name__ == "__main__":
    main()
