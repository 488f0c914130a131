"""HCL: blocks and expressions with their places, and complaints with theirs."""

from pathlib import Path

import hcl2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.designs import hcl
from emulator.designs.findings import Position
from emulator.designs.hcl_values import HclScope
from emulator.service.errors import DocumentError

PROJECTS = Path(__file__).parent / "projects"


def test_places_are_those_of_the_text():
    """ICH-5: lines and columns from 1; the end is past the last sign."""
    file = hcl.parse('\nresource "a" "b" {\n  key = "x"\n\n  inner {}\n}\n', "main.tf")
    [block] = file.of("resource", "a")
    assert block.labels == ("a", "b")
    assert block.position == Position(2, 1, 6, 2)
    assert block.settings["key"].position == Position(3, 3, 3, 12)
    assert block.blocks[0].position == Position(5, 3, 5, 11)


BROKEN = {
    "no value": ("a = \nb = 1", ":1: not Terraform: expected a value, found the end of the line"),
    "open text": ('a = "x\n', ":1: not Terraform: expected a closing quote, found the end of the"),
    "open block": ("\nx {\n", ":3: not Terraform: expected '}', found the end of the line"),
    "open list": ("a = [1,\n", ":2: not Terraform: expected a value, found the end of the line"),
    "two names": ("a b = 2", ":1: not Terraform: expected '=' or '{', found '= 2'"),
    "braces": ("}{", ":1: not Terraform: expected an argument or a block, found '}{'"),
    "two values": ("a = 1 2", ":1: not Terraform: expected the end of the line, found '2'"),
    "open heredoc": ("a = <<E\nx", ":1: not Terraform: expected a line 'E' that ends the text"),
    "bad escape": (r'a = "\x"', r":1: not Terraform: expected an escape such as \n, found "),
    "deep": ("a = " + "[" * 3000, ":1: nested too deeply"),
}


@pytest.mark.parametrize(("text", "complaint"), BROKEN.values(), ids=BROKEN)
def test_what_is_not_hcl_is_one_sentence_with_its_line(text, complaint):
    with pytest.raises(DocumentError) as caught:
        hcl.parse(text, "main.tf")
    assert str(caught.value).startswith(f"main.tf{complaint}")
    assert "\n" not in str(caught.value)


SIGNS = ["a", '"', "{", "}", "[", "]", "(", ")", "=", "\n", " ", "${", ".", "?", ":", "*", "for "]


@given(
    st.lists(st.sampled_from([*SIGNS, "<<E\n", "#", "/*", "1", ",", "-", "!", "\\", "in ", "%{"]))
)
def test_any_text_is_read_or_refused(signs):
    try:
        hcl.parse("".join(signs), "main.tf")
    except DocumentError as error:
        assert str(error).startswith("main.tf:")


def unquoted(node):
    """Return what python-hcl2 reads without the quotes that it keeps."""
    if isinstance(node, dict):
        return {unquoted(name): unquoted(child) for name, child in node.items()}
    if isinstance(node, list):
        return [unquoted(child) for child in node]
    if isinstance(node, str) and len(node) > 1 and node[0] == node[-1] == '"':
        return node[1:-1]
    return node


def constants(block):
    """Yield names and values of all that needs no scope, at any depth."""
    for name, setting in block.settings.items():
        if isinstance(setting.expression, hcl.HclLiteral | hcl.Template):
            yield name, HclScope({}).value(setting.expression)
    for inner in block.blocks:
        yield from constants(inner)


def named(node):
    """Yield the same of what python-hcl2 read."""
    for name, child in node.items():
        if isinstance(child, dict):
            yield from named(child)
        elif isinstance(child, list):
            for element in child:
                if isinstance(element, dict):
                    yield from named(element)
        else:
            yield name, child


@pytest.mark.parametrize("path", sorted(PROJECTS.rglob("*.tf")), ids=lambda path: path.parent.name)
def test_constants_are_those_that_another_parser_reads(path):
    text = path.read_text(encoding="utf-8")
    others = list(named(unquoted(hcl2.loads(text))))
    for constant in constants(hcl.parse(text, str(path))):
        if isinstance(constant[1], str | int | bool):
            assert constant in others
