"""An emulator in virtual time, and shorthand for tables and requests."""

import pytest

from emulator import ApiError, Emulator, ManualClock, Settings
from tests.tables import index, schema, table


class Bench:
    """An emulator that enforces capacity on a clock of its own."""

    def __init__(self, capacity="enforce", **settings):
        self.clock = ManualClock()
        self.emu = Emulator(clock=self.clock, capacity=capacity, settings=Settings(**settings))

    def table(self, name="tab", *, key=("pk",), read=None, write=None, **more):
        """Create a table; ``read``/``write`` make it provisioned."""
        provisioned = None if read is None else (read, write)
        request = table(*key, TableName=name, provisioned=provisioned, **more)
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


def gsi(name, *names, kind="ALL", include=None, read=None, write=None):
    """Return a GSI definition."""
    units = {"ReadCapacityUnits": read, "WriteCapacityUnits": write}
    members = {} if read is None else {"ProvisionedThroughput": units}
    return index(name, schema(*names), include or kind, **members)


def lsi(name, *names, kind="ALL"):
    """Return an LSI definition."""
    return index(name, schema(*names), kind)


@pytest.fixture
def bench():
    """A way to make benches."""
    return Bench


def sized(size, key="pk", value="k", pad="pad"):
    """Return an item of exactly ``size`` bytes (the T(n) of the worked examples)."""
    fixed = len(key) + len(value) + len(pad)
    return {key: value, pad: "x" * (size - fixed)}
