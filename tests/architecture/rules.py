"""The rules of ``docs/rules``: where each id is defined, and where it is cited.

A definition is an anchor with the id behind it: ``<a id="cap-509"></a>**CAP-509**``. Everything
else that looks like an id is a citation.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
RULES = ROOT / "docs" / "rules"

ID = r"(?:L\d|[A-Z][A-Z0-9]{1,5}(?:-[A-Z]{2,6})?-V?\d+)(?![\w-])"
DEFINITION = re.compile(rf'<a id="([a-z0-9-]+)"></a>(?:\*\*)?({ID})')
CITATION = re.compile(rf"(?<![\w#-])({ID})(?:(?: to |\.\.)({ID}))?")
#: What looks like an id and is none: encodings, digests, standards, names in examples, editions.
NOT_RULES = ("CRC", "DG", "GI", "ISO", "MD5", "RFC", "SHA", "SQL", "UTF")


class Rule(NamedTuple):
    """A rule, and the file that defines it."""

    id: str
    file: str

    @property
    def anchor(self) -> str:
        """Return file and anchor, relative to ``docs/rules``.

        >>> Rule("CAP-509", "capacity.md").anchor
        'capacity.md#cap-509'
        """
        return f"{self.file}#{self.id.lower()}"


def definitions() -> Iterator[tuple[str, Rule]]:
    """Yield the anchor and the rule of every definition, file by file."""
    for file in sorted(RULES.glob("*.md")):
        for anchor, rule in DEFINITION.findall(_without_code(file.read_text())):
            yield anchor, Rule(rule, file.name)


def defined() -> dict[str, Rule]:
    """Return the rules by id, in the order of their files."""
    return {rule.id: rule for _, rule in definitions()}


@cache
def prefix(rule: str) -> str:
    """Return what stands before the number of an id.

    >>> prefix("ERR-CT-4"), prefix("MAK-V3"), prefix("L0")
    ('ERR-CT', 'MAK', 'L')
    """
    return re.sub(r"-?V?\d+$", "", rule)


def cited(text: str) -> set[str]:
    """Return the ids that a text names; of a range, its two ends.

    >>> sorted(cited("UTF-8 by PRO-1 to PRO-3, L0 and CAP-505."))
    ['CAP-505', 'L0', 'PRO-1', 'PRO-3']
    """
    return _ends(CITATION.findall(text))


def _ends(found: list[tuple[str, str]]) -> set[str]:
    """Return the ids at the ends of what was found, a range or a single one."""
    ids = {end for match in found for end in match if end}
    return {one for one in ids if prefix(one) not in NOT_RULES}


def covered(text: str, rules: dict[str, Rule]) -> set[str]:
    """Return the rules that a text names; of a range, all that are defined within it.

    >>> rules = dict.fromkeys(("PRO-1", "PRO-2", "PRO-3", "PRO-7"), Rule("", ""))
    >>> sorted(covered("PRO-1 to PRO-3", rules))
    ['PRO-1', 'PRO-2', 'PRO-3']
    """
    found = CITATION.findall(text)
    ids = _ends(found)
    for first, last in found:
        if last:
            within = range(number(first), number(last) + 1)
            ids |= {one for one in rules if prefix(one) == prefix(first) and number(one) in within}
    return ids


def number(rule: str) -> int:
    """Return the number of an id."""
    return int(re.findall(r"\d+$", rule)[0])


def citations(*roots: str) -> dict[str, set[str]]:
    """Return who cites what: ids, and the files below these roots that name them."""
    files = defaultdict(set)
    for file in sources(*roots):
        for rule in cited(file.read_text()):
            files[rule].add(str(file.relative_to(ROOT)))
    return files


def sources(*roots: str) -> Iterator[Path]:
    """Yield the Python files and the documents below these roots."""
    for root in roots:
        path = ROOT / root
        files = [path] if path.is_file() else sorted(path.rglob("*"))
        yield from (file for file in files if file.suffix in (".py", ".md"))


def linked(text: str, home: str) -> str:
    """Return a Markdown text with a link on every rule outside code.

    ``home`` is the way from the page to the rules.

    >>> linked("CAP-509, `CAP-509`, [CAP-509](x)", "rules/")
    '[CAP-509](rules/capacity.md#cap-509), `CAP-509`, [CAP-509](x)'
    """
    rules = defined()

    def link(match: re.Match[str]) -> str:
        rule = rules.get(match[1]) if match[1] else None
        return f"[{match[1]}]({home}{rule.anchor})" if rule else match[0]

    return re.sub(rf"`[^`]*`|\[[^\]]*\]\([^)]*\)|(?<![\w#-])({ID})", link, text)


def runs(ids: list[str]) -> str:
    """Return ids as a short list: neighbours become a range.

    >>> runs(["A-1", "A-2", "A-3", "A-7", "B-1", "B-2"])
    'A-1 to A-3, A-7, B-1, B-2'
    """
    groups: list[list[str]] = []
    for rule in ids:
        last = groups[-1][-1] if groups else ""
        follows = last and prefix(last) == prefix(rule) and number(last) + 1 == number(rule)
        if follows:
            groups[-1].append(rule)
        else:
            groups.append([rule])
    return ", ".join(
        f"{group[0]} to {group[-1]}" if len(group) > 2 else ", ".join(group) for group in groups
    )


def _without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", text)
