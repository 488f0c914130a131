"""Policies applied to callers: two of them meet at one table (OTH-22)."""

import json

import pytest

from emulator import ApiError, Emulator, ManualClock, Settings
from tests.tables import ARN, table

ANN = "arn:aws:iam::000000000000:user/ann"
KEY = {"pk": {"S": "a"}}
STREAM = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}


def world(*statements, enforce=True, **members):
    emu = Emulator(clock=ManualClock(), settings=Settings(enforce_policies=enforce))
    emu.call("CreateTable", table(indexes={"by_v": "v"}, **members))
    if statements:
        attach(emu, ARN, *statements)
    return emu


def attach(emu, arn, *statements):
    policy = json.dumps({"Version": "2012-10-17", "Statement": list(statements)})
    emu.call("PutResourcePolicy", {"ResourceArn": arn, "Policy": policy})


def allow(actions, resource=ARN, principal=ANN, effect="Allow"):
    named = [f"dynamodb:{action}" for action in actions.split()]
    principal = {"AWS": principal}
    return {"Effect": effect, "Principal": principal, "Action": named, "Resource": resource}


def denied(emu, operation, request, access_key="ann"):
    """Return the action and the resource that a caller is refused, or None."""
    try:
        emu.call(operation, request, access_key=access_key)
    except ApiError as error:
        if error.code != "AccessDeniedException":
            return None
        _, _, rest = error.message.partition(" to perform: ")
        action, _, rest = rest.partition(" on resource: ")
        return action.removeprefix("dynamodb:"), rest.split()[0].removeprefix(ARN)
    return None


GET = {"TableName": "tab", "Key": KEY}


def test_a_policy_refuses_whom_it_does_not_allow_in_the_words_of_the_service():
    """OTH-22."""
    emu = world(allow("GetItem"))
    assert emu.call("GetItem", GET, access_key="ann") == {}
    with pytest.raises(ApiError) as caught:
        emu.call("GetItem", GET, access_key="bob")
    assert (caught.value.code, caught.value.status) == ("AccessDeniedException", 400)
    assert caught.value.message == (
        "User: arn:aws:iam::000000000000:user/bob is not authorized to perform: dynamodb:GetItem "
        f"on resource: {ARN} because no resource-based policy allows the dynamodb:GetItem action"
    )
    assert caught.value.body()["__type"] == "com.amazon.coral.service#AccessDeniedException"
    assert emu.metrics.sum("UserErrors") == 1


def test_a_denial_is_told_as_one():
    """OTH-22."""
    emu = world(allow("*"), allow("DeleteItem", effect="Deny"))
    with pytest.raises(ApiError, match=r"with an explicit deny in a resource-based policy$"):
        emu.call("DeleteItem", GET, access_key="ann")


def test_callers_meet_at_one_table_and_those_without_a_policy_are_open():
    """OTH-22: data is by region only."""
    emu = world()
    emu.call("PutItem", {"TableName": "tab", "Item": KEY}, access_key="bob")
    assert emu.call("GetItem", GET, access_key="ann") == {"Item": KEY}
    assert [str(view.namespace) for view in emu.namespaces()] == ["*/us-east-1"]


def test_who_names_no_key_is_the_account():
    """OTH-22."""
    emu = world(allow("GetItem", effect="Deny", principal="*"))
    assert emu.call("GetItem", GET) == {}


def test_policies_are_not_applied_unless_asked():
    """OTH-22."""
    emu = world(allow("GetItem", effect="Deny", principal="*"), enforce=False)
    assert emu.call("GetItem", GET) == {}
    condition = allow("GetItem") | {"Condition": {"Bool": {"aws:SecureTransport": "true"}}}
    attach(emu, ARN, condition)


def test_a_condition_is_refused_where_it_would_have_to_be_evaluated():
    """OTH-22."""
    condition = allow("GetItem") | {"Condition": {"Bool": {"aws:SecureTransport": "true"}}}
    with pytest.raises(ApiError, match="does not evaluate the Condition"):
        world(condition)
    policy = json.dumps({"Statement": [condition]})
    with pytest.raises(ApiError, match="does not evaluate the Condition"):
        world(ResourcePolicy=policy)


NEEDS = {
    "a query of an index": (
        "Query",
        {"TableName": "tab", "IndexName": "by_v"},
        ("Query", "/index/by_v"),
    ),
    "a search": (
        "SearchVectors",
        {"TableName": "tab", "IndexName": "by_v"},
        ("SearchVectors", "/index/by_v"),
    ),
    "a table by its ARN": ("Scan", {"TableName": ARN}, ("Scan", "")),
    "a batch": ("BatchWriteItem", {"RequestItems": {"tab": []}}, ("BatchWriteItem", "")),
    "a transaction of writes": (
        "TransactWriteItems",
        {"TransactItems": [{"ConditionCheck": {"TableName": "tab"}}]},
        ("ConditionCheckItem", ""),
    ),
    "a transaction of reads": (
        "TransactGetItems",
        {"TransactItems": [{"Get": GET}]},
        ("GetItem", ""),
    ),
    "a statement": (
        "ExecuteStatement",
        {"Statement": "SELECT * FROM tab.by_v"},
        ("PartiQLSelect", "/index/by_v"),
    ),
    "statements": (
        "BatchExecuteStatement",
        {"Statements": [{"Statement": "INSERT INTO tab VALUE {'pk': 'a'}"}]},
        ("PartiQLInsert", ""),
    ),
    "a transaction of statements": (
        "ExecuteTransaction",
        {"TransactStatements": [{"Statement": "DELETE FROM tab WHERE pk = 'a'"}]},
        ("PartiQLDelete", ""),
    ),
    "a check by a statement": (
        "ExecuteTransaction",
        {"TransactStatements": [{"Statement": "EXISTS(SELECT * FROM tab WHERE pk = 'a')"}]},
        ("PartiQLSelect", ""),
    ),
    "an update by a statement": (
        "ExecuteStatement",
        {"Statement": "UPDATE tab SET v = 1 WHERE pk = 'a'"},
        ("PartiQLUpdate", ""),
    ),
    "tags": ("ListTagsOfResource", {"ResourceArn": ARN}, ("ListTagsOfResource", "")),
    "the policy itself": ("GetResourcePolicy", {"ResourceArn": ARN}, ("GetResourcePolicy", "")),
    "another table": ("GetItem", {"TableName": "other", "Key": KEY}, None),
    "no table": ("ListTables", {}, None),
    "a table to be made": ("CreateTable", {"TableName": "tab"}, None),
    "no statement": ("ExecuteStatement", {"Statement": "nonsense"}, None),
    "no transaction": ("TransactGetItems", {"TransactItems": [5]}, None),
    "no operation": ("Nonsense", {"TableName": "tab"}, None),
}


@pytest.mark.parametrize("case", NEEDS)
def test_each_operation_needs_its_actions_on_its_resources(case):
    """OTH-22."""
    operation, request, needed = NEEDS[case]
    emu = world(allow("NothingAtAll"))
    assert denied(emu, operation, request) == needed
    if needed is not None:
        action, resource = needed
        attach(emu, ARN, allow(action, resource=ARN + resource))
        assert denied(emu, operation, request) is None


def test_a_stream_has_a_policy_of_its_own():
    """OTH-22: for its description, its iterators and its records."""
    emu = world(allow("*"), StreamSpecification=STREAM)
    arn = emu.call("DescribeTable", {"TableName": "tab"})["Table"]["LatestStreamArn"]
    label = arn.removeprefix(ARN)
    shard = emu.call("DescribeStream", {"StreamArn": arn})["StreamDescription"]["Shards"][0]
    where = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "LATEST"}
    iterator = emu.call("GetShardIterator", where, access_key="bob")["ShardIterator"]
    attach(emu, arn, allow("GetShardIterator", resource=arn))
    records = {"ShardIterator": iterator}
    assert denied(emu, "DescribeStream", {"StreamArn": arn}) == ("DescribeStream", label)
    assert denied(emu, "GetRecords", records) == ("GetRecords", label)
    assert denied(emu, "GetShardIterator", where) is None
    assert denied(emu, "GetShardIterator", where, access_key="bob") == ("GetShardIterator", label)
