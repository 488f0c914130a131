"""The Serverless Framework: CloudFormation resources inside ``serverless.yml`` (ICH-51).

Source: Serverless Framework documentation, variables and resources.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from emulator.designs import cloudformation, declared
from emulator.designs.declared import Reading
from emulator.designs.documents import Document, parse_json, parse_yaml, read_text
from emulator.designs.documents import Path as DocumentPath
from emulator.designs.event_sources import DeclaredSource, declared_source, stream_of
from emulator.service.errors import DocumentError

#: The stage when nobody says another.
DEFAULT_STAGE: Final = "dev"
_VARIABLE: Final = re.compile(r"\$\{((?:self|opt|sls|env|param|file)\b[^${}]*)\}")
_FILE: Final = re.compile(r"file\(([^)]+)\)(?::(.+))?")
_ROUNDS: Final = 10


def is_service(document: Any) -> bool:
    """Return whether a document has the form of ``serverless.yml``."""
    if not isinstance(document, Mapping) or "service" not in document:
        return False
    provider = document.get("provider")
    return provider == "aws" or (isinstance(provider, Mapping) and provider.get("name") == "aws")


def read_service(document: Document) -> Reading:
    """Return the tables among a service's resources, and in files that they include."""
    variables = _Variables(document)
    readings: list[Reading] = []
    for path, template in _templates(document):
        try:
            documents = list(_resource_documents(document, path, template))
            readings += [_read_resources(resources, variables) for resources in documents]
        except DocumentError as error:
            finding = declared.unreadable(".".join(map(str, path)), error)
            finding = finding.at(document.source, document.position(path))
            readings.append(Reading(findings=(finding,)))
    functions = variables.filled(document.value.get("functions"))
    return Reading.joined([*readings, Reading(sources=tuple(_sources(functions)))])


def _sources(functions: Any) -> Iterator[DeclaredSource]:
    """Yield the functions that get a table's stream."""
    for name, function in functions.items() if isinstance(functions, Mapping) else ():
        events = function.get("events") if isinstance(function, Mapping) else None
        for event in events if isinstance(events, list) else ():
            stream = event.get("stream") if isinstance(event, Mapping) else None
            written = stream if isinstance(stream, Mapping) else {"arn": stream}
            table = stream_of(written.get("arn"))
            yield from declared_source((function.get("name"), name), table, written)


def _templates(document: Document) -> Iterator[tuple[DocumentPath, Any]]:
    """Yield the templates of a service, with where they stand; there may be one or a list."""
    resources = document.value.get("resources")
    if not isinstance(resources, list):
        yield ("resources",), resources
        return
    for number, template in enumerate(resources):
        yield ("resources", number), template


def _resource_documents(
    document: Document, path: DocumentPath, template: Any
) -> Iterator[Document]:
    """Yield the resources of a template, with the places of their own file."""
    if isinstance(template, str):
        yield from _included(document, template)
    elif isinstance(template, Mapping) and isinstance(template.get("Resources"), str):
        for inner in _included(document, template["Resources"]):
            yield inner.under("Resources")
    elif isinstance(template, Mapping):
        yield document.below(path)


def _included(document: Document, text: str) -> Iterator[Document]:
    variable = _VARIABLE.fullmatch(text.strip())
    file = _FILE.fullmatch(variable[1].strip()) if variable is not None else None
    if file is None:
        return
    path = Path(document.source).parent / file[1].strip()
    parse = parse_json if path.suffix == ".json" else parse_yaml
    inner = parse(read_text(path), str(path))
    yield inner.below(tuple(file[2].split("."))) if file[2] else inner


def _read_resources(document: Document, variables: _Variables) -> Reading:
    filled = Document(
        variables.filled(document.value), document.source, document.text, document.places
    )
    if not cloudformation.is_template(filled.value):
        return Reading()
    reading = cloudformation.read_template(filled)
    return replace(reading, files=(document.source,))


class _Variables:
    """What ``${...}`` stands for; what is not known stays as it is, and is no key."""

    def __init__(self, document: Document) -> None:
        self._document = document

    def filled(self, node: Any) -> Any:
        """Return a value with the variables in it replaced."""
        if isinstance(node, list):
            return [self.filled(child) for child in node]
        if isinstance(node, Mapping):
            return {name: self.filled(child) for name, child in node.items()}
        for _ in range(_ROUNDS):
            if not isinstance(node, str):
                return self.filled(node) if isinstance(node, list | Mapping) else node
            whole = _VARIABLE.fullmatch(node)
            if whole is not None:
                value = self._value(whole[1])
                if value is None:
                    return node
                node = value
                continue
            after = _VARIABLE.sub(self._replacement, node)
            if after == node:
                return node
            node = after
        return node

    def _replacement(self, match: re.Match[str]) -> str:
        value = self._value(match[1])
        return match[0] if value is None or isinstance(value, list | Mapping) else str(value)

    def _value(self, sources: str) -> Any:
        """Return the first of several sources that has a value."""
        for source in re.split(r",\s*(?=(?:[^']*'[^']*')*[^']*$)", sources):
            value = self._of(source.strip())
            if value is not None:
                return value
        return None

    def _of(self, source: str) -> Any:
        quoted = re.fullmatch(r"'([^']*)'|\"([^\"]*)\"", source)
        if quoted is not None:
            return quoted[1] if quoted[1] is not None else quoted[2]
        if source in ("true", "false"):
            return source == "true"
        if re.fullmatch(r"-?\d+(\.\d+)?", source):
            return float(source) if "." in source else int(source)
        kind, _, name = source.partition(":")
        if kind == "self":
            return self._member(name)
        if kind == "sls" and name == "stage":
            return self._stage()
        if kind == "param":
            return self._parameter(name)
        if kind == "env":
            return os.environ.get(name)
        if source.startswith("file("):
            return self._file(source)
        return None if ":" in source else source  # what an inner variable left behind

    def _stage(self) -> Any:
        provider = self._document.value.get("provider")
        stage = provider.get("stage") if isinstance(provider, Mapping) else None
        known = self.filled(stage) if stage is not None and "sls:stage" not in str(stage) else None
        return known if isinstance(known, str) and "${" not in known else DEFAULT_STAGE

    def _parameter(self, name: str) -> Any:
        """Return a parameter of the stage, or what it is by default, in the form of 3 or 4."""
        stage = self._stage()
        for path in (f"params.{stage}", f"stages.{stage}.params"):
            for where in (path, path.replace(stage, "default")):
                value = self._member(f"{where}.{name}")
                if value is not None:
                    return value
        return None

    def _member(self, name: str) -> Any:
        value: Any = self._document.value
        for step in name.split(".") if name else ():
            if isinstance(value, str):
                value = self.filled(value)
            if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
                value = value[int(step)]
            elif isinstance(value, Mapping):
                value = value.get(step)
            else:
                return None
        if name == "provider.stage" and value is None:
            return DEFAULT_STAGE
        return value

    def _file(self, source: str) -> Any:
        try:
            [inner] = _included(self._document, f"${{{source}}}")
        except (DocumentError, ValueError):
            return None
        return inner.value
