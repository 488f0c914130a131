"""An e-mail address belongs to one user: two items, written together.

A user is an item under its id, and its address an item of its own, so that a condition can keep it
unique. Written one after the other, a user who loses the race stays behind without an address.
"""

from emulator import ApiError, Emulator
from emulator.strategies import create_request
from emulator.testing import every_interleaving

ADDRESS = "ann@example.com"
NEW = {"TableName": "users", "ConditionExpression": "attribute_not_exists(pk)"}


class Taken(Exception):
    pass


def item(name):
    return {"Item": {"pk": {"S": name}}}


def register_in_two_steps(emu, user):
    emu.call("PutItem", NEW | item(f"USER#{user}"))
    try:
        emu.call("PutItem", NEW | item(f"EMAIL#{ADDRESS}"))
    except ApiError as error:
        raise Taken from error


def register(emu, user):
    puts = [{"Put": NEW | item(name)} for name in (f"USER#{user}", f"EMAIL#{ADDRESS}")]
    for _ in range(5):
        try:
            emu.call("TransactWriteItems", {"TransactItems": puts})
        except ApiError as error:
            if "ConditionalCheckFailed" in str(error):
                raise Taken from error
        else:
            return
    raise RuntimeError("five conflicts in a row")


def surprise(registers):
    emu = Emulator()
    emu.call("CreateTable", create_request("users", "pk"))
    calls = [lambda user=user: registers(emu, user) for user in (1, 2)]
    for run in every_interleaving(emu, *calls, expected=Taken):
        names = sorted(item["pk"] for item in emu.table("users").scan()["Items"])
        if len(names) != 2:
            return f"in the order {run.schedule} there are {', '.join(names)}"
    return "one user and one address in every order of requests"


def main():
    print("two requests:    ", surprise(register_in_two_steps))
    print("one transaction: ", surprise(register))


if __name__ == "__main__":
    main()
