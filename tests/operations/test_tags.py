"""TagResource, UntagResource and ListTagsOfResource."""

import pytest

from emulator import Emulator
from tests.tables import ARN, INVALID, described, emulator, refusal, table

STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
ONE = [{"Key": "k", "Value": "v"}]


def created(**members):
    emu = emulator()
    emu.call("CreateTable", table(**members))
    return emu


def tag(emu, arn=ARN, **tags):
    written = [{"Key": key, "Value": value} for key, value in tags.items()]
    return emu.call("TagResource", {"ResourceArn": arn, "Tags": written})


def tags_of(emu, arn=ARN):
    found = emu.call("ListTagsOfResource", {"ResourceArn": arn})["Tags"]
    return {one["Key"]: one["Value"] for one in found}


def test_tags_are_added_replaced_and_removed():
    """TAG-1, WIR-17: unknown keys are passed over."""
    emu = created(Tags=ONE)
    assert tag(emu, k="w", more="") == {}
    assert tags_of(emu) == {"k": "w", "more": ""}
    request = {"ResourceArn": ARN, "TagKeys": ["k", "none"]}
    assert emu.call("UntagResource", request) == {}
    assert tags_of(emu) == {"more": ""}


def test_a_table_may_begin_with_no_tags():
    """CT-11."""
    assert tags_of(created(Tags=[])) == {}


def test_tags_come_all_at_once():
    """TAG-1."""
    tags = [{"Key": f"{n:02}", "Value": ""} for n in range(50)]
    emu = created(Tags=tags)
    assert emu.call("ListTagsOfResource", {"ResourceArn": ARN}) == {"Tags": tags}


def test_a_token_of_another_make_is_refused():
    request = {"ResourceArn": ARN, "NextToken": "not ours"}
    assert refusal(created(), "ListTagsOfResource", request) == (
        "ValidationException",
        "Invalid NextToken provided",
    )


def test_a_stream_has_tags_of_its_own():
    """ERR-OTH-5: tables and streams are accepted."""
    emu = created(StreamSpecification=STREAM, Tags=ONE)
    stream = described(emu)["LatestStreamArn"]
    tag(emu, stream, s="t")
    assert (tags_of(emu), tags_of(emu, stream)) == ({"k": "v"}, {"s": "t"})


INVALID_VALUE = "The Tag Value provided is invalid, Value: {}"
BY_TAGS = {
    "reserved": (
        [{"Key": "aws:x", "Value": ""}],
        "Tag Key cannot be prefixed with aws:, Key: aws:x",
    ),
    "no key": ([{"Value": ""}], "The Tag Key provided is invalid, Key: null"),
    "empty key": ([{"Key": "", "Value": ""}], "The Tag Key provided is invalid, Key: "),
    "long key": (
        [{"Key": "k" * 129, "Value": ""}],
        f"The Tag Key provided is invalid, Key: {'k' * 129}",
    ),
    "odd key": ([{"Key": "k;", "Value": ""}], "The Tag Key provided is invalid, Key: k;"),
    "no value": ([{"Key": "k"}], INVALID_VALUE.format("null")),
    "long value": ([{"Key": "k", "Value": "v" * 257}], INVALID_VALUE.format("v" * 257)),
    "twice": (
        [*ONE, *ONE],
        "Duplicate Tag Keys provided as input: Duplicate Tag Key found k",
    ),
    "none": ([], "Atleast one Tag needs to be provided as Input."),
    "absent": (None, "Atleast one Tag needs to be provided as Input."),
}


@pytest.mark.parametrize("case", BY_TAGS)
def test_tags_that_are_none_are_refused(case):
    """TAG-2, TAG-3, ERR-OTH-5."""
    tags, message = BY_TAGS[case]
    emu = created()
    request = {"ResourceArn": ARN, "Tags": tags}
    assert refusal(emu, "TagResource", request) == ("ValidationException", message)
    assert tags_of(emu) == {}


def test_the_longest_tags_pass():
    """TAG-2: letters of any script, white space and + - = . _ : / @."""
    emu = created()
    key, value = "ключ + - = . _ : / @".ljust(128, "k"), "v" * 256
    emu.call("TagResource", {"ResourceArn": ARN, "Tags": [{"Key": key, "Value": value}]})
    assert tags_of(emu) == {key: value}


def test_a_table_has_fifty_tags_at_the_most():
    """TAG-2: counted together with those it has."""
    emu = created(Tags=[{"Key": f"{n:02}", "Value": ""} for n in range(50)])
    tag(emu, **{"00": "replaced"})
    request = {"ResourceArn": ARN, "Tags": ONE}
    assert refusal(emu, "TagResource", request) == (
        "ValidationException",
        "Number of Tags exceed the current limit for the provided ResourceArn",
    )


def test_keys_to_remove_must_be_given():
    """TAG-3."""
    request = {"ResourceArn": ARN, "TagKeys": []}
    assert refusal(created(), "UntagResource", request) == (
        "ValidationException",
        "Atleast one Tag Key needs to be provided as Input.",
    )


def arn(region="us-east-1", account="000000000000", resource="table/tab", service="dynamodb"):
    return f"arn:aws:{service}:{region}:{account}:{resource}"


WRONG_KIND = (
    INVALID + "Invalid resource arn provided, only table or stream is accepted. Provided resource "
    "arn: {}"
)
BY_ARN = {
    "no ARN": ("tab", INVALID + "ARNs must start with 'arn:': tab"),
    "another service": (
        arn(service="s3"),
        INVALID + f"Provided Arn is not a DynamoDB resource arn: {arn(service='s3')}",
    ),
    "too short": ("arn:aws", INVALID + "Provided Arn is not a DynamoDB resource arn: arn:aws"),
    "an index": (
        arn(resource="table/tab/index/gsi"),
        WRONG_KIND.format(arn(resource="table/tab/index/gsi")),
    ),
    "another region": (
        arn(region="eu-west-1"),
        f"Invalid TableArn: Invalid ResourceArn provided as input {arn(region='eu-west-1')}",
    ),
}
OPERATIONS = {
    "TagResource": {"Tags": ONE},
    "UntagResource": {"TagKeys": ["k"]},
    "ListTagsOfResource": {},
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("case", BY_ARN)
def test_an_arn_of_something_else_is_refused(case, operation):
    """TAG-3, ERR-OTH-5."""
    resource, message = BY_ARN[case]
    request = {"ResourceArn": resource, **OPERATIONS[operation]}
    assert refusal(created(), operation, request) == ("ValidationException", message)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("resource", ["table/none", "table/tab/stream/2026-01-01T00:00:00.000"])
def test_an_unknown_resource_is_named(resource, operation):
    """TAG-3; the spelling is the service's own."""
    unknown = arn(resource=resource)
    request = {"ResourceArn": unknown, **OPERATIONS[operation]}
    assert refusal(created(), operation, request) == (
        "ResourceNotFoundException",
        f"Requested resource not found: ResourcArn: {unknown} not found",
    )


def test_a_table_of_another_account_is_not_ours_to_see():
    """TAG-3. Observed: tags/basic.test.ts, "non-existent ARN", 2026."""
    emu = Emulator(account_id="123456789012")
    code, _ = refusal(emu, "ListTagsOfResource", {"ResourceArn": arn()})
    assert code == "AccessDeniedException"


def test_a_missing_list_comes_before_a_bad_arn():
    """ERR-OTH-5."""
    message = "Atleast one Tag needs to be provided as Input."
    assert refusal(created(), "TagResource", {"ResourceArn": "tab"})[1] == message


def test_an_arn_is_required():
    """ERR-SHAPE-1."""
    assert refusal(created(), "TagResource", {"Tags": ONE})[1] == (
        "1 validation error detected: Value null at 'resourceArn' failed to satisfy constraint: "
        "Member must not be null"
    )
