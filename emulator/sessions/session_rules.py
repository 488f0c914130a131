"""What fails a test that is not pytest's: its budget in a file, and findings of named kinds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from emulator.service.errors import DocumentError
from emulator.sessions import Fault
from emulator.sessions.finding_policy import FindingsPolicy, kinds_of, verdict

if TYPE_CHECKING:
    from emulator.designs.documents import Document
    from emulator.observe import Budget, CallFinding, Ledger

#: Stand for kinds of failures in ``--fail-on``, beside those of findings.
ANY_FINDING: Final = "finding"
BUDGET: Final = "budget"

_NO_BUDGETS: Final = "budget needs a file of budgets: --budget FILE"
_NOT_BUDGETS: Final = "{place}: expected budgets by test, such as 'TestOrders: {{rcu: 4, wcu: 2}}'"
_NO_LIMIT: Final = "{place}: {test}: there is no limit {name!r}; there are {known}"
_NO_TEST: Final = "{place}: there is no test {test}: there is no file {file}"
_OF_A_FILE: Final = "::"


class SessionRules(NamedTuple):
    """What fails a test.

    Attributes:
        policy: Which findings do.
        budgets: The most that tests may consume, by patterns of their names.
    """

    policy: FindingsPolicy = FindingsPolicy()
    budgets: Mapping[str, Budget] = MappingProxyType({})

    def failures(self, test: str, ledger: Ledger, findings: Iterable[CallFinding]) -> list[str]:
        """Return why a test fails; nothing if it does not."""
        budgets = (budget for name, budget in self.budgets.items() if fnmatch(test, name))
        verdicts = [*(budget.verdict(ledger) for budget in budgets), verdict(findings, self.policy)]
        return [sentence for sentence in verdicts if sentence]

    def unused(self, tests: Iterable[str]) -> list[str]:
        """Return the budgets of tests that were not among these."""
        ran = list(tests)
        return [name for name in self.budgets if not any(fnmatch(test, name) for test in ran)]


def rules_of(fail_on: str, budgets: Path | None) -> SessionRules:
    """Return the rules that a command line states.

    Args:
        fail_on: Kinds of findings with commas between them, ``finding`` for any; ``budget`` says
            that there is a file of budgets, which fail a test anyway.
        budgets: The file, JSON or YAML: for each test, or pattern of names, its limits.

    Raises:
        Fault: one of the kinds is none, or a file is missing.
        DocumentError: the file cannot be used; the message says where.

    >>> sorted(rules_of("throttle,scan", None).policy.fail_on)
    ['scan', 'would-throttle']
    """
    from emulator.observe import KINDS

    words = set(fail_on.replace(",", " ").split())
    if BUDGET in words and budgets is None:
        raise Fault(_NO_BUDGETS)
    kinds = KINDS if ANY_FINDING in words else kinds_of(words - {BUDGET})
    policy = FindingsPolicy(fail_on=frozenset(kinds))
    return SessionRules(policy, {} if budgets is None else dict(_read(budgets)))


def _read(path: Path) -> Iterator[tuple[str, Budget]]:
    from emulator.designs.documents import parse_json, parse_yaml, read_text

    parse = parse_json if path.suffix.lower() == ".json" else parse_yaml
    document = parse(read_text(path), str(path))
    if not isinstance(document.value, dict):
        raise DocumentError(_NOT_BUDGETS.format(place=path))
    for test, limits in document.value.items():
        yield test, _budget(document, test, limits)


def _budget(document: Document, test: Any, limits: Any) -> Budget:
    from emulator.observe import LIMITS, Budget

    place = f"{document.source}:{document.position((test,)).line}"
    if not isinstance(test, str) or not isinstance(limits, dict):
        raise DocumentError(_NOT_BUDGETS.format(place=place))
    file, separator, _ = test.partition(_OF_A_FILE)
    if separator and not Path(file).exists():
        raise DocumentError(_NO_TEST.format(place=place, test=test, file=file))
    for name in limits:
        if name not in LIMITS:
            known = ", ".join(LIMITS)
            raise DocumentError(_NO_LIMIT.format(place=place, test=test, name=name, known=known))
    try:
        return Budget(**limits)
    except (TypeError, ValueError) as error:
        raise DocumentError(f"{place}: {test}: {error}") from error
