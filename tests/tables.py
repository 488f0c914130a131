"""The one builder of tables for tests, over the product's own notation; how a refusal is caught."""

from typing import Any

import pytest

from emulator import ApiError, Emulator, ManualClock, Settings
from emulator.testing.table_notation import create_request

INVALID = "One or more parameter values were invalid: "
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/tab"
UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}


def emulator(**settings):
    """Return an emulator on virtual time."""
    return Emulator(clock=ManualClock(), settings=Settings(**settings))


def table(partition="pk", sort="", names=None, *, projections=None, **members) -> dict[str, Any]:
    """Return a CreateTable request of ``tab``, on demand unless it says otherwise.

    A part of a key is one notation or several: ``table("h1 h2", "r:N")``. Indexes come in the
    notation of ``create_request``, with ``projections`` by index name: a ProjectionType, or the
    names to include; or in wire form, whose key attributes are strings.

    Args:
        partition: The attributes of the partition key.
        sort: The attributes of the sort key.
        names: What AttributeDefinitions names, instead of the attributes of all keys.
        projections: Projections of indexes that do not project everything.
        members: Further arguments of ``create_request``; None takes a member away.
    """
    request = create_request("tab", *_parts(partition, sort), **members)
    for written in _indexes(request) if projections else ():
        if written["IndexName"] in projections:
            written["Projection"] = projection(projections[written["IndexName"]])
    if names is not None:
        request["AttributeDefinitions"] = types(names)
    elif "AttributeDefinitions" not in members:
        _define_index_keys(request)
    if "ProvisionedThroughput" in members:
        request["BillingMode"] = members.get("BillingMode")
    return {member: value for member, value in request.items() if value is not None}


def schema(partition, sort=""):
    """Return a KeySchema: ``schema("h1 h2", "r1")``."""
    return create_request("tab", *_parts(partition, sort))["KeySchema"]


def types(names, kind="S"):
    """Return AttributeDefinitions, of one type unless a name says another: ``"a b:N"``."""
    pairs = (notation.partition(":") for notation in names.split())
    return [{"AttributeName": name, "AttributeType": own or kind} for name, _, own in pairs]


def index(name, key, project="ALL", **members):
    """Return an index in wire form; it projects by type, by names, or as written."""
    return {"IndexName": name, "KeySchema": key, "Projection": projection(project), **members}


def vector_index(
    name="vix",
    *,
    attribute="emb",
    size=2,
    distance="COSINE",
    project="ALL",
    partition="",
    filters="",
):
    """Return a vector index in wire form; its search schema by names."""
    elements = [(element, "HASH") for element in partition.split()]
    elements += [(element, "INLINE_FILTER") for element in filters.split()]
    written = {
        "IndexName": name,
        "VectorAttribute": {"AttributeName": attribute},
        "Dimensions": size,
        "DistanceFunction": distance,
        "Projection": projection(project),
        "SearchSchema": [
            {"AttributeName": element, "SearchSchemaElementType": role}
            for element, role in elements
        ],
    }
    return written if elements else {m: v for m, v in written.items() if m != "SearchSchema"}


def vector_table(*indexes, names="pk", **members):
    """Return a CreateTable request with vector indexes; ``names`` are all that is defined."""
    return table(names=names, **members) | {"VectorIndexes": list(indexes or [vector_index()])}


def vector(*numbers):
    """Return a list of numbers as a value."""
    return {"L": [{"N": str(number)} for number in numbers]}


def nearest(emu, *numbers, index="vix", most=10, **members):
    """Return what SearchVectors answers to a vector, in ``tab``."""
    request = {
        "TableName": "tab",
        "IndexName": index,
        "SearchVector": [{"N": str(number)} for number in numbers],
        "TopK": most,
    }
    return emu.call("SearchVectors", request | members)


def nearest_keys(emu, *numbers, **members):
    """Return the partition keys of what SearchVectors finds, most similar first."""
    found = nearest(emu, *numbers, **members)["SearchResults"]
    return [result["Item"]["pk"]["S"] for result in found]


def projection(project):
    """Return a Projection by its type, by the names it includes, or as it is written."""
    if isinstance(project, str):
        return {"ProjectionType": project}
    if isinstance(project, list):
        return {"ProjectionType": "INCLUDE", "NonKeyAttributes": project}
    return project


def refusal(emu, operation, request):
    """Return the code and the message of a request that is refused."""
    with pytest.raises(ApiError) as caught:
        emu.call(operation, request)
    return caught.value.code, caught.value.message


def described(emu, name="tab"):
    """Return the table as DescribeTable has it."""
    return emu.call("DescribeTable", {"TableName": name})["Table"]


def put(emu, name="tab", **attributes):
    """Put an item of texts."""
    item = {attribute: {"S": text} for attribute, text in attributes.items()}
    emu.call("PutItem", {"TableName": name, "Item": item})


def _parts(partition, sort):
    return tuple(partition.split()), tuple(sort.split()) or None


def _indexes(request):
    return [
        *(request.get("GlobalSecondaryIndexes") or ()),
        *(request.get("LocalSecondaryIndexes") or ()),
    ]


def _define_index_keys(request):
    """Define the key attributes of indexes in wire form as strings."""
    defined = {one["AttributeName"]: one for one in request["AttributeDefinitions"]}
    for written in _indexes(request):
        for element in written.get("KeySchema") or ():
            name = element["AttributeName"]
            defined.setdefault(name, {"AttributeName": name, "AttributeType": "S"})
    request["AttributeDefinitions"] = list(defined.values())
