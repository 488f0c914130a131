"""A transfer of money creates none and loses none: not in a race, and not in a crash.

Two requests are half a transfer for a moment, and for ever if the process dies there. One
transaction is whole; but it can meet another on the same account, and has to be tried again.
"""

from emulator import ApiError, Emulator
from emulator.strategies import create_request
from emulator.testing import every_crash, every_interleaving


def add(name, amount):
    return {
        "TableName": "accounts",
        "Key": {"pk": {"S": name}},
        "UpdateExpression": "ADD n :n",
        "ExpressionAttributeValues": {":n": {"N": str(amount)}},
    }


def transfer_in_two_steps(emu, giver, taker):
    emu.call("UpdateItem", add(giver, -10))
    emu.call("UpdateItem", add(taker, 10))


def transfer_once(emu, giver, taker):
    actions = [{"Update": add(giver, -10)}, {"Update": add(taker, 10)}]
    emu.call("TransactWriteItems", {"TransactItems": actions})


def transfer(emu, giver, taker):
    for _ in range(5):
        try:
            return transfer_once(emu, giver, taker)
        except ApiError as error:
            if "TransactionConflict" not in str(error):
                raise
    raise RuntimeError("five conflicts in a row")


def accounts():
    emu = Emulator()
    emu.call("CreateTable", create_request("accounts", "pk"))
    for name in ("ann", "bob", "eve"):
        emu.table("accounts").put_item(Item={"pk": name, "n": 100})
    return emu


def total(emu):
    return sum(item["n"] for item in emu.table("accounts").scan()["Items"])


def in_a_crash(transfers):
    emu = accounts()
    for crash in every_crash(emu, lambda: transfers(emu, "ann", "bob")):
        if total(emu) != 300:
            return f"{total(emu)} of 300 are left after a crash at request {crash.at}"
    return "300 are left after every crash"


def in_a_race(transfers):
    emu = accounts()
    calls = [lambda: transfers(emu, "ann", "bob"), lambda: transfers(emu, "bob", "eve")]
    try:
        runs = every_interleaving(emu, *calls)
        assert all(total(emu) == 300 for _ in runs)
    except ApiError as error:
        return f"one of them is told {error.code}"
    return "300 are left in every order"


def main():
    print("two requests, crash:          ", in_a_crash(transfer_in_two_steps))
    print("transaction, crash:           ", in_a_crash(transfer))
    print("transaction tried once, race: ", in_a_race(transfer_once))
    print("transaction, race:            ", in_a_race(transfer))


if __name__ == "__main__":
    main()
