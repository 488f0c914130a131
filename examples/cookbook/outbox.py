"""An order and its message to the warehouse: both are there, or neither.

The process can die between the two writes. After a restart it places the order again, sees that it
is there, and leaves it at that. With the message in the same transaction there is nothing between.
"""

from emulator import ApiError, Emulator
from emulator.strategies import create_request
from emulator.testing import every_crash

ORDER = {"TableName": "shop", "Item": {"pk": {"S": "ORDER#1"}}}
MESSAGE = {"TableName": "shop", "Item": {"pk": {"S": "OUTBOX#1"}}}
IF_NEW = {"ConditionExpression": "attribute_not_exists(pk)"}


def place_one_by_one(emu):
    try:
        emu.call("PutItem", ORDER | IF_NEW)
    except ApiError:
        return  # it was placed before
    emu.call("PutItem", MESSAGE)


def place(emu):
    puts = [{"Put": ORDER | IF_NEW}, {"Put": MESSAGE}]
    try:
        emu.call("TransactWriteItems", {"TransactItems": puts})
    except ApiError:
        return


def surprise(places):
    emu = Emulator()
    emu.call("CreateTable", create_request("shop", "pk"))
    for crash in every_crash(emu, lambda: places(emu)):
        places(emu)  # what the process does after its restart
        names = sorted(item["pk"] for item in emu.table("shop").scan()["Items"])
        if names != ["ORDER#1", "OUTBOX#1"]:
            return f"after a crash at request {crash.at} there is only {', '.join(names)}"
    return "order and message are there after every crash"


def main():
    print("one by one:      ", surprise(place_one_by_one))
    print("one transaction: ", surprise(place))


if __name__ == "__main__":
    main()
