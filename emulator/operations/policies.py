"""Policy documents: what one says, and whether it allows an action (OTH-18, OTH-22).

What the Condition of a statement asks is ``policy_conditions``' to say (OTH-23).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from enum import Enum
from functools import lru_cache
from typing import Any, Final, NamedTuple

from emulator.operations import policy_conditions as conditions

#: The account as a whole, and everybody.
_EVERYBODY: Final = "*"
_ROOT: Final = re.compile(r"arn:aws:iam::(\d{12}):root")
#: The version in which ``${…}`` is a variable; without one it is not.
_WITH_VARIABLES: Final = "2012-10-17"
_SEARCH: Final = "dynamodb:searchvectors"


class Verdict(Enum):
    """What a policy says of an action."""

    ALLOWED = "allowed"
    DENIED = "denied"
    NOT_MENTIONED = "not mentioned"


class Caller(NamedTuple):
    """Who asks: a user of the account, named by its access key.

    >>> Caller("000000000000", "ann").arn
    'arn:aws:iam::000000000000:user/ann'
    """

    account_id: str
    access_key: str

    @property
    def arn(self) -> str:
        """The caller as policies name it. Assumed: a user's name is its access key."""
        return f"arn:aws:iam::{self.account_id}:user/{self.access_key}"


class Statement(NamedTuple):
    """One statement of a policy; of each pair, one side says what it is not about.

    Attributes:
        clauses: What its Condition asks; all of it must be so.
        unknown: The operator or key of the Condition that nothing is known of, if there is one.
        has_variables: Whether ``${…}`` stands for something of the request.
    """

    is_denial: bool
    principals: tuple[str, ...]
    is_for_others: bool
    actions: tuple[str, ...]
    is_about_other_actions: bool
    resources: tuple[str, ...]
    is_about_other_resources: bool
    clauses: tuple[conditions.ConditionClause, ...]
    unknown: str | None
    has_variables: bool

    def concerns(
        self, caller: Caller, action: str, resource: str, context: conditions.Context
    ) -> bool:
        """Return whether it applies to a caller's action on a resource."""
        variables = context if self.has_variables else None
        return (
            any(_names(principal, caller) for principal in self.principals) != self.is_for_others
            and any(_matches(pattern.lower(), action.lower()) for pattern in self.actions)
            != self.is_about_other_actions
            and any(_matches(pattern, resource, variables) for pattern in self.resources)
            != self.is_about_other_resources
        )

    def applies(self, action: str, context: conditions.Context) -> bool:
        """Return whether a request is as its Condition asks.

        What cannot be judged denies and does not allow: a condition that nothing is known of, and
        a fine-grained one of a search (VIX-51).
        """
        is_fine = any(clause.key in conditions.FINE_GRAINED for clause in self.clauses)
        if self.unknown is not None or (is_fine and action.lower() == _SEARCH):
            return self.is_denial
        return all(clause.holds(context) for clause in self.clauses)


def _names(principal: str, caller: Caller) -> bool:
    """Return whether a principal is the caller, its account, or everybody."""
    root = _ROOT.fullmatch(principal)
    account_id = principal if root is None else root[1]
    return principal in (_EVERYBODY, caller.arn) or account_id == caller.account_id


def _matches(pattern: str, text: str, variables: conditions.Context | None = None) -> bool:
    expression = conditions.replaced(pattern, variables, is_pattern=True)
    return expression is not None and conditions.matches(text, expression)


@lru_cache(maxsize=256)
def parse(text: str) -> tuple[Statement, ...] | None:
    """Return the statements of a policy, or None if it is none.

    >>> parse('{"Statement": {"Effect": "Deny", "Principal": "*", "Action": "*", "Resource": "*"}}')
    (Statement(is_denial=True, principals=('*',), is_for_others=False, actions=('*',),
     is_about_other_actions=False, resources=('*',), is_about_other_resources=False,
     clauses=(), unknown=None, has_variables=False),)
    >>> parse("[]") is None
    True
    """
    try:
        document = json.loads(text)
        statements = document["Statement"]
        if isinstance(statements, dict):
            statements = [statements]
        has_variables = document.get("Version") == _WITH_VARIABLES
        return tuple(_statement(statement, has_variables=has_variables) for statement in statements)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _statement(written: Any, *, has_variables: bool) -> Statement:
    if written["Effect"] not in ("Allow", "Deny"):
        raise ValueError(written["Effect"])
    principal, is_for_others = _either(written, "Principal")
    actions, is_about_other_actions = _either(written, "Action")
    resources, is_about_other_resources = _either(written, "Resource")
    unknown: str | None = None
    clauses: tuple[conditions.ConditionClause, ...] = ()
    try:
        clauses = conditions.parse(written.get("Condition") or {}, has_variables=has_variables)
    except conditions.UnknownCondition as error:
        unknown = str(error)
    return Statement(
        written["Effect"] == "Deny",
        _principals(principal),
        is_for_others,
        _texts(actions),
        is_about_other_actions,
        _texts(resources),
        is_about_other_resources,
        clauses,
        unknown,
        has_variables,
    )


def _either(written: dict[str, Any], member: str) -> tuple[Any, bool]:
    """Return a member, or what stands under its opposite, and whether it is that."""
    opposite = f"Not{member}"
    if (member in written) == (opposite in written):
        raise ValueError(member)
    return written.get(member, written.get(opposite)), opposite in written


def _principals(written: Any) -> tuple[str, ...]:
    if written == _EVERYBODY:
        return (_EVERYBODY,)
    if not isinstance(written, dict) or not written:
        raise TypeError("Principal")
    for names in written.values():
        _texts(names)
    return _texts(written.get("AWS", []))


def _texts(written: Any) -> tuple[str, ...]:
    texts = [written] if isinstance(written, str) else written
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise TypeError("a text or a list of texts is expected")
    return tuple(texts)


def judge(
    statements: Sequence[Statement],
    caller: Caller,
    action: str,
    resource: str,
    context: conditions.Context,
) -> Verdict:
    """Return what a policy says of a request; a denial counts more than anything."""
    applied = [
        statement
        for statement in statements
        if statement.concerns(caller, action, resource, context)
        and statement.applies(action, context)
    ]
    if any(statement.is_denial for statement in applied):
        return Verdict.DENIED
    return Verdict.ALLOWED if applied else Verdict.NOT_MENTIONED
