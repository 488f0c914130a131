"""An emulator in virtual time, and shorthand for tables and requests."""

import pytest

from emulator import ApiError, Emulator, ManualClock, Settings


class Bench:
    """An emulator that enforces capacity on a clock of its own."""

    def __init__(self, capacity="enforce", **settings):
        self.clock = ManualClock()
        self.emu = Emulator(clock=self.clock, capacity=capacity, settings=Settings(**settings))

    def table(self, name="tab", *, key=("pk",), types=None, read=None, write=None, **more):
        """Create a table; ``read``/``write`` make it provisioned."""
        types = {**dict.fromkeys(key, "S"), **(types or {})}
        for index in more.get("GlobalSecondaryIndexes", ()):
            for element in index["KeySchema"]:
                types.setdefault(element["AttributeName"], "S")
        for index in more.get("LocalSecondaryIndexes", ()):
            for element in index["KeySchema"]:
                types.setdefault(element["AttributeName"], "S")
        request = {
            "TableName": name,
            "KeySchema": schema(*key),
            "AttributeDefinitions": [
                {"AttributeName": attribute, "AttributeType": kind}
                for attribute, kind in types.items()
            ],
            **more,
        }
        if read is None:
            request["BillingMode"] = "PAY_PER_REQUEST"
        else:
            request["ProvisionedThroughput"] = units(read, write)
        return self.emu.call("CreateTable", request)

    def put(self, table="tab", **item):
        """Put an item of texts; returns its consumed capacity."""
        answer = self.emu.call(
            "PutItem",
            {
                "TableName": table,
                "Item": wire(item),
                "ReturnConsumedCapacity": "INDEXES",
            },
        )
        return answer["ConsumedCapacity"]

    def attempt(self, operation, **request):
        """Return None if a request passes, else the error."""
        try:
            self.emu.call(operation, request)
        except ApiError as error:
            return error
        return None

    def try_put(self, table="tab", **item):
        """Return None if a put passes, else the error."""
        return self.attempt("PutItem", TableName=table, Item=wire(item))


def wire(item):
    """Return an item in wire form: text S, numbers N, dictionaries as they are."""
    return {
        name: value
        if isinstance(value, dict)
        else ({"S": value} if isinstance(value, str) else {"N": str(value)})
        for name, value in item.items()
    }


def schema(*names):
    """Return a KeySchema of one or two attributes."""
    kinds = ("HASH", "RANGE")
    return [{"AttributeName": n, "KeyType": k} for n, k in zip(names, kinds, strict=False)]


def units(read, write):
    """Return a ProvisionedThroughput."""
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": write}


def gsi(name, *names, kind="ALL", include=None, read=None, write=None):
    """Return a GSI definition."""
    projection = {"ProjectionType": kind}
    if include:
        projection["NonKeyAttributes"] = include
    index = {"IndexName": name, "KeySchema": schema(*names), "Projection": projection}
    if read is not None:
        index["ProvisionedThroughput"] = units(read, write)
    return index


def lsi(name, *names, kind="ALL"):
    """Return an LSI definition."""
    return {
        "IndexName": name,
        "KeySchema": schema(*names),
        "Projection": {"ProjectionType": kind},
    }


@pytest.fixture
def bench():
    """A way to make benches."""
    return Bench


def sized(size, key="pk", value="k", pad="pad"):
    """Return an item of exactly ``size`` bytes (the T(n) of the worked examples)."""
    fixed = len(key) + len(value) + len(pad)
    return {key: value, pad: "x" * (size - fixed)}
