"""BatchGetItem: its shape, its rules in order, its behaviour.

Further requests with their whole answers stand in ``cases/batch_get_item.py``.
"""

import pytest

from emulator import ApiError, Emulator, ManualClock
from emulator.operations.batch_get_item import SHAPE
from tests.operations.cases.case import (
    AT_LEAST,
    AT_MOST,
    BIG,
    CAPACITY_ENUM,
    DUPLICATES,
    EMPTY_KEY,
    INDEXED_KEY,
    INVALID,
    KEY,
    MIXED,
    NAME_PATTERN,
    NOT_A_NUMBER,
    NOT_FOUND,
    NOT_NULL,
    NOT_SCALAR,
    NOT_THE_SCHEMA,
    PAIR,
    TOO_DEEP,
    constraint,
    detected,
    keys,
    nested,
    put,
    wire,
)
from tests.operations.ladders import answer, ladder, misjudged, step
from tests.tables import table


def of(*wanted, **others):
    """Return what is wanted of the table ``hash``, and of other tables."""
    return {"RequestItems": {"hash": {"Keys": list(wanted)}, **others}}


def wanting(*wanted, **members):
    """Return what is wanted of a table."""
    return {"Keys": list(wanted), **members}


VALID = of(KEY)

# Shape


def test_the_members_are_those_of_the_service():
    """BGI-1."""
    of_table = SHAPE.members["RequestItems"].member.members
    assert (list(SHAPE.members), list(of_table)) == (
        ["RequestItems", "ReturnConsumedCapacity"],
        [
            "Keys",
            "AttributesToGet",
            "ConsistentRead",
            "ProjectionExpression",
            "ExpressionAttributeNames",
        ],
    )


@pytest.mark.parametrize(
    ("requested", "message"),
    [
        ([], "Unexpected field type"),
        ({"hash": []}, "Unrecognized collection type class "
                       "com.amazonaws.dynamodb.v20120810.KeysAndAttributes"),
        ({"hash": {"Keys": {}}}, "Start of structure or map found where not expected"),
        ({"hash": {"Keys": [{"pk": {"S": 1}}]}}, "NUMBER_VALUE cannot be converted to String"),
        ({"hash": {"Keys": [], "ConsistentRead": "x"}},
         "STRING_VALUE cannot be converted to Boolean"),
    ],
)  # fmt: skip
def test_a_wrong_json_type_is_reported_before_everything(requested, message):
    """WIR-12, ORD-1."""
    request = {"RequestItems": requested, "ReturnConsumedCapacity": "X"}
    assert answer("BatchGetItem", request) == ("SerializationException", message)


def test_what_is_missing_is_reported_with_the_other_members():
    """ERR-BGET-1."""
    capacity = constraint("'X'", "returnConsumedCapacity", CAPACITY_ENUM)
    assert answer("BatchGetItem", {"ReturnConsumedCapacity": "X"}) == (
        "ValidationException",
        detected(f"{constraint('null', 'requestItems', NOT_NULL)}; {capacity}", 2),
    )
    assert answer("BatchGetItem", {"RequestItems": {"hash": {}}}) == (
        "ValidationException",
        detected(constraint("null", "requestItems.hash.member.keys", NOT_NULL)),
    )


# Rules, in the order of ERR-BGET-1: the current layer wraps none of them (PRO-2)

COUNTS = "Value at 'RequestItems.hash.member.Keys' failed to satisfy constraint: "
MAP_KEYS = (
    f"Map keys must satisfy constraint: [{AT_MOST.format(255)}, {AT_LEAST.format(3)}, "
    f"{NAME_PATTERN}]"
)
NAMES = {"#a": "a"}
PREFIX = "Invalid ProjectionExpression: "
ORDER = ladder(
    VALID,
    step(
        "ERR-BGET-2 nothing",
        {"ReturnConsumedCapacity": "X", "RequestItems": {}},
        detected(f"Value at 'RequestItems' failed to satisfy constraint: {AT_LEAST.format(1)}"),
        "The requestItems parameter is required for BatchGetItem",
    ),
    step(
        "ERR-BGET-1 an enumeration, OPC-1",
        {"ReturnConsumedCapacity": "X", **of(none=wanting(KEY, KEY))},
        detected(constraint("'X'", "returnConsumedCapacity", CAPACITY_ENUM)),
    ),
    step(
        "ERR-BGET-4 a table name of wrong characters",
        {"ReturnConsumedCapacity": None, "RequestItems": {"a!b": wanting()}},
        detected(constraint("""'{"a!b":{"Keys":[]}}'""", "requestItems", MAP_KEYS)),
        detected(constraint("'{a!b=KeysAndAttributes(keys=[])}'", "requestItems", MAP_KEYS)),
    ),
    step("ERR-BGET-3 no keys", of(none=wanting(KEY, KEY)), detected(COUNTS + AT_LEAST.format(1))),
    step(
        "ERR-BGET-3 101 keys",
        of(*keys(101), none=wanting(KEY, KEY)),
        detected(COUNTS + AT_MOST.format(100)),
    ),
    step(
        "ERR-BGET-3 101 keys of two tables",
        of(*keys(100), none=wanting(KEY, AttributesToGet=["a", "a"])),
        "Too many items requested for the BatchGetItem call",
    ),
    step(
        "ERR-BGET-1 legacy and current parameters of two tables, LEG-1",
        of(KEY, KEY, pair=wanting(PAIR, AttributesToGet=["a", "a"]),
           none=wanting(KEY, ProjectionExpression="")),
        MIXED % ("AttributesToGet", "ProjectionExpression"),
    ),
    step(
        "ERR-BGET-1 names without an expression, PLH-3, ERR-EXP-21",
        {"RequestItems": {"none": wanting(KEY, KEY, AttributesToGet=["a", "a"],
                                          ExpressionAttributeNames=NAMES)}},
        "ExpressionAttributeNames can only be specified when using expressions",
    ),
    step(
        "ERR-BGET-1 empty names, PLH-4, ERR-EXP-23",
        {"RequestItems": {"none": wanting(KEY, KEY, ProjectionExpression="",
                                          ExpressionAttributeNames={})}},
        "ExpressionAttributeNames must not be empty",
    ),
    step(
        "ERR-BGET-1 the same name twice, PRJ-5",
        {"RequestItems": {"none": wanting(KEY, KEY, AttributesToGet=["a", "a"])}},
        INVALID + "Duplicate value in attribute name: a",
    ),
    step(
        "ERR-BGET-1 an empty projection, EXP-3",
        {"RequestItems": {"none": wanting({"pk": {"N": "x"}}, ProjectionExpression="")}},
        PREFIX + "The expression can not be empty;",
    ),
    step(
        "ERR-BGET-1 overlapping paths, PRJ-3, ERR-EXP-18",
        {"RequestItems": {"none": wanting({"pk": {"N": "x"}}, ProjectionExpression="a, a[0]")}},
        PREFIX + "Two document paths overlap with each other; must remove or rewrite one of these "
        "paths; path one: [a], path two: [a, [0]]",
    ),
    step(
        "ERR-BGET-1 an unused name, PLH-2",
        {"RequestItems": {"none": wanting({"pk": {"N": "x"}}, ProjectionExpression="a",
                                          ExpressionAttributeNames=NAMES)}},
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a}",
    ),
    step(
        "ERR-BGET-1 a value of a key, NUM-2, ERR-VAL-2",
        of(KEY, KEY, {"pk": {"N": "x"}}, none=wanting(KEY)),
        NOT_A_NUMBER.format("x"),
    ),
    step(
        "ERR-BGET-1 a key of 32 levels, TYP-5",
        of(KEY, KEY, {"pk": nested(32)}, none=wanting(KEY)),
        TOO_DEEP,
    ),
    step("ERR-BGET-5 the same key twice, BGI-3", of({}, KEY, KEY, none=wanting(KEY)), DUPLICATES),
    step("ERR-BGET-1 no such table, BGI-4", of({}, none=wanting(KEY)), NOT_FOUND),
    step("ERR-BGET-1 a key of another schema, KV-6", of(PAIR, wire({"pk": ""})), NOT_THE_SCHEMA),
    step("ERR-BGET-1 an empty key, KV-3", of(wire({"pk": ""})), EMPTY_KEY.format("string", "pk")),
    step(
        "QRY-7 a path below a key",
        {"RequestItems": {"hash": wanting(KEY, ProjectionExpression="pk.a")}},
        NOT_SCALAR.format("Key: pk"),
    ),
)  # fmt: skip


def test_a_fault_is_reported_before_those_that_come_after_it():
    """ERR-BGET-1."""
    assert misjudged("BatchGetItem", ORDER) == {}


# Behaviour


def test_every_table_has_its_list():
    """BGI-2: with the items found; a table of which nothing is found has an empty one."""
    request = of(KEY, wire({"pk": "gone"}), pair=wanting(PAIR))
    assert answer("BatchGetItem", request, given=[put("hash", pk="a", x=1)]) == {
        "Responses": {"hash": [wire({"pk": "a", "x": 1})], "pair": []},
        "UnprocessedKeys": {},
    }


def test_a_projection_is_that_of_its_table():
    """BGI-1, PRJ-1, PRJ-4."""
    request = {
        "RequestItems": {
            "hash": wanting(
                KEY,
                ProjectionExpression="#x, m.b",
                ExpressionAttributeNames={"#x": "x"},
            ),
            "pair": wanting(PAIR, ProjectionExpression="gone"),
        }
    }
    given = [
        put("hash", pk="a", x=1, y=2, m={"M": wire({"b": 1, "c": 2})}),
        put("pair", pk="a", sk=1),
    ]
    assert answer("BatchGetItem", request, given=given)["Responses"] == {
        "hash": [wire({"x": 1, "m": {"M": wire({"b": 1})}})],
        "pair": [{}],
    }


def test_attributes_to_get_are_those_of_their_table():
    """BGI-1, LEG-10."""
    request = {"RequestItems": {"hash": wanting(KEY, AttributesToGet=["x", "gone"])}}
    given = [put("hash", pk="a", x=1, y=2)]
    assert answer("BatchGetItem", request, given=given)["Responses"] == {"hash": [wire({"x": 1})]}


def test_a_hundred_keys_are_taken():
    """BGI-1."""
    given = [put("hash", pk=f"{number}") for number in range(100)]
    page = answer("BatchGetItem", of(*keys(100)), given=given)
    assert sorted(item["pk"]["S"] for item in page["Responses"]["hash"]) == sorted(
        str(number) for number in range(100)
    )


def test_each_item_is_rounded_on_its_own():
    """RCC-1, RCC-6, CAP-202, CAP-404, CAP-405: ConsistentRead is the table's."""
    request = {
        "RequestItems": {
            "hash": wanting(KEY, wire({"pk": "gone"})),
            "indexed": wanting(INDEXED_KEY, wire({"pk": "gone", "sk": "b"}), ConsistentRead=True),
        },
        "ReturnConsumedCapacity": "INDEXES",
    }
    given = [put("hash", pk="a", v="x" * 5000), put("indexed", pk="a", sk="b", v="x" * 5000)]
    assert answer("BatchGetItem", request, given=given)["ConsumedCapacity"] == [
        {"TableName": "hash", "CapacityUnits": 1.5, "Table": {"CapacityUnits": 1.5}},
        {"TableName": "indexed", "CapacityUnits": 3.0, "Table": {"CapacityUnits": 3.0}},
    ]


@pytest.mark.parametrize("mode", [{}, {"ReturnConsumedCapacity": "NONE"}])
def test_costs_are_not_reported_unless_asked_for(mode):
    """CAP-404."""
    request = {"RequestItems": {"hash": wanting(KEY)}} | mode
    assert answer("BatchGetItem", request) == {"Responses": {"hash": []}, "UnprocessedKeys": {}}


def test_what_exceeds_sixteen_megabytes_comes_back_as_it_came():
    """BGI-5, SIZ-7, CAP-213: with the table's other parameters, and unpaid."""
    emulator = Emulator()
    emulator.call("CreateTable", table())
    for number in range(60):
        emulator.call(*put("tab", pk=f"{number:02}", v=BIG))
    wanted = [wire({"pk": f"{number:02}"}) for number in range(60)]
    others = {"ProjectionExpression": "pk", "ConsistentRead": True}
    request = {
        "RequestItems": {"tab": wanting(*wanted, **others)},
        "ReturnConsumedCapacity": "TOTAL",
    }
    page = emulator.call("BatchGetItem", request)
    # 300,006 bytes each: fifty-five fit into 16,777,216.
    assert page == {
        "Responses": {"tab": wanted[:55]},
        "UnprocessedKeys": {"tab": wanting(*wanted[55:], **others)},
        "ConsumedCapacity": [{"TableName": "tab", "CapacityUnits": 55 * 74.0}],
    }


def test_sixteen_megabytes_are_taken():
    """BGI-5, SIZ-7: 16,777,216 bytes, inclusive."""
    sizes = [400_000] * 40 + [388_608] * 2
    given = [put("hash", pk=f"{n:02}", v="x" * (size - 5)) for n, size in enumerate(sizes)]
    wanted = [wire({"pk": f"{number:02}"}) for number in range(len(sizes))]
    request = {"RequestItems": {"hash": wanting(*wanted, ProjectionExpression="pk")}}
    assert answer("BatchGetItem", request, given=given) == {
        "Responses": {"hash": wanted},
        "UnprocessedKeys": {},
    }


def throttling(read):
    """Return an emulator that enforces so many read units, with four items."""
    emulator = Emulator(clock=ManualClock(), capacity="enforce")
    emulator.call("CreateTable", table(provisioned=(read, 10)))
    for number in range(4):
        emulator.call(*put("tab", pk=f"{number}"))
    return emulator


def strong(count):
    """Return a request of so many keys, each for a unit."""
    return {"RequestItems": {"tab": wanting(*keys(count), ConsistentRead=True)}}


def test_a_throttled_key_comes_back_unprocessed():
    """CAP-610, BGI-5."""
    emulator = throttling(read=2)
    page = emulator.call("BatchGetItem", strong(4))
    assert page == {
        "Responses": {"tab": keys(2)},
        "UnprocessedKeys": {"tab": {"Keys": keys(4)[2:], "ConsistentRead": True}},
    }


def test_a_batch_of_which_nothing_is_served_is_throttled():
    """CAP-610, ERR-TYPE-16."""
    emulator = throttling(read=1)
    emulator.call("BatchGetItem", strong(1))
    with pytest.raises(ApiError) as caught:
        emulator.call("BatchGetItem", strong(2))
    assert caught.value.code == "ProvisionedThroughputExceededException"
