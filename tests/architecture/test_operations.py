"""Every operation is where the table says, and nowhere else."""

import ast
from pathlib import Path

import pytest

import emulator.operations
from emulator.operations import find
from emulator.service.catalogue import OPERATIONS
from tests.architecture.unnamed import UNNAMED, answers_of, named

ROOM = Path(emulator.operations.__file__).parent


def registered():
    """Return each name given to @operation(...), with the file it stands in."""
    found = {}
    for path in ROOM.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "operation"
                and isinstance(node.args[0], ast.Constant)
            ):
                home = path.relative_to(ROOM).with_suffix("")
                found[node.args[0].value] = ".".join(home.parts)
    return found


def test_the_catalogue_says_where_operations_are_registered():
    assert registered() == {name: row.module for name, row in OPERATIONS.items()}


def test_every_operation_loads():
    assert all(find(name).name == name for name in OPERATIONS)


def test_what_is_never_named_is_listed():
    """An older botocore has fewer of them."""
    session = pytest.importorskip("botocore.session").get_session()
    models = map(session.get_service_model, ("dynamodb", "dynamodbstreams"))
    known = frozenset().union(*map(answers_of, models))
    listed = {
        (shape, name) for part in UNNAMED for shape, names in part.members.items() for name in names
    }
    assert {each for each in known if each[1] not in named()} == listed & known
