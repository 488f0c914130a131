"""How a refusal is said: type, reasons and sentence by mode and cause."""

import pytest

from emulator.capacity import Reason, batch_write_error, cancellation, throttle_error

TABLE = "arn:aws:dynamodb:us-east-1:000000000000:table/t"
INDEX = TABLE + "/index/i"

PROVISIONED_TABLE = (
    "The level of configured provisioned throughput for the table was exceeded. "
    "Consider increasing your provisioning level with the UpdateTable API."
)
PROVISIONED_INDEX = (
    "The level of configured provisioned throughput for one or more global secondary indexes of "
    "the table was exceeded. Consider increasing your provisioning level for the under-provisioned "
    "global secondary indexes with the UpdateTable API."
)
ON_DEMAND_TABLE = (
    "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically "
    "scaling your table or index so please try again shortly. If exceptions persist, check if you "
    "have a hot key: "
    "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"
)
ON_DEMAND_INDEX = (
    "Throughput exceeds the current capacity for one or more global secondary indexes. DynamoDB is "
    "automatically scaling your index so please try again shortly."
)
MAXIMUM = "Throughput exceeds the maximum OnDemandThroughput configured on table or index"
ACCOUNT = (
    "Throughput exceeds the current throughput limit for your account. Please contact AWS Support "
    "at https://aws.amazon.com/support request a limit increase"
)

PROVISIONED = "ProvisionedThroughputExceededException"
THROTTLING = "ThrottlingException"
LIMIT = "RequestLimitExceeded"


def why(*names):
    return [Reason(name, INDEX if name.startswith("Index") else TABLE) for name in names]


@pytest.mark.parametrize(
    ("names", "on_demand", "code", "message"),
    [
        (["TableWriteProvisionedThroughputExceeded"], False, PROVISIONED, PROVISIONED_TABLE),
        (["TableReadKeyRangeThroughputExceeded"], False, PROVISIONED, PROVISIONED_TABLE),
        (["IndexWriteProvisionedThroughputExceeded"], False, PROVISIONED, PROVISIONED_INDEX),
        (["IndexReadKeyRangeThroughputExceeded"], False, PROVISIONED, PROVISIONED_INDEX),
        (["TableWriteKeyRangeThroughputExceeded"], True, THROTTLING, ON_DEMAND_TABLE),
        (["IndexWriteKeyRangeThroughputExceeded"], True, THROTTLING, ON_DEMAND_INDEX),
        (["TableReadMaxOnDemandThroughputExceeded"], True, THROTTLING, MAXIMUM),
        (["IndexReadMaxOnDemandThroughputExceeded"], True, THROTTLING, MAXIMUM),
        (["TableReadAccountLimitExceeded"], True, LIMIT, ACCOUNT),
        (
            ["TableWriteMaxOnDemandThroughputExceeded", "TableWriteAccountLimitExceeded"],
            True,
            LIMIT,
            ACCOUNT,
        ),
    ],
)
def test_the_error_by_mode_and_cause(names, on_demand, code, message):
    """CAP-702, CAP-703, CAP-705, ERR-TYPE-16 to ERR-TYPE-18."""
    error = throttle_error(why(*names), on_demand=on_demand)
    listed = [{"reason": r.reason, "resource": r.resource} for r in why(*names)]
    member = "throttlingReasons" if code == THROTTLING else "ThrottlingReasons"
    namespace = (
        "com.amazon.coral.availability"
        if code == THROTTLING
        else "com.amazonaws.dynamodb.v20120810"
    )
    assert error.status == 400
    assert error.body() == {"__type": f"{namespace}#{code}", "message": message, member: listed}


@pytest.mark.parametrize(
    ("names", "code", "message"),
    [
        (["TableWriteProvisionedThroughputExceeded"], PROVISIONED, PROVISIONED_TABLE),
        (
            ["TableWriteKeyRangeThroughputExceeded", "TableWriteProvisionedThroughputExceeded"],
            PROVISIONED,
            PROVISIONED_TABLE,
        ),
        (["TableWriteKeyRangeThroughputExceeded"] * 3, THROTTLING, ON_DEMAND_TABLE),
        (["TableWriteAccountLimitExceeded"], LIMIT, ACCOUNT),
    ],
)
def test_the_error_of_a_batch_write_goes_by_cause(names, code, message):
    """CAP-610: in either mode, each reason once."""
    error = batch_write_error(why(*names))
    assert (error.code, error.message) == (code, message)
    (listed,) = error.members.values()
    assert [entry["reason"] for entry in listed] == list(dict.fromkeys(names))


@pytest.mark.parametrize(
    ("name", "on_demand", "expected"),
    [
        (
            "TableWriteProvisionedThroughputExceeded",
            False,
            ("ProvisionedThroughputExceeded", PROVISIONED_TABLE),
        ),
        (
            "IndexWriteProvisionedThroughputExceeded",
            False,
            ("ProvisionedThroughputExceeded", PROVISIONED_INDEX),
        ),
        ("TableWriteKeyRangeThroughputExceeded", True, ("ThrottlingError", ON_DEMAND_TABLE)),
        ("TableReadAccountLimitExceeded", True, ("ThrottlingError", ACCOUNT)),
    ],
)
def test_the_cancellation_reason(name, on_demand, expected):
    """CAP-706, EX-52."""
    assert cancellation(why(name), on_demand=on_demand) == expected
