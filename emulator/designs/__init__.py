"""Design files: the tables that a project's own infrastructure code declares.

Read are Terraform (``.tf``, ``.tf.json``), CloudFormation and SAM (YAML or JSON), NoSQL
Workbench models, and what ``aws dynamodb describe-table`` prints; plain CreateTable requests
too. All of them become CreateTable requests, which the engine judges as it judges any other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from emulator.designs import cloudformation, workbench
from emulator.designs.declared import (
    NEEDS,
    DeclaredTable,
    expecting,
    from_description,
    read_text,
)
from emulator.designs.findings import Finding, Severity
from emulator.designs.terraform import read_terraform
from emulator.service.errors import DocumentError

__all__ = ["DeclaredTable", "Finding", "Severity", "create_table_requests", "read_tables"]

_KINDS: Final = (
    "expected Terraform (.tf), a CloudFormation template, a NoSQL Workbench model, "
    "the output of describe-table, or CreateTable requests"
)


def create_table_requests(path: str | Path) -> list[dict[str, Any]]:
    """Return the CreateTable requests of the tables that a file declares, in its order.

    Raises:
        DocumentError: The file cannot be read, or declares no table; the message says where.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as directory:
    ...     path = Path(directory, "main.tf")
    ...     _ = path.write_text('''
    ...         resource "aws_dynamodb_table" "events" {
    ...           name         = "events"
    ...           billing_mode = "PAY_PER_REQUEST"
    ...           hash_key     = "deviceId"
    ...           attribute {
    ...             name = "deviceId"
    ...             type = "S"
    ...           }
    ...         }
    ...     ''')
    ...     [request] = create_table_requests(path)
    >>> request["KeySchema"]
    [{'AttributeName': 'deviceId', 'KeyType': 'HASH'}]
    """
    return [table.request for table in read_tables(path)]


def read_tables(path: str | Path) -> list[DeclaredTable]:
    """Return the tables that a file declares, or all Terraform files of a directory.

    Raises:
        DocumentError: The file cannot be read, or declares no table; the message says where.
    """
    path = Path(path)
    if not path.exists():
        raise DocumentError(f"{path}: cannot be read: No such file or directory")
    sources = sorted(path.glob("*.tf")) if path.is_dir() else [path]
    tables = [table for source in sources for table in _read(source)]
    if not tables:
        raise DocumentError(f"{path}: no DynamoDB table is declared in it")
    return tables


def _read(path: Path) -> list[DeclaredTable]:
    if path.suffix == ".tf" or path.name.endswith(".tf.json"):
        return read_terraform(path)
    parse = _PARSERS.get(path.suffix.lower())
    if parse is None:
        raise DocumentError(f"{path}: unknown kind of file; {_KINDS}")
    return list(_tables(parse(read_text(path), str(path)), str(path)))


def _json(text: str, source: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise DocumentError(f"{source}:{error.lineno}: not JSON: {error.msg}") from error
    except RecursionError as error:
        raise DocumentError(f"{source}: nested too deeply") from error


def _yaml(text: str, source: str) -> Any:
    """Read YAML in which ``!Ref x`` stands for ``{"Ref": x}``, as in CloudFormation."""
    try:
        import yaml
    except ModuleNotFoundError as missing:
        raise DocumentError(NEEDS.format(path=source, module=missing.name)) from None

    class Loader(yaml.SafeLoader):
        """YAML with short intrinsic functions."""

    def intrinsic(loader: Any, suffix: str, node: Any) -> Any:
        name = suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}"
        if node.id == "scalar":
            return {name: loader.construct_scalar(node)}
        construct = loader.construct_sequence if node.id == "sequence" else loader.construct_mapping
        return {name: construct(node, deep=True)}

    Loader.add_multi_constructor("!", intrinsic)
    try:
        return yaml.load(text, Loader)
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark is not None else ""
        raise DocumentError(f"{source}{line}: not YAML: {error.problem}") from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise DocumentError(f"{source}: not YAML: {str(error).splitlines()[0]}") from error


_PARSERS: Final[dict[str, Callable[[str, str], Any]]] = {
    ".json": _json,
    ".template": lambda text, source: (_json if text.lstrip()[:1] == "{" else _yaml)(text, source),
    ".yaml": _yaml,
    ".yml": _yaml,
}


def _tables(document: Any, source: str) -> Iterator[DeclaredTable]:
    if cloudformation.is_template(document):
        yield from cloudformation.read_template(document, source)
    elif workbench.is_model(document):
        yield from workbench.read_model(document, source)
    elif isinstance(document, list):
        for element in document:
            yield from _tables(element, source)
    elif isinstance(document, dict):
        described = document.get("Table", document.get("TableDescription", document))
        if not isinstance(described, dict) or "KeySchema" not in described:
            raise DocumentError(f"{source}: {_KINDS}")
        with expecting(source, "a table's description or a CreateTable request"):
            request = from_description(described)
        yield DeclaredTable(resource=str(request.get("TableName", source)), request=request)
    else:
        raise DocumentError(f"{source}: {_KINDS}")
