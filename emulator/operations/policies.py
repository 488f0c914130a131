"""Policy documents: what one says, and whether it lets somebody do something (OTH-18, OTH-22)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from enum import Enum
from functools import lru_cache
from typing import Any, Final, NamedTuple

#: The account as a whole, and everybody.
_EVERYBODY: Final = "*"
_ROOT: Final = re.compile(r"arn:aws:iam::(\d{12}):root")


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
        """The caller as policies name it. Assumed: users are called like their access keys."""
        return f"arn:aws:iam::{self.account_id}:user/{self.access_key}"


class Statement(NamedTuple):
    """One statement of a policy; of each pair, one side says what it is not about."""

    is_denial: bool
    principals: tuple[str, ...]
    is_for_others: bool
    actions: tuple[str, ...]
    is_about_other_actions: bool
    resources: tuple[str, ...]
    is_about_other_resources: bool
    has_condition: bool

    def concerns(self, caller: Caller, action: str, resource: str) -> bool:
        """Return whether it is about somebody's action on a resource."""
        return (
            any(_names(principal, caller) for principal in self.principals) != self.is_for_others
            and any(_matches(pattern.lower(), action.lower()) for pattern in self.actions)
            != self.is_about_other_actions
            and any(_matches(pattern, resource) for pattern in self.resources)
            != self.is_about_other_resources
        )


def _names(principal: str, caller: Caller) -> bool:
    """Return whether a principal is the caller, its account, or everybody."""
    root = _ROOT.fullmatch(principal)
    account_id = principal if root is None else root[1]
    return principal in (_EVERYBODY, caller.arn) or account_id == caller.account_id


def _matches(pattern: str, text: str) -> bool:
    return _pattern(pattern).fullmatch(text) is not None


@lru_cache(maxsize=1024)
def _pattern(pattern: str) -> re.Pattern[str]:
    escaped = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
    return re.compile(escaped, re.DOTALL)


@lru_cache(maxsize=256)
def parse(text: str) -> tuple[Statement, ...] | None:
    """Return the statements of a policy, or None if it is none.

    >>> parse('{"Statement": {"Effect": "Deny", "Principal": "*", "Action": "*", "Resource": "*"}}')
    (Statement(is_denial=True, principals=('*',), is_for_others=False, actions=('*',),
     is_about_other_actions=False, resources=('*',), is_about_other_resources=False,
     has_condition=False),)
    >>> parse("[]") is None
    True
    """
    try:
        document = json.loads(text)
        statements = document["Statement"]
        if isinstance(statements, dict):
            statements = [statements]
        return tuple(_statement(statement) for statement in statements)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _statement(written: Any) -> Statement:
    if written["Effect"] not in ("Allow", "Deny"):
        raise ValueError(written["Effect"])
    principal, is_for_others = _either(written, "Principal")
    actions, is_about_other_actions = _either(written, "Action")
    resources, is_about_other_resources = _either(written, "Resource")
    return Statement(
        written["Effect"] == "Deny",
        _principals(principal),
        is_for_others,
        _texts(actions),
        is_about_other_actions,
        _texts(resources),
        is_about_other_resources,
        bool(written.get("Condition")),
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


def judge(statements: Sequence[Statement], caller: Caller, action: str, resource: str) -> Verdict:
    """Return what a policy says; a denial counts more than anything.

    A condition is not evaluated: a denial under one denies, what is allowed under one is not.
    """
    concerned = [s for s in statements if s.concerns(caller, action, resource)]
    if any(statement.is_denial for statement in concerned):
        return Verdict.DENIED
    is_allowed = any(not statement.has_condition for statement in concerned)
    return Verdict.ALLOWED if is_allowed else Verdict.NOT_MENTIONED
