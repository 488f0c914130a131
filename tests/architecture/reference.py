"""The pages that are read off the code.

``python -m tests.architecture.reference`` writes them anew. Five pages come from five sources:
the evidence (``Source:``, ``Observed:``, ``Assumed:``) in docstrings and comments, the fields of
``Settings`` with their comments, the registry of operations, the forms that read a lab file, and
the rules with those who cite them. The JSON Schema of the lab file is written from the forms too.
What stands above ``MARK`` in a page is written by hand and kept.
"""

import ast
import io
import json
import re
import tokenize
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from types import NoneType
from typing import NamedTuple, get_args, get_type_hints

import yaml

from emulator.lab import schema
from emulator.lab.files import LAB_FILE
from emulator.lab.inputs.forms import FormMember, all_records
from emulator.operations import find
from emulator.service.catalogue import OPERATIONS, UNSERVED
from emulator.settings import Settings
from tests.architecture.rules import ROOT, Rule, covered, defined, linked, prefix, runs, sources
from tests.architecture.unnamed import UNNAMED
from tests.conformance.test_recordings import FILES
from tests.conformance.wordings import REWORDED

PACKAGE = ROOT / "emulator"
PAGES = ROOT / "docs"
RELY_ON = PAGES / "explanation" / "what-to-rely-on.md"
#: What the line of that page begins with that is read off the catalogue.
NOT_THERE = "- **Not served:** "
COMMAND = "python -m tests.architecture.reference"
MARK = f"<!-- Below this line: written by `{COMMAND}` from the code. -->\n"

LIMITS = "service/limits.py"
#: What the name of a limit looks like: a file without one that is still sought is not parsed.
LIMIT = re.compile(r"\b[A-Z][A-Z0-9_]+\b")
KINDS = ("Assumed", "Observed", "Source")
EVIDENCE = re.compile(rf"\b({'|'.join(KINDS)}): ")
COMMENTED = re.compile(rf"#.*\b(?:{'|'.join(KINDS)}):")
#: An assumption names the setting that changes it; a rule that both cite does not make it one.
NAMED = re.compile(r"``(?:Settings\.)?(\w+)``")
#: In the order of the house, from left to right.
ROOMS = {
    "base": "the files at the top",
    "service": "what the service is, as data",
    "objects": "where files of S3 lie",
    "model": "what data is",
    "expressions": "what one may say",
    "storage": "where items lie",
    "capacity": "what it costs",
    "engine": "the joined machine",
    "regions": "one table in several regions",
    "observe": "what doors may see",
    "partiql": "the second language",
    "operations": "what may be asked",
    "streams": "streams, to handlers",
    "persistence": "databases on disk",
    "protocol": "the wire, for every door",
    "clients": "boto3-shaped, without boto3",
    "sdk": "boto3 and aiobotocore, in-process",
    "sessions": "what tests consumed",
    "http": "the server",
    "testing": "pytest",
    "strategies": "hypothesis",
    "web": "the pages",
    "designs": "tables as infrastructure code declares them",
    "lab": "workloads and designs",
    "check": "dynamometer check",
    "diff": "what a change does to designs",
    "mcp": "tools for agents",
}


class Evidence(NamedTuple):
    """One piece of evidence, and what it is about."""

    room: str
    file: str
    subject: str
    kind: str
    about: str
    text: str


# Evidence


def evidence_of(path: Path) -> Iterator[Evidence]:
    """Yield the evidence in a file, in the order of its lines."""
    relative = path.relative_to(PACKAGE)
    room = relative.parts[0] if len(relative.parts) > 1 else "base"
    text = path.read_text()
    if not EVIDENCE.search(text):
        return
    tree = ast.parse(text)
    found = [*_in_docstrings(tree)]
    if COMMENTED.search(text):  # telling comments by tokens takes most of the time
        found += _in_comments(text, tree)
    for _, subject, about, kind, claim in sorted(found, key=lambda one: one[0]):
        yield Evidence(room, str(relative), subject, kind, about, claim)


def _in_docstrings(tree: ast.Module) -> Iterator[tuple[int, str, str, str, str]]:
    for node, name in ((tree, ""), *_definitions(tree)):
        docstring = ast.get_docstring(node) or ""
        line = getattr(node, "lineno", 0)
        summary = _flat(docstring.split("\n\n", 1)[0])
        for paragraph in docstring.split("\n\n"):
            for about, kind, claim in _claims(paragraph):
                opening = about or ("" if EVIDENCE.search(summary) else summary)
                yield line, name, opening, kind, claim


Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def _definitions(node: ast.AST, prefix: str = "") -> Iterator[tuple[Definition, str]]:
    """Yield every class and function below a node, with its qualified name."""
    for child in _below(node):
        if isinstance(child, Definition):
            name = f"{prefix}{child.name}"
            yield child, name
            yield from _definitions(child, f"{name}.")
        else:
            yield from _definitions(child, prefix)


def _below(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the children of a node that are no expressions: these hold no statements."""
    return (child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr))


def _in_comments(text: str, tree: ast.Module) -> Iterator[tuple[int, str, str, str, str]]:
    names = [*_lines_of_definitions(tree), *_lines_of_constants(tree)]
    values = _values_of_constants(tree)
    for first, last, is_alone, comment in _comment_blocks(text):
        subject = _subject(names, last + is_alone)
        before = values.get(subject, "")
        for about, kind, claim in _claims(comment):
            yield first, subject, about or before, kind, claim
            before = before or f"{kind}: {claim}"


def _comment_blocks(text: str) -> Iterator[tuple[int, int, bool, str]]:
    """Yield first line, last line, whether it has its lines to itself, and text of each comment."""
    block: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        is_alone = not token.line[: token.start[1]].strip()
        follows = block and is_alone and token.start == (block[-1].start[0] + 1, block[-1].start[1])
        if block and not follows:
            yield _joined(block)
            block = []
        block.append(token)
        if not is_alone:
            yield _joined(block)
            block = []
    if block:
        yield _joined(block)


def _joined(block: list[tokenize.TokenInfo]) -> tuple[int, int, bool, str]:
    first = block[0]
    is_alone = not first.line[: first.start[1]].strip()
    text = "\n".join(token.string.lstrip("#:").strip() for token in block)
    return first.start[0], block[-1].start[0], is_alone, text


def _subject(names: list[tuple[int, int, str]], line: int) -> str:
    """Return what a comment at, or right above, a line is about: the innermost name there."""
    holding = [(first, name) for first, last, name in names if first <= line <= last]
    return max(holding, default=(0, ""))[1]


def _lines_of_definitions(tree: ast.Module) -> Iterator[tuple[int, int, str]]:
    """Yield the first line, the last line and the name of every class and function."""
    return ((node.lineno, node.end_lineno or 0, name) for node, name in _definitions(tree))


def _lines_of_constants(node: ast.AST) -> Iterator[tuple[int, int, str]]:
    """Yield the first line, the last line and the name of every constant below a node."""
    for child in _below(node):
        if isinstance(child, ast.Assign | ast.AnnAssign):
            target = child.targets[0] if isinstance(child, ast.Assign) else child.target
            if isinstance(target, ast.Name) and target.id.isupper():
                yield child.lineno, child.end_lineno or 0, target.id
        yield from _lines_of_constants(child)


def _values_of_constants(tree: ast.Module) -> dict[str, str]:
    """Return the texts and numbers that a module names, as a row shows them."""
    return {
        node.target.id: f"`{shown}`"
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        if (shown := _shown(node.value))
    }


def _shown(value: ast.expr | None) -> str:
    """Return a number as it is written, a text without its quotes, and nothing for all else."""
    match value:
        case ast.Constant(value=str(text)):
            return _flat(text)
        case ast.Constant(value=int() | float()) | ast.BinOp(left=ast.Constant(value=int())):
            return ast.unparse(value)
        case ast.BinOp(left=ast.Name(id=name), op=ast.Add(), right=ast.Constant(value=str(text))):
            return _flat(f"{{{name}}}{text}")
    return ""


def _claims(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield what stands before, the kind and the words of each piece of evidence in a text."""
    found = list(EVIDENCE.finditer(text))
    if not found:
        return
    ends = [*(match.start() for match in found[1:]), len(text)]
    about = _flat(text[: found[0].start()])
    for match, end in zip(found, ends, strict=True):
        yield about, match.group(1), _flat(text[match.end() : end])


def _flat(text: str) -> str:
    return " ".join(text.split())


# Pages


def fidelity() -> str:
    """Return the members that are never named, and the evidence of all rooms, assumed first."""
    unread = unread_limits()
    found = [
        one
        for path in sorted(PACKAGE.rglob("*.py"))
        for one in evidence_of(path)
        if one.file != LIMITS or one.subject not in unread
    ]
    lines = [*_unnamed(), "", "## The evidence in the code", "", *_counts(found)]
    lines += ["", "### Assumed", "", *_assumed(found)]
    for kind in ("Observed", "Source"):
        lines += ["", f"### {kind}"]
        for room in ROOMS:
            rows = [one for one in found if one.kind == kind and one.room == room]
            if rows:
                lines += ["", f"#### {room}: {ROOMS[room]}", "", "| where | about | evidence |"]
                lines += ["| --- | --- | --- |"]
                lines += [_row(_where(one), one.about, one.text) for one in rows]
    return "\n".join(lines) + "\n"


def _unnamed() -> Iterator[str]:
    yield "## Members of the service model that are never answered"
    yield ""
    yield "The source does not name them. Members of requests that have no effect are reported or"
    yield "refused (WIR-15)."
    yield ""
    yield "| they belong to | members or states, by shape | why |"
    yield "| --- | --- | --- |"
    for part in UNNAMED:
        shapes = (
            f"{shape}: {', '.join(f'`{name}`' for name in names)}"
            for shape, names in part.members.items()
        )
        yield _row(part.subject, "; ".join(shapes), part.reason)


@cache
def unread_limits() -> frozenset[str]:
    """Return the constants of the limits that no other file of the package reads."""
    limits = ast.parse((PACKAGE / LIMITS).read_text())
    names = {
        node.target.id
        for node in limits.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text()
        if path != PACKAGE / LIMITS and any(name in names for name in LIMIT.findall(text)):
            names -= _limits_read(ast.parse(text))
    return frozenset(names)


def _limits_read(tree: ast.Module) -> set[str]:
    """Return the limits that a file imports and uses, by name or as ``limits.NAME``."""
    imported, used = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "emulator.service.limits":
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Name):
            used.add(node.id)
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "limits":
            imported.add(node.attr)
            used.add(node.attr)
    return imported & used


def _counts(found: list[Evidence]) -> Iterator[str]:
    yield "| room | assumed | observed | sourced |"
    yield "| --- | ---: | ---: | ---: |"
    for room in ROOMS:
        numbers = [sum(o.room == room and o.kind == kind for o in found) for kind in KINDS]
        yield _row(room, *map(str, numbers))


def _assumed(found: list[Evidence]) -> Iterator[str]:
    settings = _settings_comments()
    for room in ROOMS:
        rows = [one for one in found if one.kind == "Assumed" and one.room == room]
        if not rows:
            continue
        yield from (f"#### {room}: {ROOMS[room]}", "", "| where | about | assumed | setting |")
        yield "| --- | --- | --- | --- |"
        for one in rows:
            named = NAMED.findall(f"{one.about} {one.text}")
            fields = ", ".join(f"`{field}`" for field in settings if field in named)
            yield _row(_where(one), one.about, one.text, fields)
        yield ""


def _where(one: Evidence) -> str:
    return f"`{one.file}` {one.subject}".rstrip()


def _settings_comments() -> dict[str, str]:
    """Return the comment above every field of Settings."""
    text = (PACKAGE / "settings.py").read_text()
    lines = text.splitlines()
    [settings] = [
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.ClassDef) and node.name == "Settings"
    ]
    fields = {}
    for node in settings.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            above = node.lineno - 1
            comment: list[str] = []
            while lines[above - 1].strip().startswith("#:"):
                comment.insert(0, lines[above - 1].strip().removeprefix("#:"))
                above -= 1
            fields[node.target.id] = _flat(" ".join(comment))
    return fields


def settings() -> str:
    """Return the fields of Settings, with defaults and comments."""
    defaults = Settings()
    lines = ["| setting | type | default | meaning |", "| --- | --- | --- | --- |"]
    types = get_type_hints(Settings)
    comments = _settings_comments()
    for name in (setting.name for setting in fields(Settings)):
        choices = " or ".join(f"`{_choice(choice)}`" for choice in get_args(types[name]))
        default = getattr(defaults, name)
        text = f"{default:,}" if type(default) is int else repr(default)
        lines.append(
            _row(f"`{name}`", choices or f"`{types[name].__name__}`", f"`{text}`", comments[name])
        )
    return "\n".join(lines) + "\n"


def _choice(choice: object) -> str:
    """Return a value, or the name of a type, that a setting may have."""
    if choice is NoneType:
        return "None"
    return choice.__name__ if isinstance(choice, type) and not get_args(choice) else repr(choice)


def operations() -> str:
    """Return the operations by service, with what each does and where."""
    lines = []
    for service in sorted({row.api for row in OPERATIONS.values()}):
        served = sorted(name for name, one in OPERATIONS.items() if one.api == service)
        lines += [
            f"## {service}: {len(served)} operations",
            "",
            "| operation | what it does | file |",
        ]
        lines += ["| --- | --- | --- |"]
        for name in served:
            handler = find(name).handler
            summary = (handler.__doc__ or "").strip().split("\n\n")[0]
            file = handler.__module__.removeprefix("emulator.").replace(".", "/")
            lines.append(_row(f"`{name}`", _flat(summary), f"`{file}.py`"))
        lines.append("")
    return "\n".join([*lines, *_not_served()]) + "\n"


def _not_served() -> Iterator[str]:
    """Yield what the service has and is not there, with the page that says more."""
    yield from ("## Not served", "")
    yield "An operation is refused by name; a member of a request has no effect, and is mentioned"
    yield "or refused as `Settings(unknown_members=...)` says."
    yield from (
        "",
        "| what | operations | members of requests | more |",
        "| --- | --- | --- | --- |",
    )
    for part in UNSERVED:
        names = ", ".join(f"`{name}`" for name in part.operations)
        members = ", ".join(f"`{operation}.{member}`" for operation, member in part.members)
        yield _row(part.subject, names, members, f"[{part.page}](../{part.page})")


def not_there() -> str:
    """Return the line that says what is not served."""
    subjects = "; ".join(part.subject for part in UNSERVED)
    return f"{NOT_THERE}{subjects[0].upper()}{subjects[1:]}."


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def rules() -> str:
    """Return the files of rules with their prefixes, and the rules that nothing cites."""
    every = defined()
    in_code, in_tests = (_covered_below(root, every) for root in ("emulator", "tests"))
    lines = [
        "## The files",
        "",
        "| file | prefixes | rules | cited by code | by tests only | open |",
    ]
    lines += ["| --- | --- | ---: | ---: | ---: | ---: |"]
    open_rules = []
    for file in dict.fromkeys(rule.file for rule in every.values()):
        ids = [rule.id for rule in every.values() if rule.file == file]
        unread = [one for one in ids if one not in in_code | in_tests]
        code = sum(one in in_code for one in ids)
        prefixes = ", ".join(dict.fromkeys(map(prefix, ids)))
        counts = (len(ids), code, len(ids) - code - len(unread), len(unread))
        lines.append(_row(f"[{file}]({file})", prefixes, *map(str, counts)))
        if unread:
            open_rules.append(_row(f"[{file}]({file})", runs(unread)))
    lines += ["", "## Open rules", ""]
    lines += [
        "Neither code nor tests cite these: they are doubts about other rules, point to them, are "
        "superseded by them, speak of documents, or are not implemented."
    ]
    lines += ["", "| file | rules |", "| --- | --- |", *open_rules]
    return "\n".join(lines) + "\n"


def _covered_below(root: str, every: dict[str, Rule]) -> set[str]:
    return {rule for file in sources(root) for rule in covered(file.read_text(), every)}


def conformance() -> str:
    """Return the cases of May 2026 reworded since, and those of October by tier and file."""
    tiers = dict.fromkeys(file.split("/")[0] for file in FILES)
    lines = [*_reworded(), "", "## The recordings, by tier", ""]
    lines += ["| tier | files | cases | requests | pass, `2026-10` | pass, `classic` |"]
    lines += ["| --- | ---: | ---: | ---: | ---: | ---: |"]
    for tier in sorted(tiers):
        held = [cases for file, cases in FILES.items() if file.startswith(f"{tier}/")]
        cases = sum(map(len, held))
        requests = sum(len(steps) for of_file in held for steps in of_file.values())
        counts = (len(held), cases, requests, cases, cases)
        lines.append(_row(tier, *(f"{count:,}" for count in counts)))
    lines += ["", "A case that failed would fail the tests, so all of them pass. By file:", ""]
    lines += ["| file of the suite | cases |", "| --- | ---: |"]
    lines += [_row(f"`{file}`", str(len(cases))) for file, cases in sorted(FILES.items())]
    return "\n".join(lines) + "\n"


def _reworded() -> Iterator[str]:
    yield f"## The {len(REWORDED)} cases of May that are worded otherwise since"
    yield ""
    yield "Each is played in both profiles: `classic` says the words of May, the default one those"
    yield "since. All dates are of 2026; where no whole sentence is mentioned, the suite looked for"
    yield "a part of it. The regions are those that said the older words when they were asked last."
    yield ""
    yield "| operation, case | in May | since | recorded since | older words in | rule |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for one in REWORDED:
        before, since = (f"`{text}`" for text in (one.before, one.since))
        case = f"{one.operation}: {one.case}"
        yield _row(case, before, since, one.seen, one.older, one.rule)


def lab_file() -> str:
    """Return every member that a lab file may have, record by record."""
    lines = []
    for record in all_records(LAB_FILE):
        lines += [f"## {record.title}", "", record.about, ""]
        lines += ["| member | what it may be | default | meaning | example |"]
        lines += ["| --- | --- | --- | --- | --- |"]
        lines += [_member_row(name, member) for name, member in record.members.items()]
        lines.append("")
    return "\n".join(lines)


def schema_text() -> str:
    """Return the JSON Schema of the lab file, as it is shipped."""
    return json.dumps(schema.lab_file_schema(), indent=1) + "\n"


def _member_row(name: str, member: FormMember) -> str:
    default = "*required*" if member.required else _written(member.default)
    example = _written(member.example, name)
    return _row(f"`{name}`", member.form.words, default, member.about, example)


def _written(value: object, name: str = "") -> str:
    """Return a value as a lab file has it, on one line; nothing for none."""
    if value is None:
        return ""
    text = yaml.dump(value, default_flow_style=True, sort_keys=False, width=10_000)
    text = text.removesuffix("...\n").strip()
    return f"`{name}: {text}`" if name else f"`{text}`"


GENERATED = {
    "reference/conformance.md": conformance,
    "reference/fidelity.md": fidelity,
    "reference/lab-file.md": lab_file,
    "reference/operations.md": operations,
    "reference/settings.md": settings,
    "rules/README.md": rules,
}


def page(name: str) -> str:
    """Return a whole page: what is written by hand, the mark, and what is read off the code."""
    committed = (PAGES / name).read_text()
    head, mark, _ = committed.partition(MARK)
    assert mark, f"{name} has no line {MARK!r}"
    home = "" if name.startswith("rules/") else "../rules/"
    return f"{head}{MARK}\n{linked(GENERATED[name](), home)}"


def main() -> None:
    """Write every page anew."""
    for name in GENERATED:
        (PAGES / name).write_text(page(name))
        print(f"docs/{name}")
    schema.SHIPPED.write_text(schema_text())
    text = RELY_ON.read_text()
    lines = [not_there() if line.startswith(NOT_THERE) else line for line in text.splitlines()]
    RELY_ON.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
