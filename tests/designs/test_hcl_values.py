"""What Terraform expressions come to; what is not known never becomes a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.designs import hcl, hcl_values
from emulator.designs.hcl_values import EvaluationWork, HclScope, UnknownValue, converted
from tests.each import each

VALUES = {
    "env": "test",
    "read": 5,
    "on": True,
    "none": None,
    "names": ["b", "a", "b"],
    "tables": {"users": {"key": "id"}, "orders": {"key": "status", "n": 2}},
}
SCOPE = HclScope({"var": VALUES})


def value(text):
    return HclScope({"var": VALUES}).value(hcl.parse(f"x = {text}", "x").settings["x"].expression)


CASES = {
    '"a-${var.env}"': "a-test",
    '"${var.read}"': 5,
    '"$${var.env}"': "${var.env}",
    r'"a\t\"é"': 'a\t"é',
    "<<-E\n  hi ${var.env}\n  E\n": "  hi test\n",
    "-var.read + 7 * 2": 9,
    "7 / 2": 3.5,
    "7 % 4 >= 3": True,
    '!var.on || var.env == "test"': True,
    "(var.read > 3) && var.on": True,
    'var.on ? "yes" : var.unknown': "yes",
    "var.tables.orders.key": "status",
    'var.tables["users"].key': "id",
    "var.names[1]": "a",
    "var.names.0": "b",
    "[var.read, null]": [5, None],
    '{a = 1, "b" : 2, (var.env) = 3}': {"a": 1, "b": 2, "test": 3},
    "[for t in var.tables : t.key]": ["status", "id"],
    "[for k, t in var.tables : k if t.key != \"id\"]": ["orders"],
    "{for k, t in var.tables : t.key => k}": {"status": "orders", "id": "users"},
    "{for n in var.names : n => 1...}": {"a": [1], "b": [1, 1]},
    "[for i, n in var.names : i]": [0, 1, 2],
    "values(var.tables)[*].key": ["status", "id"],
    "toset(var.names)": ["a", "b"],
    "keys(var.tables)": ["orders", "users"],
    "length(var.names)": 3,
    'lookup(var.tables.users, "n", 9)': 9,
    'merge(var.tables.users, {n = 1}).n': 1,
    "concat(var.names, [\"c\"])": ["b", "a", "b", "c"],
    'format("%s-%d", var.env, var.read)': "test-5",
    'join("-", var.names)': "b-a-b",
    'split(",", "a,b")': ["a", "b"],
    "try(var.tables.users.n, 7)": 7,
    "can(var.tables.users.n)": False,
    "can(var.names[7])": False,
    "can(var.env)": True,
    'try(lookup(var.tables, "gone").key, var.names[9].x, "z")': "z",
    "coalesce(var.none, \"\", 3)": 3,
    "max([1, 4]...)": 4,
    "flatten([[1], [2, [3]]])": [1, 2, 3],
    'zipmap(["a"], [1])': {"a": 1},
    "one([])": None,
    'replace(upper("ab"), "A", "x")': "xB",
    'tonumber("5") + 1': 6,
    "element(var.names, 4)": "a",
    'setproduct(["a"], [1, 2])': [["a", 1], ["a", 2]],
    'setsubtract(var.names, ["b"])': ["a"],
    'formatlist("%s-%d", ["a", "b"], [1, 2])': ["a-1", "b-2"],
    'replace("a1-b2", "/([a-z])([0-9])/", "$2$1")': "1a-2b",
    'jsondecode("{\\"a\\": [1]}").a[0]': 1,
    'yamldecode("a: [b]").a[0]': "b",
    'indent(2, "a\\nb")': "a\n  b",
    "length([var.nothing])": 1,
    "values({a = var.nothing, b = 2})[1]": 2,
    'jsonencode({b = [1, true], a = null})': '{"a":null,"b":[1,true]}',
    'coalescelist([], ["x"])': ["x"],
    'regex("[a-z]+", "12ab")': "ab",
    'regex("(\\\\d)(\\\\w)", "12ab")': ["1", "2"],
    'regexall("(?<n>[0-9])", "a1")': [{"n": "1"}],
    'chunklist(["a", "b", "c"], 2)': [["a", "b"], ["c"]],
    'matchkeys(["a", "b"], [1, 2], [2])': ["b"],
    'transpose({a = ["x"], b = ["x"]})': {"x": ["a", "b"]},
    'setintersection(["b", "a"], ["a", "c"])': ["a"],
    "[alltrue([true, false]), anytrue([true, false])]": [False, True],
    'csvdecode("a,b\\n1,2")': [{"a": "1", "b": "2"}],
    'substr(strrev(trim("--abc--", "-")), 0, -1)': "cba",
    'base64decode(base64encode("é"))': "é",
    '"${basename("a/b.json")} ${dirname("a/b.json")}"': "b.json a",
    'parseint("ff", 16) + sum([1, 2])': 258,
    'substr(sha256("a"), 0, 6)': "ca9781",
    '"${1e3}-${true}"': "1000-true",
}  # fmt: skip


@each(("text", "expected"), CASES.items(), ids=CASES)
def test_an_expression_comes_to_what_terraform_says(text, expected):
    assert value(text) == expected


UNKNOWN = {
    "var.nothing": "var.nothing",
    "each.value": "each.value",
    '"a-${each.value}"': "each.value",
    "data.aws_region.here.name": "data.aws_region.here.name",
    "var.nothing ? 1 : 2": "var.nothing",
    "upper(var.nothing)": "var.nothing",
    "timestamp()": "timestamp()",
    'provider::aws::arn_parse("x")': "provider::aws::arn_parse()",
    'element([], 0)': "element()",
    "[for x in var.nothing : x]": "var.nothing",
    "{for x in var.names : each.key => x}": "each.key",
    "1 / 0": "a division by zero",
    "coalesce(var.nothing, 1)": "var.nothing",
    '"%{ if var.on }a%{ endif }"': "%{ if var.on }",
    "-var.env": "a number from 'test'",
    '"x${var.names}"': "a text made of a list",
    "var.tables[each.key]": "each.key",
    "var.on && var.nothing": "var.nothing",
    'try(var.nothing.key, "id")': "var.nothing.key",
    "jsondecode(\"{\")": "jsondecode()",
    'yamldecode("a: [")': "yamldecode()",
    'file("here.txt")': "file()",
    'join("#", ["a", var.nothing])': "var.nothing",
    'join("#", formatlist("%s", [var.nothing]))': "var.nothing",
    'contains([var.nothing], "a") ? 1 : 2': "var.nothing",
    '[var.nothing] == ["a"]': "var.nothing",
    '{a = {b = var.nothing}} == {}': "var.nothing",
    "tostring([var.nothing])": "var.nothing",
    "tostring(var.names)": "tostring()",
    'format("%s", var.names)': "format()",
    "toset([var.nothing, 1])": "var.nothing",
    "length(flatten([1, var.nothing]))": "var.nothing",
    'zipmap([var.nothing], [1])': "var.nothing",
    "{(var.names) = 1}": "a list for a name",
    "var.tables[var.names]": "a list for a name",
}  # fmt: skip


@each(("text", "reason"), UNKNOWN.items(), ids=UNKNOWN)
def test_what_is_not_known_stays_unknown(text, reason):
    """ICH-47."""
    assert value(text) == UnknownValue(reason)


def test_a_known_side_may_decide_alone():
    assert value("var.nothing || true") is True
    assert value("false && var.nothing") is False
    assert value("var.nothing ? 1 : 1") == 1


references = st.sampled_from(["each.value", "var.nothing", "data.a.b.c", "local.x[0].y"])


def around(inner):
    return st.one_of(
        inner.map(lambda text: f"upper({text})"),
        inner.map(lambda text: f'"x-${{{text}}}"'),
        inner.map(lambda text: f"({text})"),
        inner.map(lambda text: f"var.on ? {text} : 1"),
        inner.map(lambda text: f"try({text})"),
        inner.map(lambda text: f'try({text}, "id")'),
        inner.map(lambda text: f"can({text})"),
        inner.map(lambda text: f"{{a = {text}}}.a"),
        inner.map(lambda text: f"[{text}][0]"),
        inner.map(lambda text: f'join("-", ["a", {text}])'),
        inner.map(lambda text: f'contains([{text}], "a")'),
        inner.map(lambda text: f"sort(compact([{text}]))[0]"),
        inner.map(lambda text: f"concat([{text}], [1])[0]"),
    )


@given(st.recursive(references, around, max_leaves=5))
def test_nothing_makes_a_text_of_an_unknown_value(text):
    assert isinstance(value(text), UnknownValue)


def test_optional_members_of_a_variable_are_filled_in():
    types = "x = map(object({key = string, sort = optional(string), n = optional(number, 5)}))"
    constraint = hcl.parse(types, "x").settings["x"].expression
    assert converted({"t": {"key": "a"}}, constraint) == {"t": {"key": "a", "sort": None, "n": 5}}


@pytest.mark.parametrize(
    "text",
    [
        "[for a in range(10000) : range(10000)]",
        "[for a in range(10000) : [for b in range(10000) : b]][0][0]",
        "setproduct(range(1000), range(1000), range(1000))",
        'format("%999999999d", 1)',
        'indent(999999999, "a\\nb")',
        'regex("(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!")',
        'replace("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", "/((a*)*)$/", "x")',
        'join("", [for a in range(10000) : "a long text of thirty characters"])',
    ],
)
def test_the_work_of_an_expression_is_bounded(monkeypatch, text):
    monkeypatch.setattr(hcl_values, "_MOST_STEPS", 30_000)
    assert hcl_values.unknown_in(value(text)) is not None


def test_the_work_of_a_reading_is_bounded_as_a_whole(monkeypatch):
    """Locals that double each other, and scopes within scopes, draw on one account."""
    monkeypatch.setattr(hcl_values, "_MOST_STEPS", 10_000)
    work = EvaluationWork()
    texts = {"l0": '"xx"'} | {
        f"l{n}": f'"${{local.l{n - 1}}}${{local.l{n - 1}}}"' for n in range(1, 40)
    }
    parsed = {
        name: hcl.parse(f"x = {text}", "x").settings["x"].expression for name, text in texts.items()
    }
    scope = HclScope({}, lambda _, name: scope.value(parsed[name]), work=work)
    assert isinstance(scope.with_names({"a": 1}).value(parsed["l39"]), UnknownValue)
    assert work.steps < 100_000


def test_an_expression_that_needs_itself_ends():
    deep = "x = " + "(" * 30 + "var.env" + ")" * 30
    assert SCOPE.value(hcl.parse(deep, "x").settings["x"].expression) == "test"
