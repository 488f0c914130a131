"""JSON and YAML know where their values stand (ICH-5)."""

import json

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.designs.documents import parse_json, parse_yaml

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


def test_an_alias_bomb_is_read_in_bounds():
    rows = ["a0: &a0 [x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    parsed = parse_yaml("\n".join(rows), "x.yaml")
    assert len(parsed.places) < 60_000
