"""JSON and YAML know where their values stand (ICH-5)."""

import json

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.designs.documents import parse_json, parse_json_values, parse_yaml
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


@pytest.mark.parametrize("text", [bomb(9), "a: &a {b: *a}", "a: &a [*a, *a]"])
def test_aliases_without_an_end_are_one_sentence(text):
    with pytest.raises(
        DocumentError, match=r"^x\.yaml: its aliases refer to themselves, or unfold"
    ):
        parse_yaml(text, "x.yaml")


def test_values_of_json_one_after_another_are_a_list():
    parsed = parse_json_values('{"a": 1}\n{\n "a": 2}\n', "x.json")
    assert parsed.value == [{"a": 1}, {"a": 2}]
    assert [parsed.position((number, "a")).line for number in (0, 1)] == [1, 3]
    for text in ('{"a": 1} {', '{"a": 1} x', ""):
        with pytest.raises(DocumentError, match="not JSON"):
            parse_json_values(text, "x.json")
