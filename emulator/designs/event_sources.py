"""Event sources: which function gets the stream of which table, as a design declares it.

Terraform, CloudFormation, SAM and the Serverless Framework write the same settings under names
that differ in their letters only (EVS-1).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

#: The arguments of ``Emulator.event_source``, by what designs call them in small letters.
_ARGUMENTS: Final = {
    "batchsize": "batch_size",
    "batchwindow": "batch_window",
    "maximumbatchingwindowinseconds": "batch_window",
    "parallelizationfactor": "parallelization_factor",
    "maximumretryattempts": "retries",
    "maximumrecordageinseconds": "max_record_age",
    "bisectbatchonfunctionerror": "bisect_on_error",
    "tumblingwindowinseconds": "tumbling_window",
    "startingposition": "starting_position",
}
_REPORTS: Final = ("functionresponsetypes", "functionresponsetype")
_REPORT: Final = "ReportBatchItemFailures"
_STREAM_ARN: Final = re.compile(r"arn:[^:]*:dynamodb:[^:]*:[^:]*:table/([^/]+)/stream/.*")


@dataclass(frozen=True, kw_only=True)
class DeclaredSource:
    """A function that gets a table's stream.

    Attributes:
        functions: What the function is called: its name, and the design's word for it.
        table: The table's name, or the design's word for it.
        settings: Arguments of ``Emulator.event_source``.
    """

    functions: tuple[str, ...]
    table: str
    settings: Mapping[str, Any]


def read_event_sources(path: str | Path) -> list[DeclaredSource]:
    """Return the event sources of a design whose tables are in it, with the tables' names.

    Raises:
        DocumentError: The design cannot be read.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as directory:
    ...     path = Path(directory, "template.json")
    ...     _ = path.write_text('''{"Resources": {
    ...         "Orders": {"Type": "AWS::Serverless::SimpleTable"},
    ...         "Mail": {"Type": "AWS::Serverless::Function", "Properties": {"Events": {"New": {
    ...             "Type": "DynamoDB", "Properties": {
    ...                 "Stream": {"Fn::GetAtt": ["Orders", "StreamArn"]}, "BatchSize": 5}}}}}}}
    ...     ''')
    ...     read_event_sources(path)
    [DeclaredSource(functions=('Mail',), table='Orders', settings={'batch_size': 5})]
    """
    from emulator.designs.files import read_design  # it reads what this module describes

    reading = read_design(Path(path))
    names = {table.resource: table.request["TableName"] for table in reading.tables}
    names |= {name: name for name in names.values()}
    return [
        DeclaredSource(functions=s.functions, table=names[s.table], settings=s.settings)
        for s in reading.sources
        if s.table in names
    ]


def declared_source(
    functions: tuple[Any, ...], table: str | None, properties: Mapping[str, Any]
) -> Iterator[DeclaredSource]:
    """Yield the source that some properties declare, unless it is off or has no table.

    Args:
        functions: What the function may be called; what is not known is no text.
        table: The table, or None if the source is something else.
        properties: The properties of the mapping.
    """
    members = {name.replace("_", "").lower(): value for name, value in properties.items()}
    called = tuple(dict.fromkeys(name for name in functions if isinstance(name, str)))
    if table is not None and called and members.get("enabled", True) is not False:
        yield DeclaredSource(functions=called, table=table, settings=dict(_settings(members)))


def table_of_arn(arn: Any) -> str | None:
    """Return the table of a stream's ARN.

    >>> table_of_arn("arn:aws:dynamodb:us-east-1:000000000000:table/orders/stream/2026")
    'orders'
    """
    match = _STREAM_ARN.fullmatch(arn) if isinstance(arn, str) else None
    return None if match is None else match[1]


def _settings(members: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the arguments that a design gives; those that are decided elsewhere keep defaults."""
    for member, argument in _ARGUMENTS.items():
        value = members.get(member)
        if isinstance(value, int | str):
            yield argument, int(value) if str(value).lstrip("-").isdecimal() else value
    for member in _REPORTS:
        if _REPORT in str(members.get(member)):
            yield "report_item_failures", True
    filters = list(_patterns(members))
    if filters:
        yield "filters", filters


def _patterns(members: Mapping[str, Any]) -> Iterator[Any]:
    yield from _listed(members.get("filterpatterns"))
    for block in _mappings(members.get("filtercriteria")):
        for entry in _mappings(block.get("Filters", block.get("filter"))):
            yield entry.get("Pattern", entry.get("pattern"))


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    """Return the mappings in a list, or a single one; what is decided elsewhere is neither."""
    listed = [value] if isinstance(value, Mapping) else _listed(value)
    return [entry for entry in listed if isinstance(entry, Mapping)]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


# CloudFormation


def template_sources(
    resources: Mapping[str, Any], resolved: Callable[[Any], Any]
) -> Iterator[DeclaredSource]:
    """Yield the sources of a template's resources.

    Args:
        resources: The resources, by their logical names.
        resolved: Works out the functions in a value.
    """
    for name in resources:
        kind, properties = _resource(resources, name, resolved)
        if kind == "AWS::Lambda::EventSourceMapping":
            function = logical_name(properties.get("FunctionName"))
            _, known = _resource(resources, function, resolved)
            table = stream_of(properties.get("EventSourceArn"))
            yield from declared_source((known.get("FunctionName"), function), table, properties)
        elif kind == "AWS::Serverless::Function":
            events = properties.get("Events")
            for event in _mappings(list(events.values()) if isinstance(events, Mapping) else None):
                for inner in _mappings(event.get("Properties")):
                    functions = (properties.get("FunctionName"), name)
                    yield from declared_source(functions, stream_of(inner.get("Stream")), inner)


_KINDS: Final = (
    "AWS::Lambda::EventSourceMapping",
    "AWS::Lambda::Function",
    "AWS::Serverless::Function",
)


def _resource(
    resources: Mapping[str, Any], name: str | None, resolved: Callable[[Any], Any]
) -> tuple[str | None, Mapping[str, Any]]:
    """Return kind and properties of a resource, if it has to do with functions."""
    resource = resources.get(name or "")
    if not isinstance(resource, Mapping) or resource.get("Type") not in _KINDS:
        return None, {}
    properties = resolved(resource.get("Properties"))
    return resource["Type"], properties if isinstance(properties, Mapping) else {}


def stream_of(node: Any) -> str | None:
    """Return the table whose stream a value names: by its ARN, or as ``StreamArn`` of a resource.

    >>> stream_of({"Fn::GetAtt": ["Orders", "StreamArn"]}), stream_of({"Fn::GetAtt": ["Q", "Arn"]})
    ('Orders', None)
    """
    got = node.get("Fn::GetAtt") if isinstance(node, Mapping) else None
    parts = got.split(".") if isinstance(got, str) else got
    if isinstance(parts, list) and parts[1:] == ["StreamArn"]:
        return str(parts[0])
    return table_of_arn(node)


def logical_name(node: Any) -> str | None:
    """Return the resource that a value names, or the name itself; of an ARN, its last part.

    >>> logical_name({"Ref": "Mail"}), logical_name({"Fn::GetAtt": "Mail.Arn"})
    ('Mail', 'Mail')
    """
    if isinstance(node, str):
        return node.rpartition(":")[2]
    if not isinstance(node, Mapping) or len(node) != 1:
        return None
    [value] = node.values()
    word = value[0] if isinstance(value, list) and value else value
    return word.strip("${}").partition(".")[0] if isinstance(word, str) else None
