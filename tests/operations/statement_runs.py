"""Tables for PartiQL statements, and how a statement is run."""

from tests.tables import emulator, index, refusal, schema, table

NOT_WELL_FORMED = "Statement wasn't well formed, can't be processed: "
INVALID = "One or more parameter values were invalid: "


def with_table(**settings):
    """Return an emulator with a table of partition key only, ``tab``."""
    emu = emulator(**settings)
    emu.call("CreateTable", table(TableName="tab"))
    return emu


def with_sorted_table(**settings):
    """Return an emulator with a table of partition and sort key, ``srt``."""
    emu = emulator(**settings)
    emu.call("CreateTable", table("pk", "sk", TableName="srt"))
    return emu


def with_indexes():
    """Return an emulator with a table ``inx`` that has an index of every kind."""
    emu = emulator()
    some = {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["shown"]}
    request = table(
        "pk",
        "sk",
        "pk sk g l h1 h2",
        TableName="inx",
        GlobalSecondaryIndexes=[
            index("gsi-all", schema("g")),
            index("gsi-some", schema("g"), some),
            index("gsi-keys", schema("g"), "KEYS_ONLY"),
            index("gsi-multi", schema("h1 h2", "g")),
        ],
        LocalSecondaryIndexes=[
            index("lsi-all", schema("pk", "l")),
            index("lsi-keys", schema("pk", "l"), "KEYS_ONLY"),
        ],
    )
    emu.call("CreateTable", request)
    return emu


def put(emu, name, **attributes):
    """Put an item; plain texts need no type."""
    item = {
        key: {"S": value} if isinstance(value, str) else value for key, value in attributes.items()
    }
    emu.call("PutItem", {"TableName": name, "Item": item})


def get(emu, name, **key):
    """Return an item by its texts, or None."""
    wire = {attribute: {"S": text} for attribute, text in key.items()}
    answer = emu.call("GetItem", {"TableName": name, "Key": wire, "ConsistentRead": True})
    return answer.get("Item")


def run(emu, statement, *parameters, **members):
    """Run one statement and return the whole answer."""
    request = {"Statement": statement, **members}
    if parameters:
        request["Parameters"] = list(parameters)
    return emu.call("ExecuteStatement", request)


def rows(emu, statement, *parameters, **members):
    """Return the items that a statement answers."""
    return run(emu, statement, *parameters, **members)["Items"]


def fault(emu, statement, *parameters, **members):
    """Return the message of a ValidationException."""
    request = {"Statement": statement, **members}
    if parameters:
        request["Parameters"] = list(parameters)
    code, message = refusal(emu, "ExecuteStatement", request)
    assert code == "ValidationException", (code, message)
    return message
