"""The ``cdk.out`` folder: the templates that a CDK app has synthesised (ICH-50).

Source: cloud-assembly-schema, manifest and artifacts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from emulator import files
from emulator.designs import cloudformation, declared, documents
from emulator.designs.declared import Reading
from emulator.designs.documents import Document
from emulator.service.errors import DocumentError

MANIFEST: Final = "manifest.json"
_STACK: Final = "aws:cloudformation:stack"
_NESTED_STACK: Final = "AWS::CloudFormation::Stack"
_ASSEMBLY: Final = "cdk:cloud-assembly"
_DEEPEST: Final = 5


def is_assembly(path: Path) -> bool:
    """Return whether a directory is a cloud assembly."""
    manifest = path / MANIFEST
    if not files.is_file(manifest):
        return False
    try:
        document = documents.parse_json(documents.read_text(manifest), str(manifest)).value
    except DocumentError:
        return False
    return isinstance(document, Mapping) and isinstance(document.get("artifacts"), Mapping)


def read_assembly(path: Path, parse: Callable[[Path], Document]) -> Reading:
    """Return the tables of all stacks of an assembly, of those in it and of nested stacks.

    Raises:
        DocumentError: There is none.
    """
    readings = list(_readings(path, parse, 0))
    if not readings:
        raise DocumentError(f"{path}: the assembly has no stack; run 'cdk synth' first")
    return Reading.joined(readings)


def _readings(path: Path, parse: Callable[[Path], Document], depth: int) -> Iterator[Reading]:
    manifest = parse(path / MANIFEST).value
    for artifact in manifest["artifacts"].values():
        kind = artifact.get("type") if isinstance(artifact, Mapping) else None
        properties = artifact.get("properties") or {} if kind is not None else {}
        if kind == _STACK and isinstance(properties.get("templateFile"), str):
            parameters = properties.get("parameters") or {}
            region = _region(artifact.get("environment"))
            template = path / properties["templateFile"]
            yield from _stack(template, parse, parameters, region, depth)
        elif kind == _ASSEMBLY and depth < _DEEPEST:
            inner = path / str(properties.get("directoryName"))
            if files.is_file(inner / MANIFEST):
                yield from _readings(inner, parse, depth + 1)


def _region(environment: Any) -> str | None:
    """Return the region of ``aws://account/region``, unless it is decided at deployment."""
    region = str(environment).rpartition("/")[2]
    return None if "unknown" in region or "-" not in region else region


def _stack(
    template: Path,
    parse: Callable[[Path], Document],
    parameters: Mapping[str, Any],
    region: str | None,
    depth: int,
) -> Iterator[Reading]:
    try:
        document = parse(template)
        if not cloudformation.is_template(document.value):
            return  # a stack without resources
        reading = cloudformation.read_template(document, parameters=parameters, region=region)
    except DocumentError as error:
        finding = declared.unreadable(template.name, error).at(str(template))
        yield Reading(findings=(finding,), files=(str(template),))
        return
    yield replace(reading, files=(str(template),))
    for resource in document.value["Resources"].values():
        nested = _asset_of(resource)
        if nested is not None and depth < _DEEPEST and files.is_file(template.parent / nested):
            given = cloudformation.nested_parameters(
                document, resource, parameters=parameters, region=region
            )
            yield from _stack(template.parent / nested, parse, given, region, depth + 1)


def _asset_of(resource: Any) -> str | None:
    """Return the file of a nested stack."""
    if not isinstance(resource, Mapping) or resource.get("Type") != _NESTED_STACK:
        return None
    metadata = resource.get("Metadata")
    asset = metadata.get("aws:asset:path") if isinstance(metadata, Mapping) else None
    return asset if isinstance(asset, str) else None
