from __future__ import annotations

import base64
import decimal
import enum
from collections import OrderedDict
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.clients.conversion import (
    FLOAT_REFUSED,
    TIMESTAMPS,
    Binary,
    client_response,
    natural_item,
    natural_value,
    wire_request,
    wire_value,
)

boto3_types = pytest.importorskip("boto3.dynamodb.types")

numbers = st.integers(-(10**40), 10**40) | st.decimals(allow_nan=False, allow_infinity=False)
texts, bits = st.text(max_size=4), st.binary(max_size=4)
scalars = st.none() | st.booleans() | numbers | texts | bits
sets = st.one_of([st.sets(member, max_size=3) for member in (numbers, texts, bits)])
values = st.recursive(
    scalars | sets,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(texts, inner, max_size=3)
        | st.tuples(inner, inner)
    ),
    max_leaves=6,
)


def outcome(function, value):
    """What a conversion gives, or how it refuses."""
    try:
        return function(value)
    except (TypeError, decimal.DecimalException) as error:
        return type(error), str(error) if isinstance(error, TypeError) else None


@given(values)
def test_a_natural_value_becomes_what_boto3_makes_of_it(value):
    assert outcome(wire_value, value) == outcome(boto3_types.TypeSerializer().serialize, value)


@given(values)
def test_a_value_comes_back_as_boto3_gives_it_back(value):
    wire = outcome(wire_value, value)
    if isinstance(wire, dict):
        assert natural_value(wire) == boto3_types.TypeDeserializer().deserialize(wire)


@pytest.mark.parametrize("value", [0.5, [1.5], {"a": {"b": 2.0}}, {1, 0.5}, {0.5}])
def test_floats_are_refused_with_the_sdks_sentence(value):
    with pytest.raises(TypeError) as refusal:
        wire_value(value)
    assert str(refusal.value) == "Float types are not supported. Use Decimal types instead."
    assert str(refusal.value) == FLOAT_REFUSED


@pytest.mark.parametrize("value", [Decimal("Infinity"), Decimal("NaN")])
def test_numbers_that_are_not_finite_are_refused(value):
    with pytest.raises(TypeError, match=r"^Infinity and NaN not supported$"):
        wire_value(value)


@pytest.mark.parametrize("value", [object(), {1, "a"}, {b"a", "a"}, 1j])
def test_a_type_without_an_attribute_value_is_refused_as_boto3_refuses_it(value):
    with pytest.raises(TypeError) as theirs:
        boto3_types.TypeSerializer().serialize(value)
    with pytest.raises(TypeError) as ours:
        wire_value(value)
    assert str(ours.value) == str(theirs.value)


class Colour(enum.IntEnum):
    RED = 1


class Name(str):
    __slots__ = ()


class Price(Decimal):
    pass


class Ratio(float):
    pass


@pytest.mark.parametrize(
    ("value", "wire"),
    [
        (Colour.RED, {"N": "1"}),
        (Name("x"), {"S": "x"}),
        (Price("1.50"), {"N": "1.50"}),
        (bytearray(b"ab"), {"B": b"ab"}),
        (Binary(b"ab"), {"B": b"ab"}),
        (boto3_types.Binary(b"ab"), {"B": b"ab"}),
        ({boto3_types.Binary(b"ab")}, {"BS": [b"ab"]}),
        (frozenset({"a"}), {"SS": ["a"]}),
        (OrderedDict(a=1), {"M": {"a": {"N": "1"}}}),
        ((1, "a"), {"L": [{"N": "1"}, {"S": "a"}]}),
        (set(), {"NS": []}),
    ],
)
def test_subclasses_and_wrappers_are_taken_for_what_they_hold(value, wire):
    assert wire_value(value) == wire


@pytest.mark.parametrize("value", [10**38, Decimal("1E-200"), 10**40 + 1])
def test_a_number_that_the_sdk_refuses_is_refused_before_it_is_sent(value):
    with pytest.raises(decimal.DecimalException):
        wire_value(value)


def test_a_subclass_of_float_is_a_float():
    with pytest.raises(TypeError, match=FLOAT_REFUSED):
        wire_value(Ratio(0.5))


def test_wire_items_become_natural_ones_with_base64_decoded():
    wire = {
        "s": {"S": "a"},
        "n": {"N": "1.5"},
        "b": {"B": "AAE="},
        "bs": {"BS": ["AAE="]},
        "ns": {"NS": ["1", "2"]},
        "ss": {"SS": ["a"]},
        "t": {"BOOL": True},
        "z": {"NULL": True},
        "l": {"L": [{"M": {"b": {"B": b"raw"}}}]},
    }
    assert natural_item(wire) == {
        "s": "a",
        "n": Decimal("1.5"),
        "b": b"\0\1",
        "bs": {b"\0\1"},
        "ns": {Decimal(1), Decimal(2)},
        "ss": {"a"},
        "t": True,
        "z": None,
        "l": [{"b": b"raw"}],
    }


def test_binary_that_was_read_has_the_value_that_boto3s_has():
    read = natural_value({"B": "YWJj"})
    assert (read, read.value, type(read.value)) == (b"abc", b"abc", bytes)


# The client's vocabulary


def test_text_under_b_is_utf8_as_botocore_sends_it():
    request = {"Item": {"a": {"B": "é"}, "b": {"BS": ["x", b"y"]}, "c": {"S": "é"}}}
    assert wire_request(request) == {
        "Item": {"a": {"B": "é".encode()}, "b": {"BS": [b"x", b"y"]}, "c": {"S": "é"}}
    }
    assert request["Item"]["a"] == {"B": "é"}


def test_attributes_may_be_called_b_and_bs():
    request = {"Item": {"B": {"S": "x"}, "BS": {"M": {"B": {"B": b"x"}}}}}
    assert wire_request(request) is request


def test_datetimes_become_seconds():
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    assert wire_request({"RestoreDateTime": moment, "Deep": [{"ExportTime": moment}]}) == {
        "RestoreDateTime": 1767225600.0,
        "Deep": [{"ExportTime": 1767225600.0}],
    }


def test_binary_is_decoded_wherever_it_stands():
    response = {
        "Responses": {"t": [{"B": {"B": "YQ=="}, "m": {"M": {"x": {"BS": ["Yg=="]}}}}]},
        "Count": 1,
    }
    assert client_response(response) == {
        "Responses": {"t": [{"B": {"B": b"a"}, "m": {"M": {"x": {"BS": [b"b"]}}}}]},
        "Count": 1,
    }
    assert response["Responses"]["t"][0]["B"] == {"B": "YQ=="}


def test_timestamps_become_datetimes_that_know_their_zone():
    response = client_response(
        {"Table": {"CreationDateTime": 1767225600.5, "ItemCount": 3}, "X": {"EndTime": 5}}
    )
    assert response == {
        "Table": {
            "CreationDateTime": datetime(2026, 1, 1, 0, 0, 0, 500_000, tzinfo=UTC),
            "ItemCount": 3,
        },
        "X": {"EndTime": datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC)},
    }
    assert response["Table"]["CreationDateTime"].tzinfo is not None


def test_a_response_without_binary_or_time_is_not_copied():
    response = {"Item": {"a": {"S": "x"}, "l": {"L": [{"N": "1"}]}}, "Count": 1}
    assert client_response(response) is response


@given(st.dictionaries(texts, values, max_size=3))
def test_a_request_and_its_echo_agree(item):
    wire = {name: outcome(wire_value, value) for name, value in item.items()}
    if all(isinstance(value, dict) for value in wire.values()):
        sent = wire_request({"Item": wire})
        assert client_response(_with_base64(sent)) == {"Item": wire}


def _with_base64(value):
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {name: _with_base64(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_with_base64(member) for member in value]
    return value


def _members(shape, kind, seen=frozenset()):
    if shape.type_name == "structure" and shape.name not in seen:
        for name, member in shape.members.items():
            if member.type_name == kind:
                yield name
            yield from _members(member, kind, seen | {shape.name})
    elif shape.type_name == "list":
        yield from _members(shape.member, kind, seen)
    elif shape.type_name == "map":
        yield from _members(shape.value, kind, seen)


def _models():
    session = pytest.importorskip("botocore.session").get_session()
    return [session.get_service_model(name) for name in ("dynamodb", "dynamodbstreams")]


def test_the_timestamps_are_those_of_the_service_model():
    outputs = [
        model.operation_model(name).output_shape
        for model in _models()
        for name in model.operation_names
    ]
    assert {
        name for shape in outputs if shape is not None for name in _members(shape, "timestamp")
    } == TIMESTAMPS


def test_only_attribute_values_hold_binary_in_the_service_model():
    shapes = [
        shape
        for model in _models()
        for name in model.operation_names
        for shape in (
            model.operation_model(name).input_shape,
            model.operation_model(name).output_shape,
        )
        if shape is not None
    ]
    assert {name for shape in shapes for name in _members(shape, "blob")} == {"B"}
