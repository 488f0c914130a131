"""Two orders never share the last piece of stock.

The careless shop looks first and takes then; between the two, another order looks as well. The
careful one takes with a condition, in one request.
"""

from emulator import ApiError, Emulator
from emulator.strategies import create_request
from emulator.testing import every_interleaving

PIECE = {"TableName": "stock", "Key": {"sku": {"S": "lamp"}}}
TAKE = {"UpdateExpression": "SET n = n - :one", "ExpressionAttributeValues": {":one": {"N": "1"}}}


class SoldOut(Exception):
    pass


def look(emu):
    return int(emu.call("GetItem", PIECE | {"ConsistentRead": True})["Item"]["n"]["N"])


def buy_carelessly(emu):
    if look(emu) < 1:
        raise SoldOut
    emu.call("UpdateItem", PIECE | TAKE)
    return "sold"


def buy(emu):
    try:
        emu.call("UpdateItem", PIECE | TAKE | {"ConditionExpression": "n >= :one"})
    except ApiError as error:
        raise SoldOut from error
    return "sold"


def surprise(shop):
    """Return the first order of requests in which more is sold than there is."""
    emu = Emulator()
    emu.call("CreateTable", create_request("stock", "sku"))
    emu.table("stock").put_item(Item={"sku": "lamp", "n": 1})
    customers = [lambda: shop(emu)] * 2
    for run in every_interleaving(emu, *customers, expected=SoldOut):
        if look(emu) != 1 - run.results.count("sold") or look(emu) < 0:
            return f"in the order {run.schedule} {run.results.count('sold')} are sold of 1"
    return "no order of requests sells more than there is"


def main():
    print("look, then take:       ", surprise(buy_carelessly))
    print("take with a condition: ", surprise(buy))


if __name__ == "__main__":
    main()
