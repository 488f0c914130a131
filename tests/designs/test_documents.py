"""JSON and YAML know where their values stand (ICH-5)."""

import json

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.designs import hcl
from emulator.designs.documents import (
    MOST_BYTES,
    parse_json,
    parse_json_values,
    parse_yaml,
    read_text,
)
from emulator.service.errors import DocumentError

documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)


def at(value, path):
    for step in path:
        value = value[step]
    return value


@settings(max_examples=30)
@given(documents, st.sampled_from([None, 1]))
def test_the_text_at_a_place_of_json_is_the_value(document, indent):
    text = json.dumps(document, indent=indent)
    lines = text.split("\n")
    parsed = parse_json(text, "x.json")
    assert parsed.value == document
    for path, (line, column, end_line, end_column) in parsed.places.items():
        inside = lines[line - 1 : end_line]
        inside[-1] = inside[-1][: end_column - 1]
        found = "\n".join(inside)[column - 1 :]
        if path and isinstance(path[-1], str):
            found = found[len(json.dumps(path[-1])) :].lstrip().removeprefix(":")
        assert json.loads(found) == at(document, path)


@settings(max_examples=20)
@given(documents)
def test_every_value_of_yaml_has_a_place(document):
    parsed = parse_yaml(yaml.safe_dump(document), "x.yaml")
    assert parsed.value == document
    assert () in parsed.places
    for path in parsed.places:
        at(document, path)


def bomb(rows):
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, rows)]
    return "\n".join(lines)


def test_many_aliases_are_read_in_bounds():
    assert len(parse_yaml(bomb(6), "x.yaml").places) < 60_000


def test_aliases_that_unfold_too_far_are_one_sentence():
    with pytest.raises(DocumentError, match=r"^x\.yaml: its aliases unfold too far$"):
        parse_yaml(bomb(9), "x.yaml")


@pytest.mark.parametrize("text", ["a: &a {b: *a}", "a: &a [*a, *a]"])
def test_an_alias_without_an_end_is_one_sentence(text):
    with pytest.raises(DocumentError, match=r"^x\.yaml:1: an alias refers to what it is in$"):
        parse_yaml(text, "x.yaml")


def test_levels_are_counted_with_aliases_unfolded():
    """ICH-6."""
    halves = "a: &a {levels}\nb: {more}".format
    for more in (48, 49):
        text = halves(levels="[" * 50 + "]" * 50, more="[" * more + "*a" + "]" * more)
        assert parse_yaml(text, "x.yaml").value["b"]
    text = halves(levels="[" * 50 + "]" * 50, more="[" * 50 + "*a" + "]" * 50)
    with pytest.raises(DocumentError, match=r"^x\.yaml:1: nested too deeply: at most 100 levels$"):
        parse_yaml(text, "x.yaml")


def brackets(depth, inner=""):
    return "[" * depth + inner + "]" * depth


DEEP = {
    "JSON": lambda depth: parse_json(brackets(depth), "x"),
    "JSON in objects": lambda depth: parse_json('{"a":' * depth + "1" + "}" * depth, "x"),
    "values one after another": lambda depth: parse_json_values(f"1 {brackets(depth)}", "x"),
    "YAML": lambda depth: parse_yaml(brackets(depth), "x"),
    "YAML with a value": lambda depth: parse_yaml(brackets(depth, "1"), "x"),
    "blocks of YAML": lambda depth: parse_yaml("- " * depth + "1", "x"),
    "objects of YAML": lambda depth: parse_yaml("{a: " * depth + "1" + "}" * depth, "x"),
    "intrinsics": lambda depth: parse_yaml("!Join " + brackets(depth, "1"), "x"),
    "HCL": lambda depth: hcl.parse(f"a = {brackets(depth, '1')}", "x"),
    "HCL in parentheses": lambda depth: hcl.parse("a = " + "(" * depth + "1" + ")" * depth, "x"),
    "objects of HCL": lambda depth: hcl.parse("a = " + "{b = " * depth + "1" + "}" * depth, "x"),
    "calls of HCL": lambda depth: hcl.parse("a = " + "f(" * depth + "1" + ")" * depth, "x"),
    "indexes of HCL": lambda depth: hcl.parse("a = " + "b[" * depth + "1" + "]" * depth, "x"),
    "texts of HCL": lambda depth: hcl.parse("a = " + '"${' * depth + "1" + '}"' * depth, "x"),
    "signs of HCL": lambda depth: hcl.parse("a = " + "!" * depth + "b", "x"),
    "choices of HCL": lambda depth: hcl.parse("a = " + "b ? c : " * depth + "d", "x"),
    "blocks of HCL": lambda depth: hcl.parse("a {\n" * depth + "}\n" * depth, "x"),
    "texts of Terraform's JSON": lambda depth: hcl.parse_template(
        f"${{{brackets(depth - 1)}}}", "x"
    ),
}


@pytest.mark.parametrize("parse", DEEP.values(), ids=DEEP)
def test_a_text_is_nested_a_hundred_levels_deep_and_no_deeper(parse):
    """ICH-6: looked at before anything takes long or runs out of stack."""
    parse(100)
    for depth in (101, 20_000):
        with pytest.raises(DocumentError, match=r"^x:\d+: nested too deeply: at most 100 levels$"):
            parse(depth)


def test_brackets_in_texts_of_json_are_no_levels():
    """ICH-6."""
    text = json.dumps(["[" * 500, '\\"[' * 500])
    assert parse_json(text, "x").value == json.loads(text)


def test_a_long_row_of_json_values_takes_time_by_its_length():
    assert len(parse_json_values("1 " * 50_000, "x").value) == 50_000


def test_a_design_has_a_largest_size(tmp_path):
    """ICH-6."""
    path = tmp_path / "x.json"
    path.write_bytes(b" " * MOST_BYTES)
    assert len(read_text(path)) == MOST_BYTES
    path.write_bytes(b" " * MOST_BYTES + b"1")
    with pytest.raises(DocumentError, match=r"a design or lab file has at most 10,000,000 bytes$"):
        read_text(path)


def test_values_of_json_one_after_another_are_a_list():
    parsed = parse_json_values('{"a": 1}\n{\n "a": 2}\n', "x.json")
    assert parsed.value == [{"a": 1}, {"a": 2}]
    assert [parsed.position((number, "a")).line for number in (0, 1)] == [1, 3]
    for text in ('{"a": 1} {', '{"a": 1} x', ""):
        with pytest.raises(DocumentError, match="not JSON"):
            parse_json_values(text, "x.json")
