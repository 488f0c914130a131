"""Terraform files: the tables of a directory, expanded as Terraform itself would.

``for_each`` and ``count``, variables with defaults, ``terraform.tfvars``, locals, dynamic blocks,
modules of the same repository and the module terraform-aws-modules/dynamodb-table are worked
out. A table whose key depends on anything else is reported and left out (ICH-47).

Source: Terraform language documentation; ICH-42 to ICH-47.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from os.path import normpath
from pathlib import Path
from typing import Any, Final

from emulator.designs import declared, documents, hcl, ignores
from emulator.designs.declared import DeclaredTable, Reading, UndecidedError
from emulator.designs.event_sources import DeclaredSource, declared_source, table_of_arn
from emulator.designs.findings import Finding, Position
from emulator.designs.hcl_values import (
    EvaluationWork,
    HclScope,
    UnknownValue,
    Value,
    converted,
    pairs,
)
from emulator.designs.terraform_table import USE_A_PLAN, Body, table_of, with_index
from emulator.files import is_file, list_folder
from emulator.service.errors import DocumentError

_TABLE: Final = "aws_dynamodb_table"
_INDEX: Final = "aws_dynamodb_global_secondary_index"
_TARGET: Final = "aws_appautoscaling_target"
_POLICY: Final = "aws_appautoscaling_policy"
_SOURCE: Final = "aws_lambda_event_source_mapping"
_FUNCTION: Final = "aws_lambda_function"
_PUBLIC_MODULE: Final = re.compile(
    r"(^|/)terraform-aws-modules/(dynamodb-table/aws|terraform-aws-dynamodb-table(\.git)?(\?.*)?)$"
)
#: Inputs of the public module that are blocks of the resource, under the resource's names.
_MODULE_BLOCKS: Final = {
    "attributes": "attribute",
    "global_secondary_indexes": "global_secondary_index",
    "local_secondary_indexes": "local_secondary_index",
}
_INDEX_BLOCKS: Final = ("global_secondary_index", "local_secondary_index")
_META: Final = frozenset({"for_each", "count", "depends_on", "provider", "lifecycle", "source"})
_SPOKEN: Final = {"count": "its count"}
_DEEPEST: Final = 5
_MOST_INSTANCES: Final = 1_000


def is_terraform(path: Path) -> bool:
    """Return whether a file has a name that Terraform reads."""
    return path.name.endswith((".tf", ".tf.json")) and not path.name.startswith(".")


def read_terraform(paths: Iterable[Path]) -> Reading:
    """Return the tables of files of one directory; the others there lend values.

    Raises:
        DocumentError: One of the files is not Terraform.
    """
    paths = list(paths)
    directory = paths[0].parent
    wanted = {path: parse(path) for path in paths}
    module = _Module(directory, wanted | dict(_neighbours(directory, wanted)))
    return module.reading(paths)


def local_modules(path: Path) -> Iterator[Path]:
    """Yield the directories that a file uses as modules; they are read from there."""
    try:
        file = parse(path)
    except DocumentError:
        return
    for block in file.of("module"):
        source = block.settings.get("source")
        name = HclScope({}).value(source.expression) if source is not None else None
        if isinstance(name, str) and name.startswith("."):
            yield (path.parent / name).resolve()


def parse(path: Path) -> hcl.HclBlock:
    """Return a file as blocks.

    Raises:
        DocumentError: It is not HCL, or not JSON for a ``.json`` file.
    """
    text = documents.read_text(path)
    if not path.name.endswith(".json"):
        return hcl.parse(text, str(path))
    document = documents.parse_json(text, str(path))
    return _file_of_json(document, str(path))


def _neighbours(
    directory: Path, wanted: Mapping[Path, hcl.HclBlock]
) -> Iterator[tuple[Path, hcl.HclBlock]]:
    """Yield the other files of the directory that can be read; they only lend values."""
    for path in list_folder(directory):
        if is_terraform(path) and path not in wanted:
            try:
                yield path, parse(path)
            except DocumentError:
                continue


# Terraform's JSON syntax


def _file_of_json(document: documents.Document, source: str) -> hcl.HclBlock:
    """Return a file in JSON as blocks, each label a level of objects."""
    file = hcl.HclBlock("", (), Position(1))
    levels = {"variable": 1, "module": 1, "locals": 0, "resource": 2, "data": 2}
    content = document.value if isinstance(document.value, Mapping) else {}
    for kind, depth in levels.items():
        for labels, body, path in _labelled(content.get(kind), depth, (kind,)):
            block = hcl.HclBlock(kind, labels, document.position(path))
            for name, value in body.items():
                position = document.position((*path, name))
                block.settings[name] = hcl.Setting(_expression_of(value, source), position)
            file.blocks.append(block)
    if source.endswith(".tfvars.json"):
        for name, value in content.items():
            position = document.position((name,))
            file.settings[name] = hcl.Setting(_expression_of(value, source), position)
    return file


def _labelled(
    content: Any, depth: int, path: tuple[Any, ...], labels: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any], tuple[Any, ...]]]:
    """Yield labels, body and path of every block below a member."""
    if isinstance(content, list):
        for number, element in enumerate(content):
            yield from _labelled(element, depth, (*path, number), labels)
    elif isinstance(content, Mapping):
        if depth == 0:
            yield labels, content, path
        else:
            for label, inner in content.items():
                yield from _labelled(inner, depth - 1, (*path, label), (*labels, str(label)))


def _expression_of(value: Any, source: str) -> hcl.Expression:
    if isinstance(value, str):
        return hcl.parse_template(value, source) if "${" in value else hcl.Template((value,))
    if isinstance(value, Mapping):
        return hcl.Object(
            tuple(
                (hcl.Template((str(name),)), _expression_of(inner, source))
                for name, inner in value.items()
            )
        )
    if isinstance(value, list):
        return hcl.Tuple(tuple(_expression_of(element, source) for element in value))
    return hcl.HclLiteral(value)


# One directory


class _Module:
    """The files of one directory, with what their variables are."""

    def __init__(
        self,
        directory: Path,
        files: Mapping[Path, hcl.HclBlock],
        *,
        arguments: Mapping[str, Value] | None = None,
        prefix: str = "",
        depth: int = 0,
        root: Path | None = None,
        work: EvaluationWork | None = None,
    ) -> None:
        self._directory = directory
        self._files = files
        self._prefix = prefix
        self._depth = depth
        self._locals = {
            name: setting.expression
            for file in files.values()
            for block in file.of("locals")
            for name, setting in block.settings.items()
        }
        self._under_way: set[str] = set()
        self._work = work or EvaluationWork()
        values = self._values_files() if arguments is None else arguments
        places = {"module": str(directory), "root": str(root or directory)}
        self._root = root or directory
        self._scope = HclScope(
            {"var": dict(self._variables(values)), "path": places},
            self._look_up,
            {
                "file": self._text_of,
                "fileexists": lambda name: is_file(self._file(name)),
                "fileset": self._files_of,
            },
            self._work,
        )

    # Names

    def _variables(self, values: Mapping[str, Value]) -> Iterator[tuple[str, Value]]:
        for file in self._files.values():
            for block in file.of("variable"):
                name = block.labels[0] if block.labels else ""
                constraint = block.settings.get("type")
                kind = None if constraint is None else constraint.expression
                if name in values:
                    yield name, converted(values[name], kind)
                elif "default" in block.settings:
                    literal = HclScope({}, work=self._work)
                    default = literal.value(block.settings["default"].expression)
                    yield name, converted(default, kind)

    def _values_files(self) -> dict[str, Value]:
        """Return the values of terraform.tfvars and of ``*.auto.tfvars``, later ones winning."""
        values: dict[str, Value] = {}
        names = ("terraform.tfvars", "terraform.tfvars.json", "*.auto.tfvars", "*.auto.tfvars.json")
        for name in names:
            for path in sorted(self._directory.glob(name)):
                for setting, content in parse(path).settings.items():
                    literal = HclScope({}, work=self._work)
                    values[setting] = literal.value(content.expression)
        return values

    def _look_up(self, word: str, name: str) -> Value:
        """Return a local, or the attributes that a table of the same files is given."""
        if word == "local":
            if name not in self._locals or name in self._under_way:
                return UnknownValue(f"local.{name}")
            self._under_way.add(name)
            try:
                return self._scope.value(self._locals[name])
            finally:
                self._under_way.discard(name)
        if word == _TABLE:
            for _, block in self._resources(_TABLE):
                if block.labels[1:] == (name,) and not {"count", "for_each"} & set(block.settings):
                    return {
                        "name": self._setting(block, "name"),
                        "hash_key": self._setting(block, "hash_key"),
                        "range_key": self._setting(block, "range_key"),
                    }
        return None

    def _text_of(self, name: str) -> str:
        """Return the text of a file that an expression reads.

        Raises:
            DocumentError: It cannot be read.
        """
        return documents.read_text(self._file(name))

    def _files_of(self, directory: str, pattern: str) -> list[str]:
        """Return the files of a folder of the project that have a form of name.

        Raises:
            ValueError: The form leads out of the folder, or has alternatives.
        """
        if "{" in pattern or ".." in pattern or pattern.startswith("/"):
            raise ValueError(pattern)
        folder = self._file(directory)
        found = (path for path in folder.glob(pattern) if is_file(path))
        return sorted(path.relative_to(folder).as_posix() for path in found)

    def _file(self, name: str) -> Path:
        """Return the path of a file of the project; others are none of a design's business.

        Raises:
            DocumentError: It lies outside of the repository or, without one, of the root module.
        """
        path = Path(name)
        beside = path.is_relative_to(self._directory) or path.is_relative_to(self._root)
        full = (path if beside else self._root / path).resolve()
        root = self._root.resolve()
        around = next((each for each in (root, *root.parents) if (each / ".git").exists()), root)
        if not full.is_relative_to(around):
            raise DocumentError(f"{name}: not a file of the project")
        return full

    def _setting(self, block: hcl.HclBlock, name: str, scope: HclScope | None = None) -> Value:
        setting = block.settings.get(name)
        return None if setting is None else (scope or self._scope).value(setting.expression)

    def _resources(self, kind: str) -> Iterator[tuple[Path, hcl.HclBlock]]:
        for path, file in self._files.items():
            for block in file.of("resource", kind):
                if len(block.labels) == 2:
                    yield path, block

    # Reading

    def reading(self, paths: Iterable[Path]) -> Reading:
        """Return the tables that some of the files declare."""
        paths = list(paths)
        readings = [
            Reading(
                files=(str(path),),
                ignores=tuple(ignores.in_text(documents.read_text(path), str(path))),
            )
            for path in paths
        ]
        for path in paths:
            file = self._files[path]
            readings += [
                self._tables(path, block)
                for block in file.of("resource", _TABLE)
                if len(block.labels) == 2
            ]
            readings += [self._called(path, block) for block in file.of("module")]
            sources = (self._sources(path, block) for block in file.of("resource", _SOURCE))
            readings += [Reading(sources=tuple(chain.from_iterable(sources)))]
        joined = Reading.joined(readings)
        return replace(joined, tables=tuple(self._completed(table) for table in joined.tables))

    def _sources(self, path: Path, block: hcl.HclBlock) -> Iterator[DeclaredSource]:
        """Yield the functions that a mapping gives the stream of a table to."""
        for _, scope in self._instances("", block, [], path):
            body = self._body(block, scope)
            function, named = self._function(block, body.get("function_name"))
            table = table_of_arn(body.get("event_source_arn"))
            arn = block.settings.get("event_source_arn")
            for word in () if arn is None else references(arn.expression):
                if word.startswith(f"{_TABLE}."):
                    table = f"{self._prefix}{word}"
            yield from declared_source((named, function), table, body)

    def _function(self, block: hcl.HclBlock, value: Value) -> tuple[str | None, Value]:
        """Return the label and the name of the function of a mapping, as far as they are known."""
        setting = block.settings.get("function_name")
        words = set() if setting is None else references(setting.expression)
        for _, function in self._resources(_FUNCTION):
            if ".".join(function.labels) in words:
                return function.labels[1], self._setting(function, "function_name")
        return None, value.rpartition(":")[2] if isinstance(value, str) else value

    def _tables(self, path: Path, block: hcl.HclBlock) -> Reading:
        address = f"{self._prefix}{'.'.join(block.labels)}"
        tables: list[DeclaredTable] = []
        findings: list[Finding] = []
        for name, scope in self._instances(address, block, findings, path):
            try:
                with declared.expecting("", "a table"):
                    table = table_of(name, self._body(block, scope), str(path))
                    tables.append(replace(table, scaled=_leaves_capacity_alone(block)))
            except UndecidedError as error:
                finding = declared.undecided(name, error, USE_A_PLAN)
                position = self._position_of(block, error.field_name, scope)
                findings.append(finding.at(str(path), position))
            except DocumentError as error:
                findings.append(declared.unreadable(name, error))
        return Reading(
            tables=tuple(tables),
            findings=tuple(
                finding if finding.file else finding.at(str(path), block.position)
                for finding in findings
            ),
        )

    def _position_of(self, block: hcl.HclBlock, field_name: str, scope: HclScope) -> Position:
        """Return where a member stands; ``index: member`` is one of an index."""
        index, _, member = field_name.rpartition(": ")
        holders = [
            inner
            for inner in block.blocks
            if inner.kind in _INDEX_BLOCKS and self._setting(inner, "name", scope) == index
        ]
        holder = holders[0] if index and holders else block
        setting = holder.settings.get(member)
        return holder.position if setting is None else setting.position

    def _instances(
        self, address: str, block: hcl.HclBlock, findings: list[Finding], path: Path
    ) -> Iterator[tuple[str, HclScope]]:
        """Yield address and scope of each instance that ``for_each`` or ``count`` make."""
        for name in ("for_each", "count"):
            if name not in block.settings:
                continue
            value = self._setting(block, name)
            if isinstance(value, UnknownValue):
                finding = declared.undecided(
                    address, UndecidedError(_SPOKEN.get(name, name), value), USE_A_PLAN
                )
                findings.append(finding.at(str(path), block.settings[name].position))
                return
            if name == "count":
                count = _whole(value)
                if count is None:
                    reason = f"count: expected a number, found {value!r}"
                    finding = declared.unreadable(address, reason)
                    findings.append(finding.at(str(path), block.settings[name].position))
                    return
                for number in range(min(count, _MOST_INSTANCES)):
                    yield (
                        f"{address}[{number}]",
                        self._scope.with_names({"count": {"index": number}}),
                    )
                return
            if value is not None and not isinstance(value, list | Mapping):
                reason = f"for_each: expected a map or a set, found {value!r}"
                finding = declared.unreadable(address, reason)
                findings.append(finding.at(str(path), block.settings[name].position))
            for key, element in pairs(value):
                each = {
                    "key": element if isinstance(value, list) else key,
                    "value": element,
                }
                yield f'{address}["{each["key"]}"]', self._scope.with_names({"each": each})
            return
        yield address, self._scope

    def _body(self, block: hcl.HclBlock, scope: HclScope) -> Body:
        """Return the values of a block, dynamic blocks expanded."""
        values: dict[str, Any] = {
            name: scope.value(setting.expression)
            for name, setting in block.settings.items()
            if name not in _META and name != "dynamic"
        }
        body = Body(values, block.position)
        body.places = {name: setting.position for name, setting in block.settings.items()}
        for inner in block.blocks:
            if inner.kind == "dynamic" and inner.labels:
                self._add_dynamic(body, inner, scope)
            elif inner.kind not in _META:
                self._add_block(body, inner.kind, self._body(inner, scope))
        if "dynamic" in block.settings:
            self._add_dynamic_of_json(body, scope.value(block.settings["dynamic"].expression))
        return body

    @staticmethod
    def _add_block(body: Body, kind: str, inner: Body) -> None:
        if isinstance(body.get(kind), UnknownValue):
            return
        body.setdefault(kind, [])
        body[kind].append(inner)
        if inner.position is not None:
            body.places.setdefault(kind, inner.position)

    def _add_dynamic(self, body: Body, block: hcl.HclBlock, scope: HclScope) -> None:
        kind = block.labels[0]
        collection = self._setting(block, "for_each", scope)
        if isinstance(collection, UnknownValue):
            body[kind] = collection
            return
        named = block.settings.get("iterator")
        iterator = (
            named.expression.name
            if named is not None and isinstance(named.expression, hcl.Name)
            else kind
        )
        for key, value in pairs(collection):
            inner_scope = scope.with_names({iterator: {"key": key, "value": value}})
            for content in block.of("content"):
                self._add_block(body, kind, self._body(content, inner_scope))

    @staticmethod
    def _add_dynamic_of_json(body: Body, dynamic: Value) -> None:
        """Leave undecided what JSON's dynamic blocks make; their content names other words."""
        for kind in dynamic if isinstance(dynamic, Mapping) else ():
            body[kind] = UnknownValue(f"a dynamic {kind} block")

    # What stands beside a table

    def _completed(self, table: DeclaredTable) -> DeclaredTable:
        """Return a table with its auto scaling, and with indexes that are resources."""
        table = self._with_indexes(table)
        scaled = table.scaled
        findings = list(table.findings)
        for path, target in self._resources(_TARGET):
            if not self._is_about(target, "resource_id", table):
                continue
            scaled = True
            if not self._has_policy(target):
                label = ".".join(target.labels)
                message = f"{label} has no policy, so its capacity never changes."
                fix = f"Add an {_POLICY} with target tracking for it."
                finding = Finding("scaling-without-policy", "warning", table.resource, message, fix)
                findings.append(finding.at(str(path), target.position))
        return replace(table, scaled=scaled, findings=tuple(dict.fromkeys(findings)))

    def _is_about(self, block: hcl.HclBlock, name: str, table: DeclaredTable) -> bool:
        """Return whether a resource's setting names a table, by reference or by name."""
        setting = block.settings.get(name)
        if setting is None:
            return False
        label = table.resource.removeprefix(self._prefix).partition("[")[0]
        tables = {word for word in references(setting.expression) if word.startswith(_TABLE)}
        if tables:
            return label in tables
        value = self._scope.value(setting.expression)
        parts = value.removeprefix("table/").split("/") if isinstance(value, str) else []
        return parts[:1] == [table.request["TableName"]]

    def _has_policy(self, target: hcl.HclBlock) -> bool:
        label = ".".join(target.labels)
        named = self._setting(target, "resource_id")
        for _, policy in self._resources(_POLICY):
            setting = policy.settings.get("resource_id")
            if setting is None:
                continue
            value = self._scope.value(setting.expression)
            if label in references(setting.expression):
                return True
            if isinstance(named, str) and value == named:
                return True
        return False

    def _with_indexes(self, table: DeclaredTable) -> DeclaredTable:
        """Add the indexes that are resources of their own (ICH-44)."""
        for path, block in self._resources(_INDEX):
            if not self._is_about(block, "table_name", table):
                continue
            address = f"{self._prefix}{'.'.join(block.labels)}"
            findings: list[Finding] = []
            for name, scope in self._instances(address, block, findings, path):
                if self._is_of_other_instance(block, scope, table):
                    continue
                body = self._body(block, scope)
                body["name"] = body.get("index_name")
                for projection in body.get("projection") or ():
                    body.update(projection)
                try:
                    with declared.expecting("", "an index"):
                        table = with_index(table, body)
                except UndecidedError as error:
                    finding = declared.undecided(name, error, USE_A_PLAN, "index")
                    findings.append(finding.at(str(path), block.position))
                except DocumentError as error:
                    finding = declared.unreadable(name, error)
                    findings.append(finding.at(str(path), block.position))
            table = replace(table, findings=(*table.findings, *findings))
        return table

    @staticmethod
    def _is_of_other_instance(block: hcl.HclBlock, scope: HclScope, table: DeclaredTable) -> bool:
        """Return whether ``aws_dynamodb_table.x[key].name`` has another key than a table."""
        match block.settings["table_name"].expression:
            case hcl.Attribute(value=hcl.IndexAccess(key=key)):
                wanted = scope.value(key)
            case _:
                return False
        shown = f'["{wanted}"]' if isinstance(wanted, str) else f"[{wanted}]"
        return not table.resource.endswith(shown)

    # Modules

    def _called(self, path: Path, block: hcl.HclBlock) -> Reading:
        """Return the tables of a module that is called."""
        name = block.labels[0] if block.labels else ""
        address = f"{self._prefix}module.{name}"
        source = self._setting(block, "source")
        if not isinstance(source, str):
            return Reading()
        if _PUBLIC_MODULE.search(source.partition("?")[0]) or _PUBLIC_MODULE.search(source):
            return self._public_module(path, address, block)
        if source.startswith(".") and self._depth < _DEEPEST:
            return self._local_module(path, address, block, source)
        if "dynamo" in (name + source).lower():
            message = f"The module {source} is not read."
            fix = "Check the plan: terraform show -json plan.out > plan.json."
            finding = Finding("unread-module", "warning", address, message, fix)
            return Reading(findings=(finding.at(str(path), block.position),))
        return Reading()

    def _local_module(self, path: Path, address: str, block: hcl.HclBlock, source: str) -> Reading:
        directory = (path.parent / source).resolve()
        try:
            sources = [file for file in list_folder(directory) if is_terraform(file)]
            reason = "there is no Terraform in it"
        except OSError as error:
            sources, reason = [], error.strerror or "it cannot be read"
        if not sources:
            message = f"The module {source} is not read: {reason}."
            fix = "Correct its source, or check the plan: terraform show -json plan.out."
            finding = Finding("unread-module", "warning", address, message, fix)
            return Reading(findings=(finding.at(str(path), block.position),))
        folder = Path(normpath(path.parent / source))
        shown = [folder / file.name for file in sources]
        files = {}
        findings: list[Finding] = []
        for file in shown:
            try:
                files[file] = parse(file)
            except DocumentError as error:
                findings.append(declared.unreadable(address, error))
        readings = [
            _Module(
                folder,
                files,
                arguments=self._body(block, scope),
                prefix=f"{name}.",
                depth=self._depth + 1,
                root=self._root,
                work=self._work,
            ).reading(list(files))
            for name, scope in self._instances(address, block, findings, path)
        ]
        located = (finding if finding.file else finding.at(str(path)) for finding in findings)
        return Reading.joined([*readings, Reading(findings=tuple(located))])

    def _public_module(self, path: Path, address: str, block: hcl.HclBlock) -> Reading:
        """Return the table of terraform-aws-modules/dynamodb-table (ICH-46)."""
        tables: list[DeclaredTable] = []
        findings: list[Finding] = []
        for name, scope in self._instances(address, block, findings, path):
            body = self._body(block, scope)
            if body.get("create_table") is False:
                continue
            try:
                with declared.expecting("", "the inputs of the module"):
                    table = table_of(name, _module_values(body), str(path))
            except UndecidedError as error:
                findings.append(declared.undecided(name, error, USE_A_PLAN))
            except DocumentError as error:
                findings.append(declared.unreadable(name, error))
            else:
                tables.append(replace(table, scaled=body.get("autoscaling_enabled") is True))
        located = (
            finding if finding.file else finding.at(str(path), block.position)
            for finding in findings
        )
        return Reading(tables=tuple(tables), findings=tuple(located))


def _whole(value: Value) -> int | None:
    try:
        return max(0, int(value))
    except (TypeError, ValueError, OverflowError):
        return None


def _leaves_capacity_alone(block: hcl.HclBlock) -> bool:
    """Return whether Terraform ignores changes of the capacity: something else scales it.

    Source: Terraform's documentation of aws_dynamodb_table, on auto scaling.
    """
    for lifecycle in block.of("lifecycle"):
        setting = lifecycle.settings.get("ignore_changes")
        ignored = None if setting is None else setting.expression
        if ignored == hcl.Name("all"):
            return True
        names = ignored.elements if isinstance(ignored, hcl.Tuple) else ()
        if hcl.Name("read_capacity") in names or hcl.Name("write_capacity") in names:
            return True
    return False


def _module_values(body: Body) -> Body:
    """Return the inputs of the public module as the values of its resource."""
    values = {_MODULE_BLOCKS.get(name, name): value for name, value in body.items()}
    values.setdefault("billing_mode", "PAY_PER_REQUEST")
    for name in ("on_demand_throughput", "warm_throughput"):
        if isinstance(values.get(name), Mapping):
            values[name] = [values[name]]
    if values.get("ttl_enabled") is True:
        values["ttl"] = [{"enabled": True, "attribute_name": values.get("ttl_attribute_name")}]
    made = Body(values, body.position)
    made.places = {
        _MODULE_BLOCKS.get(name, name): position for name, position in body.places.items()
    }
    return made


def references(expression: hcl.Expression) -> set[str]:
    """Return the references of an expression, each by its first two words.

    >>> sorted(references(hcl.parse_template("table/${aws_dynamodb_table.a.name}", "x")))
    ['aws_dynamodb_table.a']
    """
    found = set()
    waiting: list[Any] = [expression]
    while waiting:
        match waiting.pop():
            case hcl.Attribute(value=hcl.Name(name=word), name=name):
                found.add(f"{word}.{name}")
            case (
                hcl.Template(parts=inner)
                | hcl.FunctionCall(arguments=inner)
                | hcl.Tuple(elements=inner)
            ):
                waiting += inner
            case hcl.Attribute(value=value) | hcl.IndexAccess(value=value) | hcl.Splat(value=value):
                waiting.append(value)
            case hcl.Conditional(yes=yes, no=no):
                waiting += (yes, no)
    return found
