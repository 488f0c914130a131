from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from emulator.clients.conditions import Attr, Key, PlaceholderNames, is_condition

boto3_conditions = pytest.importorskip("boto3.dynamodb.conditions")


def conditions_of(module):
    """The same conditions, written with ours or with boto3's classes."""
    attr, key = module.Attr, module.Key
    return [
        key("a").eq(1),
        key("a").lt(1) & key("b").lte(2),
        key("a").gt(1) | key("b").gte(2),
        key("a").between(1, 2) & key("b").begins_with("x"),
        ~attr("a").ne("x"),
        attr("a").is_in([1, 2, 3]),
        attr("a.b[0].c").exists() & attr("d").not_exists(),
        attr("a[1][2]").contains("x"),
        attr("a").size().gt(3),
        attr("a").size().between(1, attr("b").size()),
        attr("a").attribute_type("S"),
        (attr("a").eq(1) & attr("a").eq(2)) | ~(attr("b").eq(attr("c"))),
    ]


class Ours:
    Attr = Attr
    Key = Key


@pytest.mark.parametrize("number", range(len(conditions_of(Ours))))
@pytest.mark.parametrize("module", [Ours, boto3_conditions], ids=["ours", "boto3's"])
def test_conditions_are_rendered_as_boto3_renders_them(number, module):
    placeholders = PlaceholderNames()
    rendered = placeholders.render(conditions_of(module)[number])
    builder = boto3_conditions.ConditionExpressionBuilder()
    built = builder.build_expression(conditions_of(boto3_conditions)[number])
    assert rendered == built.condition_expression
    assert placeholders.names == built.attribute_name_placeholders
    assert placeholders.values == built.attribute_value_placeholders


def test_a_name_may_have_a_percent_sign():
    placeholders = PlaceholderNames()
    assert placeholders.render(Attr("100%").eq(1)) == "#n0 = :v0"
    assert placeholders.names == {"#n0": "100%"}


@given(st.text("a.[]0", min_size=1))
@example("a[0].b")
@example("a.b]c[d")
def test_the_names_of_a_path_are_those_that_boto3_finds(path):
    """boto3's pattern looks ahead from every name, which costs the square of a long path."""
    placeholders = PlaceholderNames()
    text = placeholders.render(Attr(path).exists())
    numbers = iter(range(len(path)))
    wanted = boto3_conditions.ATTR_NAME_REGEX.sub(lambda _: f"#n{next(numbers)}", path)
    assert text == f"attribute_exists({wanted})"
    assert list(placeholders.names.values()) == boto3_conditions.ATTR_NAME_REGEX.findall(path)


def test_ours_follow_the_protocol_of_boto3s():
    condition = Key("a").eq(1)
    assert condition.get_expression() == {
        "format": "{0} {operator} {1}",
        "operator": "=",
        "values": (Key("a"), 1),
    }


def test_one_of_ours_joins_one_of_boto3s():
    placeholders = PlaceholderNames()
    mixed = Key("a").eq(1) & boto3_conditions.Key("b").begins_with("x")
    assert placeholders.render(mixed, key_condition=True) == (
        "(#n0 = :v0 AND begins_with(#n1, :v1))"
    )


def test_placeholders_that_the_request_uses_are_passed_over():
    placeholders = PlaceholderNames(taken={"#n0", ":v1"})
    rendered = placeholders.render(Attr("a").between(1, 2))
    assert rendered == "#n1 BETWEEN :v0 AND :v2"
    assert placeholders.values == {":v0": 1, ":v2": 2}


def test_several_conditions_of_a_request_share_no_placeholder():
    placeholders = PlaceholderNames()
    assert placeholders.render(Key("a").eq(1)) == "#n0 = :v0"
    assert placeholders.render(Attr("b").eq(2)) == "#n1 = :v1"


def test_a_key_condition_refuses_attr():
    with pytest.raises(TypeError) as refusal:
        PlaceholderNames().render(Key("a").eq(1) & Attr("b").eq(2), key_condition=True)
    assert str(refusal.value) == "a key condition compares Key('b'), not Attr('b')"


@pytest.mark.parametrize(
    "broken",
    [
        lambda: Attr("a") & Attr("b").eq(1),
        lambda: Attr("a") | Attr("b").eq(1),
        lambda: ~Attr("a"),
        lambda: Attr("a").eq(1) & Attr("b"),
        lambda: Attr("a").eq(1) | "text",
        lambda: PlaceholderNames().render("text"),
    ],
)
def test_what_is_not_a_condition_is_refused_with_a_hint(broken):
    with pytest.raises(TypeError, match=r"compare an attribute first, as in Attr\('name'\)\.eq"):
        broken()


def test_conditions_compare_by_what_they_say():
    assert Key("a").eq(1) == Key("a").eq(1)
    assert Key("a").eq(1) != Key("a").eq(2)
    assert Key("a") != Attr("a")
    assert len({Key("a"), Key("a"), Attr("a")}) == 2
    assert len({Key("a").eq(1), Key("a").eq(1)}) == 1
    assert repr(Key("a").eq(1) & Attr("b").exists()) == (
        "(Key('a') = 1 AND attribute_exists(Attr('b')))"
    )


def test_the_protocol_is_what_makes_a_condition():
    assert is_condition(boto3_conditions.Key("a").eq(1))
    assert not is_condition(Key("a"))
    assert not is_condition("a = :a")
