"""Tables in few words."""

import pytest

from emulator import Emulator
from emulator.testing.table_notation import create_request


def key(*names):
    kinds = {"h": "HASH", "r": "RANGE"}
    return [{"AttributeName": name[2:], "KeyType": kinds[name[0]]} for name in names]


def test_a_table_with_everything():
    throughput = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}
    request = create_request(
        "orders",
        "customer",
        "created:N",
        indexes={
            "by_status": "status",
            "by_place": (("country", "city"), ("created", "id:B")),
            "small": {
                "KeySchema": key("h:status"),
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            },
        },
        local_indexes={"by_total": "total:N"},
        provisioned=(5, 6),
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
    )
    everything = {"ProjectionType": "ALL"}
    assert request == {
        "TableName": "orders",
        "KeySchema": key("h:customer", "r:created"),
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": kind}
            for name, kind in [
                ("customer", "S"),
                ("created", "N"),
                ("status", "S"),
                ("country", "S"),
                ("city", "S"),
                ("id", "B"),
                ("total", "N"),
            ]
        ],
        "BillingMode": "PROVISIONED",
        "ProvisionedThroughput": throughput,
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "by_status",
                "KeySchema": key("h:status"),
                "Projection": everything,
                "ProvisionedThroughput": throughput,
            },
            {
                "IndexName": "by_place",
                "KeySchema": key("h:country", "h:city", "r:created", "r:id"),
                "Projection": everything,
                "ProvisionedThroughput": throughput,
            },
            {
                "IndexName": "small",
                "KeySchema": key("h:status"),
                "Projection": {"ProjectionType": "KEYS_ONLY"},
                "ProvisionedThroughput": throughput,
            },
        ],
        "LocalSecondaryIndexes": [
            {
                "IndexName": "by_total",
                "KeySchema": key("h:customer", "r:total"),
                "Projection": everything,
            }
        ],
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
    }
    Emulator().call("CreateTable", request)


def test_a_name_may_have_a_colon_before_its_type():
    request = create_request("orders", "a:b:N")
    assert request["AttributeDefinitions"] == [{"AttributeName": "a:b", "AttributeType": "N"}]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (("pk:X",), "'pk:X': the type of a key attribute is one of S, N, B, not 'X'"),
        (("a:N", "a:S"), "'a' is declared as N and as S"),
    ],
)
def test_types_that_are_none_or_two_are_refused(keys, message):
    with pytest.raises(ValueError, match=message):
        create_request("orders", *keys)


def test_a_member_that_createtable_does_not_know_is_refused():
    with pytest.raises(TypeError, match="there is no argument 'index': there are indexes, local_"):
        create_request("orders", index={"by_status": "status"})
