"""Our shapes against the service model that the SDK carries: members, types, constraints.

A newer model may have operations and members that the rules do not know; each is listed in the
catalogue with the page that says more, so that the next one is noticed.
"""

import pytest

from emulator.operations import find, shapes
from emulator.operations.definitions import DefinedTableName
from emulator.service.catalogue import OPERATIONS, UNSERVED_MEMBERS, UNSERVED_OPERATIONS
from tests.each import each

session = pytest.importorskip("botocore.session").get_session()
MODELS = {
    "DynamoDB": session.get_service_model("dynamodb"),
    "DynamoDBStreams": session.get_service_model("dynamodbstreams"),
}
#: Whether the model is as new as the shapes; an older one lacks operations and members.
IS_CURRENT = "StartBulkPutItems" in MODELS["DynamoDB"].operation_names

#: Required by the model, but answered with a sentence of their own.
NOT_REQUIRED = {
    ("TagResource", "Tags"): "TAG-3",
    ("TagResource", "Tags.Key"): "TAG-2",
    ("TagResource", "Tags.Value"): "TAG-2",
    ("CreateTable", "Tags.Key"): "TAG-2",
    ("CreateTable", "Tags.Value"): "TAG-2",
    ("UntagResource", "TagKeys"): "TAG-3",
}
#: Optional in the model, but refused when missing (CT-1).
REQUIRED = {("CreateTable", "KeySchema"), ("CreateTable", "AttributeDefinitions")}
#: Patterns that Python cannot read, or reads in cubic time.
OWN_PATTERNS = {"PolicyName", "AutoScalingRoleArn", "S3Bucket"}
#: Texts whose faults have sentences of their own: TAG-2, TAG-3, ERR-CT-15.
OWN_TEXTS = {"Key", "Value", "TagKeys", "TableClass"}

#: Maps whose names and values have rules of their own: PLH-1 to PLH-6.
PLACEHOLDERS = {"ExpressionAttributeNames", "ExpressionAttributeValues"}


def paths(member, model, path=()):
    """Yield each member of a shape with the model's, and where it is."""
    yield path, member, model
    if isinstance(member, shapes.Structure):
        for name, one in member.members.items():
            if IS_CURRENT or name in model.members:
                yield from paths(one, model.members[name], (*path, name))
    elif isinstance(member, shapes.List):
        yield from paths(member.member, model.member, path)
    elif isinstance(member, shapes.Map) and path[-1] not in PLACEHOLDERS:
        yield from paths(member.member, model.value, path)


def input_of(name):
    if not IS_CURRENT and name not in MODELS[OPERATIONS[name].api].operation_names:
        pytest.skip("this SDK has no such operation")
    return MODELS[OPERATIONS[name].api].operation_model(name).input_shape


CONTROL_PLANE = sorted(
    name
    for name in OPERATIONS
    if name
    not in {
        "BatchExecuteStatement",
        "BatchGetItem",
        "BatchWriteItem",
        "DeleteItem",
        "ExecuteStatement",
        "ExecuteTransaction",
        "GetItem",
        "PutItem",
        "Query",
        "Scan",
        "SearchVectors",
        "TransactGetItems",
        "TransactWriteItems",
        "UpdateItem",
    }
)
CLASSES = {
    "structure": shapes.Structure,
    "list": shapes.List,
    "map": shapes.Map,
    "string": shapes.String,
    "boolean": shapes.Boolean,
    "integer": shapes.Integer,
    "long": shapes.Integer,
    "double": shapes.Number,
    "timestamp": shapes.Number,
}


def test_every_operation_of_the_model_is_served_or_listed():
    """OTH-20."""
    known = {name for model in MODELS.values() for name in model.operation_names}
    assert known <= set(OPERATIONS) | set(UNSERVED_OPERATIONS)
    assert set(OPERATIONS) <= known or not IS_CURRENT
    assert not set(OPERATIONS) & set(UNSERVED_OPERATIONS)


def missing(name):
    """Yield the dotted names of members that the model has and our shape has not."""
    for path, member, model in paths(find(name).shape, input_of(name)):
        if isinstance(member, shapes.Structure):
            for one in set(model.members) - set(member.members):
                yield ".".join((*path, one))


@each("name", sorted(OPERATIONS))
def test_every_member_of_the_model_is_served_or_listed(name):
    """WIR-15: nothing is dropped in silence."""
    listed = {member for operation, member in UNSERVED_MEMBERS if operation == name}
    assert set(missing(name)) == listed


@each("name", CONTROL_PLANE)
def test_members_are_those_of_the_model(name):
    """ERR-SHAPE-3: names and types, at every depth."""
    for path, member, model in paths(find(name).shape, input_of(name)):
        assert isinstance(member, CLASSES[model.type_name]), path


@each("name", CONTROL_PLANE)
def test_required_members_are_those_of_the_model(name):
    """CT-1, ERR-SHAPE-2."""
    for path, member, model in paths(find(name).shape, input_of(name)):
        if not isinstance(member, shapes.Structure):
            continue
        for one, sub in member.members.items():
            place = (name, ".".join((*path, one)))
            if place in NOT_REQUIRED:
                assert not sub.is_required, place
            else:
                assert sub.is_required == (one in model.required_members or place in REQUIRED), (
                    place
                )


@each("name", CONTROL_PLANE)
def test_texts_have_the_model_s_lengths_patterns_and_enumerations(name):
    """ERR-SHAPE-2, ERR-SHAPE-5: the order of an enumeration is the service's own."""
    for path, member, model in paths(find(name).shape, input_of(name)):
        if not isinstance(member, shapes.String) or isinstance(member, DefinedTableName):
            continue
        if set(path) & OWN_TEXTS:
            continue
        assert set(member.enum) == set(getattr(model, "enum", ())), path
        if not member.enum:
            limits = model.metadata
            assert (member.least, member.most) == (limits.get("min", 0), limits.get("max")), path
        if path[-1] not in OWN_PATTERNS:
            assert member.pattern == model.metadata.get("pattern"), path


@each("name", CONTROL_PLANE)
def test_numbers_and_lists_have_the_model_s_bounds(name):
    """ERR-SHAPE-2; lists of keys, and the pages of streams, have their own (MAK-14, STM-2)."""
    own = {"KeySchema", "Limit"} if name != "ListTables" else {"KeySchema"}
    for path, member, model in paths(find(name).shape, input_of(name)):
        if not isinstance(member, shapes.Integer | shapes.List) or (path and path[-1] in own):
            continue
        least = member.least or None
        bounds = model.metadata
        assert (least, member.most) == (bounds.get("min"), bounds.get("max")), path
