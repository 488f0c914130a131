"""``terraform show -json``: the tables of a plan or of a state (ICH-40, ICH-41).

Source: Terraform, JSON output format.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from emulator.designs import declared
from emulator.designs.declared import DeclaredTable, Reading, UndecidedError, expecting
from emulator.designs.documents import Document, Path
from emulator.designs.event_sources import (
    DeclaredSource,
    declared_source,
    logical_name,
    table_of_arn,
)
from emulator.designs.findings import Finding
from emulator.designs.hcl_values import UnknownValue
from emulator.designs.terraform_table import Body, table_of, with_index
from emulator.service.errors import DocumentError

_TABLE: Final = "aws_dynamodb_table"
_TARGET: Final = "aws_appautoscaling_target"
_POLICY: Final = "aws_appautoscaling_policy"
_INDEX: Final = "aws_dynamodb_global_secondary_index"
_VERSIONS: Final = ("0", "1")
_APPLY_FIRST: Final = "Give it a value that is known before Terraform runs."


def is_plan(document: Any) -> bool:
    """Return whether a document is a plan or a state."""
    return (
        isinstance(document, Mapping)
        and "format_version" in document
        and ("planned_values" in document or "values" in document)
    )


def read_plan(document: Document) -> Reading:
    """Return the tables that a plan leads to, or a state has.

    Raises:
        DocumentError: Its format is of a version that is not known, or it has no resources.
    """
    plan = document.value
    version = str(plan["format_version"]).partition(".")[0]
    if version not in _VERSIONS:
        raise DocumentError(
            f"{document.source}: format_version {plan['format_version']} is not known; "
            "expected 0.x or 1.x"
        )
    member = "planned_values" if "planned_values" in plan else "values"
    with expecting(f"{document.source}: {member}", "a root_module with resources"):
        root = (plan[member] or {}).get("root_module") or {}
        resources = list(_resources(root, (member, "root_module")))
        unknown = dict(_unknown_values(plan))
        readings = [
            _table(document, path, resource, unknown.get(str(resource.get("address"))))
            for path, resource in resources
            if resource.get("type") == _TABLE and resource.get("mode", "managed") == "managed"
        ]
        reading = Reading.joined([*readings, Reading(findings=tuple(_replaced(document)))])
        kinds = _Beside(
            {**resource, "values": _with_unknown(resource.get("values"), unknown.get(address))}
            for _, resource in resources
            for address in (str(resource.get("address")),)
        )
    tables = tuple(kinds.completed(table) for table in reading.tables)
    reading = replace(reading, sources=tuple(kinds.sources()))
    strays = (finding.at(document.source) for finding in kinds.strays())
    return replace(reading, tables=tables, findings=(*reading.findings, *strays))


def _resources(module: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield every resource of a module and of those in it."""
    for number, resource in enumerate(module.get("resources") or ()):
        yield (*path, "resources", number), resource
    for number, child in enumerate(module.get("child_modules") or ()):
        yield from _resources(child, (*path, "child_modules", number))


def _unknown_values(plan: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield by address what is known only after Terraform ran."""
    for change in plan.get("resource_changes") or ():
        after = (change.get("change") or {}).get("after_unknown")
        if isinstance(after, Mapping):
            yield str(change.get("address")), after


def _table(document: Document, path: Path, resource: Mapping[str, Any], unknown: Any) -> Reading:
    address = str(resource.get("address"))
    position = document.position((*path, "values"))
    try:
        with expecting("", "the values of a table"):
            values = _with_unknown(resource["values"], unknown)
            table = table_of(address, values, document.source)
            places = {("", ""): position, **dict(_places(document, (*path, "values"), values))}
    except UndecidedError as error:
        finding = declared.undecided(address, error, _APPLY_FIRST)
        return Reading(findings=(finding.at(document.source, position),))
    except DocumentError as error:
        finding = declared.unreadable(address, error)
        return Reading(findings=(finding.at(document.source, position),))
    return Reading(tables=(replace(table, places=places),))


def _with_unknown(value: Any, unknown: Any) -> Any:
    """Return a value in which everything is unknown that the plan marks so."""
    if unknown is True:
        return UnknownValue("known only after terraform apply")
    if isinstance(value, Mapping) and isinstance(unknown, Mapping):
        names = dict.fromkeys([*value, *unknown])
        return {name: _with_unknown(value.get(name), unknown.get(name)) for name in names}
    if isinstance(value, list) and isinstance(unknown, list):
        marks = [*unknown, *([None] * (len(value) - len(unknown)))]
        return [_with_unknown(inner, mark) for inner, mark in zip(value, marks, strict=False)]
    return value


def _places(
    document: Document, path: Path, values: Mapping[str, Any]
) -> Iterator[tuple[tuple[str, str], Any]]:
    for name, member in (
        ("hash_key", "KeySchema"),
        ("write_capacity", "ProvisionedThroughput"),
        ("billing_mode", "BillingMode"),
        ("stream_view_type", "StreamSpecification"),
        ("ttl", "TimeToLiveSpecification"),
    ):
        if values.get(name) is not None:
            yield ("", member), document.position((*path, name))
    for kind in ("global_secondary_index", "local_secondary_index"):
        for number, block in enumerate(values.get(kind) or ()):
            yield (str(block.get("name")), ""), document.position((*path, kind, number))


def _replaced(document: Document) -> Iterator[Finding]:
    """Yield tables that are deleted and created again (ICH-41)."""
    for number, change in enumerate(document.value.get("resource_changes") or ()):
        actions = (change.get("change") or {}).get("actions") or ()
        if change.get("type") == _TABLE and {"delete", "create"} <= set(actions):
            finding = Finding(
                "table-replaced",
                "problem",
                str(change.get("address")),
                "The plan deletes the table and makes it anew: its items are lost.",
                "Make a second table and move the items, or undo the change of its key or name.",
            )
            path = ("resource_changes", number)
            yield finding.at(document.source, document.position(path))


class _Beside:
    """Resources that say more about tables: auto scaling, and indexes of their own."""

    def __init__(self, resources: Iterable[Mapping[str, Any]]) -> None:
        self._resources = list(resources)

    def _values(self, kind: str) -> Iterator[Mapping[str, Any]]:
        yield from (resource["values"] for resource in self._of(kind))

    def _of(self, kind: str) -> Iterator[Mapping[str, Any]]:
        for resource in self._resources:
            if resource.get("type") == kind and isinstance(resource.get("values"), Mapping):
                yield resource

    def sources(self) -> Iterator[DeclaredSource]:
        """Yield the functions that get the stream of a table, as far as a plan knows its ARN."""
        for values in self._values("aws_lambda_event_source_mapping"):
            functions = (logical_name(values.get("function_name")),)
            yield from declared_source(
                functions, table_of_arn(values.get("event_source_arn")), values
            )

    def strays(self) -> Iterator[Finding]:
        """Yield indexes of which the plan does not tell the table."""
        for resource in self._of(_INDEX):
            table = resource["values"].get("table_name")
            if isinstance(table, UnknownValue):
                error = UndecidedError("table_name", table)
                yield declared.undecided(str(resource.get("address")), error, _APPLY_FIRST, "index")

    def completed(self, table: DeclaredTable) -> DeclaredTable:
        """Return a table with what the others say about it."""
        name = table.request["TableName"]
        for resource in self._of(_INDEX):
            if resource["values"].get("table_name") == name:
                table = self._with_index(table, resource)
        targets = [
            values.get("resource_id")
            for values in self._values(_TARGET)
            if str(values.get("resource_id")).split("/")[:2] == ["table", name]
        ]
        policies = {values.get("resource_id") for values in self._values(_POLICY)}
        findings = [
            Finding(
                "scaling-without-policy",
                "warning",
                table.resource,
                f"The scaling target {target} has no policy, so its capacity never changes.",
                f"Add an {_POLICY} with target tracking for it.",
            )
            for target in dict.fromkeys(targets)
            if target not in policies
        ]
        return replace(
            table, scaled=table.scaled or bool(targets), findings=(*table.findings, *findings)
        )

    @staticmethod
    def _with_index(table: DeclaredTable, resource: Mapping[str, Any]) -> DeclaredTable:
        """Return a table with an index, or with what keeps it from being one."""
        values, address = resource["values"], str(resource.get("address"))
        body = Body({**values, "name": values.get("index_name")})
        try:
            with expecting("", "an index"):
                for projection in values.get("projection") or ():
                    body.update(projection)
                return with_index(table, body)
        except UndecidedError as error:
            finding = declared.undecided(address, error, _APPLY_FIRST, "index")
        except DocumentError as error:
            finding = declared.unreadable(address, error)
        return replace(table, findings=(*table.findings, finding))
