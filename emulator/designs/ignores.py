"""Which findings a project lives with: comments in files, settings, the command line (ICH-81).

In a file, ``# dynamometer: ignore[time-key] the reason`` stands on the line it is about, above it,
or above the block; ``# dynamometer: ignore-file[time-key] the reason`` at the top covers the file.
A CloudFormation resource says ``Metadata: {dynamometer: {ignore: [...]}}``, pyproject.toml
``[tool.dynamometer.check] ignore``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from emulator.designs.catalogue import RULES
from emulator.designs.findings import Finding, Position, Severity
from emulator.files import open_file
from emulator.service.errors import DocumentError

EVERY: Final = "*"
SETTINGS_FILE: Final = "pyproject.toml"
_COMMENT: Final = re.compile(
    r"(?P<mark>\#|//|/\*)\s*dynamometer:\s*ignore(?P<file>-file)?\[(?P<rules>[^\]]*)\]"
    r"\s*(?P<reason>.*?)\s*(?:\*/)?\s*$"
)
_ONLY_COMMENT: Final = re.compile(r"\s*(\#|//|/\*)")
_SETTINGS_FORM: Final = (
    "{path}: tool.dynamometer.check.ignore: expected a list of texts such as 'time-key' or "
    "'time-key@aws_dynamodb_table.events', or of tables with rule and reason, found {found!r}"
)


@dataclass(frozen=True)
class Ignore:
    """A wish not to hear of a rule, about some findings or all."""

    rule: str
    reason: str = ""
    #: Only of this table, index or pattern; ``*`` and ``?`` stand for other signs.
    address: str | None = None
    file: str | None = None
    #: The line that it is about; None: the whole file.
    target: int | None = None
    #: Where it is written; None: outside of the files that are checked.
    position: Position | None = None

    def covers(self, finding: Finding, lines: Collection[int]) -> bool:
        """Return whether a finding is one of those, given the lines of all that it stands in."""
        if self.rule not in (EVERY, finding.rule):
            return False
        if self.file is not None and self.file != finding.file:
            return False
        if self.target is not None and self.target not in lines:
            return False
        return self.address is None or _is_at(finding.subject, self.address)


def _is_at(subject: str, address: str) -> bool:
    """Return whether a subject is a table, or an index of it.

    >>> _is_at("aws_dynamodb_table.a byDay", "aws_dynamodb_table.a"), _is_at("ab", "a")
    (True, False)
    """
    return fnmatchcase(subject, address) or fnmatchcase(subject, f"{address} *")


def in_text(text: str, file: str) -> Iterator[Ignore]:
    r"""Yield what the comments of a file ignore.

    >>> text = '# dynamometer: ignore[time-key] one writer\nhash_key = "day"'
    >>> [ignore] = in_text(text, "main.tf")
    >>> ignore.rule, ignore.reason, ignore.target
    ('time-key', 'one writer', 2)
    """
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if "dynamometer:" not in line:
            continue
        comment = _COMMENT.search(line)
        if comment is None:
            continue
        is_alone = not line[: comment.start()].strip()
        covers_file = comment["file"] is not None and all(
            not above.strip() or _ONLY_COMMENT.match(above) for above in lines[: number - 1]
        )
        position = Position(number, comment.start() + 1, number, comment.end() + 1)
        target: int | None = _next_code(lines, number) if is_alone else number
        if covers_file:
            target = None
        elif comment["file"] is not None:
            target = 0  # no line: it is not at the top, and reported as unused
        for rule in comment["rules"].split(","):
            yield Ignore(
                rule.strip(), comment["reason"], file=file, target=target, position=position
            )


def _next_code(lines: Sequence[str], number: int) -> int:
    """Return the number of the first line after a comment that is neither empty nor a comment."""
    for later, line in enumerate(lines[number:], number + 1):
        if line.strip() and not _ONLY_COMMENT.match(line):
            return later
    return number


def from_argument(text: str) -> Ignore:
    """Read ``RULE`` or ``RULE@ADDRESS`` of the command line.

    >>> from_argument("spread@aws_dynamodb_table.orders").address
    'aws_dynamodb_table.orders'
    """
    rule, _, address = text.partition("@")
    return Ignore(rule.strip(), "asked for", address=address.strip() or None)


def from_metadata(metadata: Any, file: str, address: str) -> Iterator[Ignore]:
    """Yield what the ``Metadata`` of a resource ignores: rules, or rules with reasons."""
    own = metadata.get("dynamometer") if isinstance(metadata, Mapping) else None
    listed = own.get("ignore") if isinstance(own, Mapping) else None
    if isinstance(listed, Mapping):
        listed = [{"rule": rule, "reason": reason} for rule, reason in listed.items()]
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, str):
            yield Ignore(entry, address=address, file=file, position=Position(1))
        elif isinstance(entry, Mapping):
            reason = str(entry.get("reason") or "")
            rule = str(entry.get("rule"))
            yield Ignore(rule, reason, address=address, file=file, position=Position(1))


def from_settings(start: Path) -> list[Ignore]:
    """Return the ignores of the nearest pyproject.toml, from a directory upwards.

    Raises:
        DocumentError: The file is not TOML, or the setting has another form.
    """
    path = next(
        (
            folder / SETTINGS_FILE
            for folder in (start, *start.parents)
            if (folder / SETTINGS_FILE).is_file()
        ),
        None,
    )
    if path is None:
        return []
    import tomllib

    try:
        with open_file(path) as file:
            settings = tomllib.load(file)
    except (OSError, RecursionError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DocumentError(f"{path}: not TOML: {error}") from error
    own = settings.get("tool", {}).get("dynamometer", {}).get("check", {})
    listed = own.get("ignore", [])
    if not isinstance(listed, list):
        raise DocumentError(_SETTINGS_FORM.format(path=path, found=listed))
    return [_from_setting(entry, path) for entry in listed]


def _from_setting(entry: Any, path: Path) -> Ignore:
    if isinstance(entry, str):
        return from_argument(entry)
    if isinstance(entry, dict) and isinstance(entry.get("rule"), str):
        setting = from_argument(entry["rule"])
        address = entry.get("address", setting.address)
        return Ignore(setting.rule, str(entry.get("reason", "")), address=address)
    raise DocumentError(_SETTINGS_FORM.format(path=path, found=entry))


class Ignores:
    """All that is ignored in one check; it remembers what was of use."""

    def __init__(self, ignores: Iterable[Ignore]) -> None:
        self._ignores = list(ignores)
        self._used: set[int] = set()

    def covers(self, finding: Finding, lines: Collection[int] = ()) -> bool:
        """Return whether a finding is ignored."""
        covering = [
            number
            for number, ignore in enumerate(self._ignores)
            if ignore.covers(finding, lines or {finding.line or 1})
        ]
        self._used.update(covering)
        return bool(covering)

    def complaints(self) -> Iterator[Finding]:
        """Yield what is wrong with the ignores themselves; ask after all findings were shown."""
        from difflib import get_close_matches

        for number, ignore in enumerate(self._ignores):
            if ignore.rule not in RULES and ignore.rule != EVERY:
                near = get_close_matches(ignore.rule, RULES, n=1)
                hint = (
                    f"Did you mean {near[0]}?" if near else "See 'dynamometer check --list-rules'."
                )
                message = f"There is no rule {ignore.rule!r} to ignore."
                yield _complaint(ignore, "unknown-ignore", "warning", message, hint)
            elif ignore.position is None:
                continue
            elif number not in self._used:
                message = f"Nothing here is found by {ignore.rule}, which is ignored."
                fix = "Remove it; what is ignored for a whole file stands at its top."
                yield _complaint(ignore, "unused-ignore", "info", message, fix)
            elif not ignore.reason:
                message = f"The rule {ignore.rule} is ignored without a reason."
                yield _complaint(
                    ignore, "ignore-without-reason", "info", message, "Write the reason behind it."
                )


def _complaint(ignore: Ignore, rule: str, severity: Severity, message: str, fix: str) -> Finding:
    subject = ignore.address or ignore.file or "ignore"
    finding = Finding(rule, severity, subject, message, fix, ignore.rule)
    return finding if ignore.file is None else finding.at(ignore.file, ignore.position)
