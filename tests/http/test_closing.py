"""What a server says when it ends."""

from emulator import Emulator, ManualClock
from emulator.http.closing import NOTHING_COUNTED, closing_lines
from emulator.service.errors import ApiError

TABLE = {
    "TableName": "orders",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
}
ONE_UNIT = {"ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}}
PUT = {"TableName": "orders", "Item": {"pk": {"S": "a"}}}


def ran(capacity, throughput, puts=3):
    emulator = Emulator(clock=ManualClock(), capacity=capacity)
    emulator.call("CreateTable", TABLE | throughput, access_key="local")
    for _ in range(puts):
        try:
            emulator.call("PutItem", PUT, access_key="local")
        except ApiError:
            continue
    return emulator


def test_what_would_have_throttled_is_said_with_its_reason_and_the_cost():
    assert list(closing_lines(ran("observe", ONE_UNIT))) == [
        "consumed 0 read and 1 write units: $0.000065",
        "would have throttled:",
        "  2 writes of orders in local/us-east-1: provisioned capacity is used up "
        "(TableWriteProvisionedThroughputExceeded)",
    ]


def test_what_throttled_is_not_consumed():
    lines = list(closing_lines(ran("enforce", ONE_UNIT)))
    assert lines[:2] == ["consumed 0 read and 1 write units: $0.000065", "throttled:"]


def test_on_demand_units_are_paid_and_a_deleted_table_is_not_forgotten():
    emulator = ran("observe", {"BillingMode": "PAY_PER_REQUEST"}, puts=8)
    emulator.call("CreateTable", TABLE | ONE_UNIT | {"TableName": "kept"}, access_key="local")
    emulator.call("DeleteTable", {"TableName": "orders"}, access_key="local")
    assert list(closing_lines(emulator)) == [
        "consumed 0 read and 8 write units: $0.000005",
        "nothing would throttle",
    ]


def test_nothing_is_said_of_nothing_and_off_counts_nothing():
    assert list(closing_lines(ran("observe", ONE_UNIT, puts=0))) == []
    assert list(closing_lines(ran("off", ONE_UNIT))) == [NOTHING_COUNTED]
