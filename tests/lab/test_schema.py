"""The JSON Schema of the lab file accepts what the reader accepts (ICH-110)."""

import json
from pathlib import Path

import pytest

from emulator.__main__ import main
from emulator.lab import DocumentError, schema
from emulator.lab.files import LAB_FILE, loads
from emulator.lab.inputs.documents import Entry
from emulator.lab.inputs.forms import all_records
from tests.architecture import reference
from tests.each import each
from tests.lab.test_files import BROKEN, GOOD

jsonschema = pytest.importorskip("jsonschema")
VALIDATOR = jsonschema.Draft7Validator(schema.lab_file_schema())
#: Complaints about names and bounds that depend on other places of the file.
BEYOND_A_SCHEMA = (
    *("no field", "is no parameter", "one of the fields", "exactly one of", "an item has at most"),
    *("more than the median", "never closed", "on-demand maximum", "no design is called"),
    *("did you mean", "the same for every item", "cannot answer pattern", "that a number can tell"),
    *("covers provisioned capacity only", "covers tables in one region only"),
    *("read and write are provisioned", "give read and write"),
    *("given twice", "not YAML", "found nan", "found inf", "design 'by user'", "':"),
)
RECORDS = all_records(LAB_FILE)
EXAMPLES = [
    pytest.param(member.form, member.example, id=f"{record.title}.{name}")
    for record in RECORDS
    for name, member in record.members.items()
    if member.example is not None and name != "describe_table"
]


def plain(entry):
    """Return an entry of a document as plain values."""
    if isinstance(entry.value, dict):
        return {name: plain(member) for name, member in entry.value.items()}
    if isinstance(entry.value, list):
        return [plain(member) for member in entry.value]
    return entry.value


def test_it_is_a_schema_of_draft_07():
    jsonschema.Draft7Validator.check_schema(schema.lab_file_schema())


@each("path", sorted(Path("benchmarks/key_schemes").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_scenario_is_valid(path):
    VALIDATOR.validate(plain(Entry.read(path)))


def test_what_the_reader_accepts_is_valid():
    VALIDATOR.validate(plain(Entry.parse(GOOD, "lab.yaml")))


@pytest.mark.parametrize(
    "keyless", [{}, {"tables": {"orders": {"read": 1}}}], ids=["one", "several"]
)
def test_a_table_without_a_key_is_invalid(keyless):
    document = plain(Entry.parse(GOOD, "lab.yaml"))
    document["designs"] = [{"name": "keyless"} | keyless]
    assert not VALIDATOR.is_valid(document)


@pytest.mark.parametrize(("good", "bad", "complaint"), BROKEN, ids=[bad for _, bad, _ in BROKEN])
def test_what_the_reader_refuses_is_invalid(good, bad, complaint):
    text = GOOD.replace(good, bad, 1)
    with pytest.raises(DocumentError) as error:
        loads(text)
    if any(words in str(error.value) for words in BEYOND_A_SCHEMA):
        return

    assert not VALIDATOR.is_valid(plain(Entry.parse(text, "lab.yaml")))


@each(("form", "example"), EXAMPLES)
def test_every_example_can_be_read_and_is_valid(form, example):
    form.read(Entry.of(example, "example"))
    definitions = schema.lab_file_schema()["definitions"]
    jsonschema.Draft7Validator({**form.schema, "definitions": definitions}).validate(example)


@each("record", RECORDS, ids=lambda record: record.title)
def test_every_default_is_what_its_form_accepts(record):
    for member in record.members.values():
        if member.default is not None:
            member.form.read(Entry.of(member.default, "default"))
            assert not member.required


def test_members_that_were_explained_nowhere_are_explained():
    explained = {name for record in RECORDS for name, member in record.members.items()}
    assert explained >= {
        *("changes", "selectivity", "actions", "distributions", "consistent", "recorded"),
    }
    assert all(member.about for record in RECORDS for member in record.members.values())


def test_the_command_prints_what_is_shipped_and_what_is_shipped_is_generated(capsys):
    assert main(["schema", "lab"]) == 0
    printed = capsys.readouterr().out
    assert printed == reference.schema_text(), f"stale: run {reference.COMMAND}"
    assert json.loads(printed)["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert main(["schema", "lab", "--path"]) == 0
    assert Path(capsys.readouterr().out.strip()).read_text() == printed


def test_an_unknown_schema_is_wrong_usage(capsys):
    assert main(["schema", "table"]) == 2
    assert "invalid choice: 'table'" in capsys.readouterr().err
