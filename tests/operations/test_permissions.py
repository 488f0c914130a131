"""Policies applied to callers: two of them meet at one table (OTH-22)."""

import json

import pytest

from emulator import ApiError, Emulator, ManualClock, Settings
from tests.each import each
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


@pytest.mark.parametrize(
    ("condition", "name"),
    [
        ({"StringResembles": {"aws:username": "ann"}}, "StringResembles"),
        ({"StringEquals": {"aws:ShoeSize": "44"}}, "aws:ShoeSize"),
    ],
)
def test_a_condition_that_nothing_is_known_of_is_refused_where_it_would_be_applied(condition, name):
    """OTH-23."""
    conditional = allow("GetItem") | {"Condition": condition}
    policy = json.dumps({"Statement": [conditional]})
    for made in (lambda: world(conditional), lambda: world(ResourcePolicy=policy)):
        with pytest.raises(ApiError, match=f"does not know {name} in the Condition"):
            made()
    world(conditional, enforce=False)


#: A policy as the Developer Guide has them: own items, and of these some attributes.
OWN_ITEMS = {
    "ForAllValues:StringEquals": {
        "dynamodb:LeadingKeys": ["${aws:username}"],
        "dynamodb:Attributes": ["pk", "open"],
    },
    "StringEqualsIfExists": {
        "dynamodb:Select": "SPECIFIC_ATTRIBUTES",
        "dynamodb:ReturnValues": ["NONE", "UPDATED_OLD", "UPDATED_NEW"],
    },
}
OWN, OTHER = {"pk": {"S": "ann"}}, {"pk": {"S": "bob"}}
OPEN = {"open": {"S": "x"}}
SHOWN = {"ProjectionExpression": "pk, #o.deep", "ExpressionAttributeNames": {"#o": "open"}}
OF_OWN = {
    "KeyConditionExpression": "pk = :p",
    "ExpressionAttributeValues": {":p": {"S": "ann"}},
    "ProjectionExpression": "pk",
}
REQUESTS = {
    "its own item": ("GetItem", {"Key": OWN} | SHOWN, True),
    "the whole item": ("GetItem", {"Key": OWN}, False),
    "another attribute": ("GetItem", {"Key": OWN, "ProjectionExpression": "secret"}, False),
    "attributes to get": ("GetItem", {"Key": OWN, "AttributesToGet": ["pk", "secret"]}, False),
    "another's item": ("GetItem", {"Key": OTHER} | SHOWN, False),
    "a put": ("PutItem", {"Item": OWN | OPEN}, True),
    "a put of more": ("PutItem", {"Item": OWN | {"secret": {"S": "x"}}}, False),
    "a put elsewhere": ("PutItem", {"Item": OTHER}, False),
    "a put that shows": ("PutItem", {"Item": OWN, "ReturnValues": "ALL_OLD"}, False),
    "a put if": ("PutItem", {"Item": OWN, "ConditionExpression": "secret = pk"}, False),
    "a put if, as of old": (
        "PutItem",
        {"Item": OWN, "Expected": {"secret": {"Exists": False}}},
        False,
    ),
    "an update": ("UpdateItem", {"Key": OWN, "UpdateExpression": "REMOVE open"}, True),
    "an update of more": ("UpdateItem", {"Key": OWN, "UpdateExpression": "REMOVE secret"}, False),
    "a query": ("Query", OF_OWN, True),
    "a query of all": ("Query", OF_OWN | {"ProjectionExpression": None}, False),
    "a filter": ("Query", OF_OWN | {"FilterExpression": "secret = :p"}, False),
    "another's query": (
        "Query",
        OF_OWN | {"ExpressionAttributeValues": {":p": {"S": "bob"}}},
        False,
    ),
    "a query as of old": (
        "Query",
        {
            "KeyConditions": {
                "pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "bob"}]}
            },
            "AttributesToGet": ["pk"],
        },
        False,
    ),
    "a scan, which has no leading keys": ("Scan", {"AttributesToGet": ["pk"]}, True),
    "a batch": ("BatchGetItem", {"RequestItems": {"tab": {"Keys": [OWN]} | SHOWN}}, True),
    "a mixed batch": (
        "BatchGetItem",
        {"RequestItems": {"tab": {"Keys": [OWN, OTHER]} | SHOWN}},
        False,
    ),
    "a batch of writes": (
        "BatchWriteItem",
        {"RequestItems": {"tab": [{"DeleteRequest": {"Key": OWN}}]}},
        True,
    ),
    "a mixed batch of writes": (
        "BatchWriteItem",
        {"RequestItems": {"tab": [{"PutRequest": {"Item": OTHER}}]}},
        False,
    ),
    "a transaction": (
        "TransactWriteItems",
        {"TransactItems": [{"Put": {"TableName": "tab", "Item": OWN}}]},
        True,
    ),
    "another's transaction": (
        "TransactWriteItems",
        {"TransactItems": [{"Put": {"TableName": "tab", "Item": OTHER}}]},
        False,
    ),
    "a statement": ("ExecuteStatement", {"Statement": "SELECT pk FROM tab WHERE pk='ann'"}, True),
    "a statement of all": (
        "ExecuteStatement",
        {"Statement": "SELECT * FROM tab WHERE pk='ann'"},
        False,
    ),
    "another's statement": (
        "ExecuteStatement",
        {
            "Statement": "SELECT pk FROM tab WHERE pk IN (?, ?)",
            "Parameters": [{"S": "ann"}, {"S": "bob"}],
        },
        False,
    ),
    "an insert": ("ExecuteStatement", {"Statement": "INSERT INTO tab VALUE {'pk':'ann'}"}, True),
    "another's insert": (
        "ExecuteStatement",
        {"Statement": "INSERT INTO tab VALUE {'pk':'bob'}"},
        False,
    ),
    "an update by a statement": (
        "ExecuteStatement",
        {"Statement": "UPDATE tab SET secret=1 WHERE pk='ann'"},
        False,
    ),
}


@each("case", REQUESTS)
def test_items_and_attributes_can_be_kept_apart(case):
    """OTH-23."""
    operation, request, is_allowed = REQUESTS[case]
    emu = world(allow("*") | {"Condition": OWN_ITEMS})
    asked = (
        request
        if "Items" in str(list(request)) or "Statement" in request
        else ({"TableName": "tab"} | request)
    )
    sent = {name: value for name, value in asked.items() if value is not None}
    assert (denied(emu, operation, sent) is None) == is_allowed


CONTEXTS = {
    "a source": ({"IpAddress": {"aws:SourceIp": "127.0.0.0/8"}}, True),
    "another source": ({"NotIpAddress": {"aws:SourceIp": ["10.0.0.0/8", "127.0.0.1"]}}, False),
    "transport": ({"Bool": {"aws:SecureTransport": True}}, True),
    "time": ({"DateGreaterThan": {"aws:CurrentTime": "2025-12-31T23:59:59Z"}}, True),
    "seconds": ({"NumericLessThan": {"aws:EpochTime": 1}}, False),
    "region": ({"StringEquals": {"aws:RequestedRegion": "us-east-1"}}, True),
    "the caller": ({"ArnLike": {"aws:PrincipalArn": "arn:aws:iam::*:user/a*"}}, True),
    "a tag": ({"StringEquals": {"aws:ResourceTag/stage": "test"}}, True),
    "another tag": ({"StringEquals": {"aws:ResourceTag/stage": "live"}}, False),
    "no network of one's own": ({"Null": {"aws:SourceVpce": "true"}}, True),
    "no transaction": ({"Null": {"dynamodb:EnclosingOperation": "false"}}, False),
    "capacity": ({"StringEqualsIfExists": {"dynamodb:ReturnConsumedCapacity": "TOTAL"}}, True),
}


@pytest.mark.parametrize("case", CONTEXTS)
def test_a_request_is_told_by_its_surroundings(case):
    """OTH-23."""
    condition, is_allowed = CONTEXTS[case]
    tags = [{"Key": "stage", "Value": "test"}]
    emu = world(allow("GetItem") | {"Condition": condition}, Tags=tags)
    assert (denied(emu, "GetItem", GET) is None) == is_allowed


def test_a_transaction_and_a_scan_by_a_statement_are_told():
    """OTH-23: EnclosingOperation, FullTableScan."""
    inside = {"StringEquals": {"dynamodb:EnclosingOperation": ["TransactGetItems"]}}
    emu = world(allow("GetItem") | {"Condition": inside})
    assert denied(emu, "GetItem", GET) == ("GetItem", "")
    assert denied(emu, "TransactGetItems", {"TransactItems": [{"Get": GET}]}) is None
    scan = allow("PartiQLSelect", effect="Deny") | {
        "Condition": {"Bool": {"dynamodb:FullTableScan": ["true"]}}
    }
    emu = world(allow("*"), scan)
    assert denied(emu, "ExecuteStatement", {"Statement": "SELECT * FROM tab WHERE pk='a'"}) is None
    select = {"Statement": "SELECT * FROM tab"}
    assert denied(emu, "ExecuteStatement", select) == ("PartiQLSelect", "")


def test_tags_that_are_sent_can_be_asked_for():
    """OTH-23: RequestTag, TagKeys."""
    condition = {
        "StringEquals": {"aws:RequestTag/Stage": "test"},
        "ForAllValues:StringEquals": {"aws:TagKeys": ["stage"]},
    }
    emu = world(allow("TagResource") | {"Condition": condition})
    for tags, is_allowed in (
        ({"stage": "test"}, True),
        ({"stage": "live"}, False),
        ({"stage": "test", "more": "x"}, False),
    ):
        sent = [{"Key": key, "Value": value} for key, value in tags.items()]
        request = {"ResourceArn": ARN, "Tags": sent}
        assert (denied(emu, "TagResource", request) is None) == is_allowed


def test_a_job_that_reads_a_table_needs_its_permission():
    """OTH-22."""
    emu = world(allow("NothingAtAll"))
    export = {"TableArn": ARN, "S3Bucket": "bucket"}
    needed = ("ExportTableToPointInTime", "")
    assert denied(emu, "ExportTableToPointInTime", export) == needed
    restore = {"SourceTableName": "tab", "TargetTableName": "new", "UseLatestRestorableTime": True}
    needed = ("RestoreTableToPointInTime", "")
    assert denied(emu, "RestoreTableToPointInTime", restore) == needed


@pytest.mark.parametrize("junk", [5, [5], {"Key": 5}, {"tab": 5}, "x", None])
def test_a_malformed_request_is_left_to_be_refused_as_such(junk):
    """OTH-23."""
    emu = world(allow("*") | {"Condition": OWN_ITEMS})
    if not isinstance(junk, dict):
        with pytest.raises(ApiError):
            emu.call("Query", junk, access_key="ann")
    for operation, member in (
        ("GetItem", "Key"),
        ("GetItem", "AttributesToGet"),
        ("Query", "KeyConditions"),
        ("Query", "KeyConditionExpression"),
        ("BatchWriteItem", "RequestItems"),
        ("BatchGetItem", "RequestItems"),
        ("PutItem", "Tags"),
        ("ExecuteStatement", "Parameters"),
    ):
        request = {"TableName": "tab", "Statement": "SELECT pk FROM tab WHERE pk=?", member: junk}
        with pytest.raises(ApiError):
            emu.call(operation, request, access_key="ann")


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
