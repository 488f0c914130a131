"""Designs that are written are read as the requests that they were."""

import json

import hypothesis.strategies as st
from hypothesis import given

from emulator.capacity import ScalingPolicy
from emulator.designs import create_table_requests, written

NAMES = st.sampled_from(["a", "b", "c", "d"])
UNITS = st.integers(min_value=1, max_value=40_000)


def throughput(first, second):
    return st.fixed_dictionaries({first: UNITS, second: UNITS})


WARM = throughput("ReadUnitsPerSecond", "WriteUnitsPerSecond")
PROVISIONED = throughput("ReadCapacityUnits", "WriteCapacityUnits")
MOST = throughput("MaxReadRequestUnits", "MaxWriteRequestUnits")
PROJECTIONS = st.one_of(
    st.sampled_from([{"ProjectionType": "ALL"}, {"ProjectionType": "KEYS_ONLY"}]),
    st.lists(NAMES, min_size=1, unique=True).map(
        lambda names: {"ProjectionType": "INCLUDE", "NonKeyAttributes": names}
    ),
)


def elements(names, kind):
    return [{"AttributeName": name, "KeyType": kind} for name in names]


@st.composite
def requests(draw):
    """Return CreateTable requests as a layout makes them."""
    provisioned = draw(st.booleans())

    def capacity():
        made = {} if draw(st.booleans()) else {"WarmThroughput": draw(WARM)}
        if provisioned:
            return made | {"ProvisionedThroughput": draw(PROVISIONED)}
        return made | ({"OnDemandThroughput": draw(MOST)} if draw(st.booleans()) else {})

    def index(number):
        keys = draw(st.permutations(["a", "b", "c", "d"]))
        split = draw(st.integers(min_value=1, max_value=3))
        schema = elements(keys[:split], "HASH") + elements(keys[split:3], "RANGE")
        own = {"IndexName": f"g{number}", "KeySchema": schema, "Projection": draw(PROJECTIONS)}
        return own | capacity()

    request = {
        "TableName": draw(st.sampled_from(["orders", "my-orders", "a.b_c"])),
        "KeySchema": elements(["a"], "HASH") + elements(["b"], "RANGE"),
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": "S"} for name in ("a", "b", "c", "d")
        ],
        "BillingMode": "PROVISIONED" if provisioned else "PAY_PER_REQUEST",
        "TableClass": draw(st.sampled_from(["STANDARD", "STANDARD_INFREQUENT_ACCESS"])),
    } | capacity()
    globals_ = [index(number) for number in range(draw(st.integers(0, 2)))]
    if globals_:
        request["GlobalSecondaryIndexes"] = globals_
    if draw(st.booleans()):
        schema = elements(["a"], "HASH") + elements(["c"], "RANGE")
        request["LocalSecondaryIndexes"] = [
            {"IndexName": "l", "KeySchema": schema, "Projection": draw(PROJECTIONS)}
        ]
    return request


SCALINGS = [
    written.Scaling("orders", None, ScalingPolicy(minimum=2, maximum=50)),
    written.Scaling("orders", "g0", ScalingPolicy()),
]


@given(request=requests())
def test_what_is_written_is_read_as_it_was(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("design")
    template = json.dumps(written.cloudformation([request], SCALINGS))
    for name, text in (
        ("main.tf", written.terraform([request], SCALINGS)),
        ("template.json", template),
    ):
        path = folder / name
        path.write_text(text)
        assert create_table_requests(path) == [request]


def test_scaling_has_a_target_and_a_policy_for_each_axis():
    template = written.cloudformation([], SCALINGS[:1])["Resources"]

    assert list(template) == [
        "OrdersReadTarget", "OrdersReadPolicy", "OrdersWriteTarget", "OrdersWritePolicy",
    ]  # fmt: skip
    assert template["OrdersReadTarget"]["Properties"]["MaxCapacity"] == 50
    text = written.terraform([], SCALINGS[1:])
    assert 'resource "aws_appautoscaling_target" "orders_g0_read"' in text
    assert 'resource_id = "table/orders/index/g0"' in text
