"""Errors: the table of types in docs/rules/errors.md. ERR-TYPE-1 to ERR-TYPE-25."""

import re

import pytest

from emulator.service import errors
from tests.architecture.rules import RULES
from tests.each import each

ROW = re.compile(
    r'^\| <a id="err-type-\d+"></a>(ERR-TYPE-\d+) \| (.*?) \| (\d+).*? \| (.*?) \|', re.M
)
#: Any credentials are accepted, so nobody is unknown (WIR-7).
NEVER_RAISED = {"UnrecognizedClientException"}


def rows():
    """Yield rule, name, status and namespace of every type that the table lists."""
    namespace = ""
    for rule, names, status, written in ROW.findall((RULES / "errors.md").read_text()):
        namespace = namespace if written == "same" else written.split()[0]
        for name in names.partition(" (+")[0].split(", "):
            yield rule, name, int(status), namespace


@each(("rule", "name", "status", "namespace"), list(rows()))
def test_a_type_has_the_status_and_the_namespace_of_its_row(rule, name, status, namespace):
    """WIR-9: what stands before the ``#``."""
    if name in NEVER_RAISED:
        assert not hasattr(errors, name), rule
        return
    error = getattr(errors, name)("text")
    assert (error.status, error.body()["__type"]) == (status, f"{namespace}#{name}")


def test_every_error_of_the_service_model_has_a_row():
    listed = {name for _, name, _, _ in rows()}
    raised = {one.code for one in errors.ServiceError.__subclasses__()}
    assert raised <= listed


@pytest.mark.parametrize(
    ("error", "member"),
    [
        (errors.SerializationException("text"), "Message"),
        (errors.TransactionCanceledException("text"), "Message"),
        (errors.ConditionalCheckFailedException("text", {"Item": {}}), "message"),
        (errors.ConditionalCheckFailedException("text"), "message"),
        (errors.ValidationException("text"), "message"),
    ],
)
def test_the_text_stands_under_the_name_of_its_type(error, member):
    """WIR-10, ERR-TYPE-2, ERR-TYPE-9, ERR-TYPE-10."""
    assert error.body()[member] == "text"
