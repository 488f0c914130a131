"""Which reader a file or directory belongs to: by its members, not by its name (ICH-1)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from emulator import files
from emulator.designs import (
    cdk,
    cloudformation,
    declared,
    documents,
    ignores,
    models,
    serverless,
    terraform,
    terraform_plan,
    workbench,
)
from emulator.designs.declared import (
    DeclaredTable,
    NothingDeclaredError,
    Reading,
    expecting,
)
from emulator.designs.documents import MOST_BYTES, Document, read_text
from emulator.service.errors import DocumentError

KINDS: Final = (
    "expected Terraform (.tf) or its plan as JSON, a CloudFormation template, serverless.yml, a "
    "cdk.out folder, a NoSQL Workbench or data model, the output of describe-table, or "
    "CreateTable requests"
)
#: Directories that hold no design of the project's own.
_SKIPPED: Final = frozenset(
    {"node_modules", "venv", "site-packages", "__pycache__", "dist", "build"}
)
#: A file of a directory is looked at if one of these is in it.
_MARKS: Final = (
    "AWS::DynamoDB",
    "AWS::Serverless::SimpleTable",
    "aws_dynamodb_table",
    '"KeySchema"',
    '"DataModel"',
    '"KeyAttributes"',
    '"access_patterns"',
)


class UnknownKindError(DocumentError):
    """A document that is no design; in a folder there are many, and nothing is wrong with them."""


def read_design(path: Path) -> Reading:
    """Return the design of a file, or of all files in a directory and below.

    Raises:
        DocumentError: The file cannot be read; of a directory, there is nothing to read.
    """
    if not path.exists():
        raise DocumentError(f"{path}: cannot be read: No such file or directory")
    if files.is_folder(path):
        return _read_directory(path)
    return _read_file(path)


def declares_tables(path: Path) -> bool:
    """Return whether a path is a design by its kind, and no file that has a load of its own.

    A lab file has ``workload`` or ``designs``, and some data models have access patterns.
    """
    if not path.exists() or files.is_folder(path) or terraform.is_terraform(path):
        return path.exists()
    if _OF_LAB_FILES.search(read_text(path)):
        return False
    value = parse(path).value
    if models.is_toolkit_model(value) or models.is_performance_input(value):
        return False
    is_kind = any(is_kind(value) for is_kind, _ in _READERS)
    return is_kind or path.suffix.lower() == ".json"


#: The first members of a lab file, which no design has.
_OF_LAB_FILES: Final = re.compile(r"""^(?:\{ *)?["']?(?:workload|designs)["']? *:""", re.MULTILINE)


def _read_file(path: Path) -> Reading:
    if terraform.is_terraform(path):
        return terraform.read_terraform([path])
    return read_document(parse(path))


def parse(path: Path) -> Document:
    """Read a file as JSON or YAML.

    Raises:
        DocumentError: It cannot be read, or is of another kind.
    """
    reader = _PARSERS.get(path.suffix.lower())
    if reader is None:
        raise DocumentError(f"{path}: unknown kind of file; {KINDS}")
    return reader(read_text(path), str(path))


def _template(text: str, source: str) -> Document:
    is_json = text.lstrip()[:1] == "{"
    return (documents.parse_json if is_json else documents.parse_yaml)(text, source)


_PARSERS: Final[dict[str, Callable[[str, str], Document]]] = {
    ".json": documents.parse_json_values,
    ".template": _template,
    ".yaml": documents.parse_yaml,
    ".yml": documents.parse_yaml,
}


def read_document(document: Document) -> Reading:
    """Return the design that a document declares.

    Raises:
        DocumentError: It is of no known kind.
    """
    comments = () if document.source.endswith(".json") else _comments(document)
    for is_kind, read in _READERS:
        if is_kind(document.value):
            reading = read(document)
            break
    else:
        reading = _descriptions(document)
    return replace(
        reading,
        files=tuple(dict.fromkeys((document.source, *reading.files))),
        ignores=(*reading.ignores, *comments),
    )


def _comments(document: Document) -> Iterator[ignores.Ignore]:
    return ignores.in_text(document.text, document.source)


_READERS: Final[tuple[tuple[Callable[[Any], bool], Callable[[Document], Reading]], ...]] = (
    (cloudformation.is_template, cloudformation.read_template),
    (serverless.is_service, serverless.read_service),
    (terraform_plan.is_plan, terraform_plan.read_plan),
    (workbench.is_model, workbench.read_model),
    (models.is_toolkit_model, models.read_toolkit_model),
    (models.is_server_model, models.read_server_model),
    (models.is_performance_input, models.read_performance_input),
)


def _descriptions(document: Document) -> Reading:
    """Return the tables of descriptions and CreateTable requests, one or a list (ICH-3)."""
    if not isinstance(document.value, list):
        return Reading(tables=(_description(document, document.value, ()),))
    tables: list[DeclaredTable] = []
    failures: list[tuple[int, DocumentError]] = []
    for number, element in enumerate(document.value):
        try:
            tables.append(_description(document, element, (number,)))
        except DocumentError as error:
            failures.append((number, error))
    if failures and not tables:
        raise failures[0][1]
    findings = (
        declared.unreadable(f"[{number}]", "expected a table's description with its KeySchema").at(
            document.source, document.position((number,))
        )
        for number, _ in failures
    )
    return Reading(tables=tuple(tables), findings=tuple(findings))


#: What looks like a design and is none, by its members.
_NEARLY: Final = (
    ({"version", "artifacts"}, "the manifest of a cloud assembly; give its folder"),
    ({"TableNames"}, "it has names only; give what 'aws dynamodb describe-table' prints"),
    (
        {"terraform_version", "lineage"},
        "a state as Terraform keeps it; give what 'terraform show -json' prints",
    ),
)


def _description(document: Document, value: Any, path: documents.Path) -> DeclaredTable:
    source = document.source
    if not isinstance(value, Mapping):
        raise UnknownKindError(f"{source}: {KINDS}")
    member = next((name for name in ("Table", "TableDescription") if name in value), None)
    described = value if member is None else value[member]
    if not isinstance(described, Mapping) or "KeySchema" not in described:
        hints = (hint for members, hint in _NEARLY if members <= set(value))
        raise UnknownKindError(f"{source}: {next(hints, KINDS)}")
    with expecting(source, "a table's description or a CreateTable request"):
        request = declared.from_description(described)
        places = dict(
            declared.request_places(document, (*path, member) if member else path, described)
        )
    name = str(request.get("TableName", source))
    return DeclaredTable(resource=name, request=request, file=source, places=places)


# Directories


def _read_directory(path: Path) -> Reading:
    """Read a directory; what cannot be read there is reported, and the rest goes on (ICH-3)."""
    if cdk.is_assembly(path):
        return cdk.read_assembly(path, parse)
    readings: list[Reading] = []
    failures: list[Reading] = []
    for read in _pieces(path):
        try:
            readings.append(read())
        except UnknownKindError:  # a schema, a policy: it only mentions a table
            continue
        except DocumentError as error:
            failures.append(_failure(path, error))
    if not readings:
        if failures:
            raise DocumentError(failures[0].findings[0].message.removeprefix(_CANNOT))
        raise NothingDeclaredError(path)
    return Reading.joined([*_without_included(readings), *failures])


def _without_included(readings: list[Reading]) -> Iterator[Reading]:
    """Yield readings but those of files that another one includes, as serverless.yml may."""
    included = {file for reading in readings for file in reading.files[1:]}
    for reading in readings:
        if len(set(reading.files)) > 1 or not included.issuperset(reading.files):
            yield reading


_CANNOT: Final = "It cannot be read: "


def _failure(path: Path, error: DocumentError) -> Reading:
    file, _, rest = str(error).partition(":")
    line, _, _ = rest.partition(":")
    finding = declared.unreadable(file or str(path), error)
    from emulator.designs.findings import Position

    position = Position(int(line)) if line.isdecimal() else None
    return Reading(findings=(finding.at(file, position),), files=(file,))


def _pieces(path: Path) -> Iterator[Callable[[], Reading]]:
    """Yield what reads each Terraform directory and each other design, from here downwards."""
    folders = list(_folders(path))
    used = {
        module.resolve()
        for folder in folders
        for file in files.list_folder(folder)
        if terraform.is_terraform(file)
        for module in terraform.local_modules(file)
    }
    for folder in folders:
        if cdk.is_assembly(folder):
            yield lambda folder=folder: cdk.read_assembly(folder, parse)  # type: ignore[misc]
            continue
        members = [file for file in files.list_folder(folder) if not files.is_folder(file)]
        sources = [file for file in members if terraform.is_terraform(file)]
        if folder.resolve() not in used:
            yield from _terraform_pieces(sources)
        for file in members:
            if file not in sources and _looks_like_design(file):
                yield lambda file=file: _read_file(file)  # type: ignore[misc]


def _terraform_pieces(sources: list[Path]) -> Iterator[Callable[[], Reading]]:
    """Yield one reader for the files that can be parsed, and one for each that cannot."""
    sound = []
    for source in sources:
        try:
            terraform.parse(source)
            sound.append(source)
        except DocumentError:
            yield lambda source=source: terraform.read_terraform([source])  # type: ignore[misc]
    if sound:
        yield lambda: terraform.read_terraform(sound)


def design_files(path: Path) -> Iterator[Path]:
    """Yield the files below a folder that may declare tables, by their names alone."""
    for folder in _folders(path):
        for file in files.list_folder(folder):
            may_be = file.suffix.lower() in _PARSERS or terraform.is_terraform(file)
            if may_be and files.is_file(file):
                yield file


def _folders(path: Path) -> Iterator[Path]:
    yield path
    if cdk.is_assembly(path):
        return
    for child in files.list_folder(path):
        hidden = child.name.startswith(".") or child.name in _SKIPPED
        if child.is_dir() and not child.is_symlink() and not hidden:
            yield from _folders(child)


def _looks_like_design(path: Path) -> bool:
    """Return whether a file mentions tables; one that is no design may be of any size and kind."""
    if path.suffix.lower() not in _PARSERS or not files.is_file(path):
        return False
    with files.open_file(path) as file:
        text = file.read(MOST_BYTES)
    return any(mark.encode() in text for mark in _MARKS)
