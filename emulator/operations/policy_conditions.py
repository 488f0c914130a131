"""The Condition of a policy statement: what it asks of a request, and whether that is so (OTH-23).

Source: IAM User Guide, condition operators, multivalued context keys, policy variables.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from ipaddress import ip_address, ip_network
from operator import ge, gt, le, lt
from typing import Any, Final, NamedTuple, TypeAlias

#: The values that a request has for each key, by the key's name in lower case; a key that a
#: request does not have is missing.
Context: TypeAlias = Mapping[str, tuple[str, ...]]

#: Keys with fine-grained meaning: a statement that names one has nothing to say to SearchVectors.
FINE_GRAINED: Final = frozenset(
    f"dynamodb:{name}".lower()
    for name in (
        *("LeadingKeys", "Attributes", "Select", "ReturnValues", "ReturnConsumedCapacity"),
        *("FirstPartitionKeyValues", "SecondPartitionKeyValues"),
        *("ThirdPartitionKeyValues", "FourthPartitionKeyValues"),
    )
)
#: Keys that requests to the service can have. Source: IAM User Guide, global condition context
#: keys; Service Authorization Reference, condition keys of DynamoDB. The lower ones are never
#: present here: no call comes from a private network, through another service or with a role.
KNOWN_KEYS: Final = FINE_GRAINED | frozenset(
    name.lower()
    for name in (
        *("dynamodb:EnclosingOperation", "dynamodb:FullTableScan"),
        *("aws:CurrentTime", "aws:EpochTime", "aws:PrincipalAccount", "aws:PrincipalArn"),
        *("aws:PrincipalIsAWSService", "aws:PrincipalType", "aws:RequestedRegion"),
        *("aws:ResourceAccount", "aws:SecureTransport", "aws:SourceIp", "aws:TagKeys"),
        *("aws:userid", "aws:username", "aws:ViaAWSService"),
        *("aws:CalledVia", "aws:CalledViaFirst", "aws:CalledViaLast", "aws:FederatedProvider"),
        *("aws:MultiFactorAuthAge", "aws:MultiFactorAuthPresent", "aws:PrincipalOrgID"),
        *("aws:PrincipalOrgPaths", "aws:PrincipalServiceName", "aws:PrincipalServiceNamesList"),
        *("aws:Referer", "aws:ResourceOrgID", "aws:ResourceOrgPaths", "aws:SourceAccount"),
        *("aws:SourceArn", "aws:SourceIdentity", "aws:SourceOrgID", "aws:SourceOrgPaths"),
        *("aws:SourceVpc", "aws:SourceVpce", "aws:SourceVpcArn", "aws:TokenIssueTime"),
        *("aws:UserAgent", "aws:VpcSourceIp", "dynamodb:FisActionId", "dynamodb:FisTargetArns"),
    )
)
#: Beginnings of keys that end in the name of a tag.
_TAG_KEYS: Final = ("aws:resourcetag/", "aws:requesttag/", "aws:principaltag/")

_SETS: Final = {"forallvalues": all, "foranyvalue": any}
_IF_EXISTS: Final = "ifexists"
_NULL: Final = "null"
_VARIABLE: Final = re.compile(r"\$\{([^{}]*)\}")
_DEFAULT: Final = re.compile(r"\s*,\s*'(.*)'\s*")

#: Whether a value of a request is what a value of a policy asks for; the latter with its
#: variables already replaced, as a regular expression where it may be a pattern.
_Fits: TypeAlias = Callable[[str, str], bool]


class UnknownCondition(Exception):
    """A condition that nothing is known of: its operator or its key."""


class ConditionClause(NamedTuple):
    """One operator, one key, the values that a policy gives for it.

    Attributes:
        kind: The operator in lower case, without what stands before and behind it.
        over: ``forallvalues`` or ``foranyvalue`` if it stood before, or None.
        if_exists: Whether a request without the key passes.
        key: The key's name in lower case.
        values: The values, variables and all.
        has_variables: Whether ``${…}`` are variables, as since version 2012-10-17.
    """

    kind: str
    over: str | None
    if_exists: bool
    key: str
    values: tuple[str, ...]
    has_variables: bool

    def holds(self, context: Context) -> bool:
        """Return whether a request is as the condition wants it."""
        present = context.get(self.key)
        if self.kind == _NULL:
            return any((present is None) == (value.lower() == "true") for value in self.values)
        if present is None:
            if self.if_exists or self.over == "forallvalues":
                return True
            return self.over is None and self.kind in _NEGATED
        fits, is_negated = _OPERATORS[self.kind], self.kind in _NEGATED
        wanted = [
            text for value in self.values if (text := self._replaced(value, context)) is not None
        ]
        met = [any(fits(value, text) for text in wanted) != is_negated for value in present]
        # Assumed: without a quantifier, one matching value is enough; for a negated operator, no
        # value may match.
        return (_SETS[self.over] if self.over else all if is_negated else any)(met)

    def _replaced(self, value: str, context: Context) -> str | None:
        is_pattern = self.kind in _PATTERNS
        known = context if self.has_variables else None
        return replaced(value, known, is_pattern=is_pattern)


def parse(written: Any, *, has_variables: bool) -> tuple[ConditionClause, ...]:
    """Return the clauses of a Condition; all of them must hold.

    Raises:
        Unknown: an operator or a key is none of the service's.
        TypeError, ValueError, AttributeError: it is no Condition.

    >>> parse({"Bool": {"aws:SecureTransport": "true"}}, has_variables=True)
    (ConditionClause(kind='bool', over=None, if_exists=False, key='aws:securetransport',
     values=('true',), has_variables=True),)
    """
    return tuple(
        _clause(operator, key, values, has_variables=has_variables)
        for operator, keys in written.items()
        for key, values in keys.items()
    )


def _clause(operator: str, key: str, values: Any, *, has_variables: bool) -> ConditionClause:
    over, _, name = operator.lower().rpartition(":")
    if_exists = name.endswith(_IF_EXISTS) and name != _IF_EXISTS
    kind = name.removesuffix(_IF_EXISTS) if if_exists else name
    is_known = kind in _OPERATORS or (kind == _NULL and not if_exists)
    if not is_known or (over and over not in _SETS):
        raise UnknownCondition(operator)
    lower = key.lower()
    if lower not in KNOWN_KEYS and not lower.startswith(_TAG_KEYS):
        raise UnknownCondition(key)
    listed = values if isinstance(values, list) else [values]
    texts = tuple(_text(value) for value in listed)
    if kind in _PARSED:
        for text in texts:
            if not (has_variables and _VARIABLE.search(text)):
                _PARSED[kind](text)
    return ConditionClause(kind, over or None, if_exists, lower, texts, has_variables)


def _text(value: Any) -> str:
    """Return a value as text: JSON's numbers and booleans may stand for theirs."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    raise TypeError("a condition's value is a text, a number or a boolean")


def replaced(text: str, context: Context | None, *, is_pattern: bool) -> str | None:
    r"""Return a policy's text with its variables replaced, or None if one of them is missing.

    A pattern becomes a regular expression, in which what a variable stands for means itself.

    >>> replaced("${aws:username}/*", {"aws:username": ("a*",)}, is_pattern=True)
    'a\\*/.*'
    >>> replaced("${aws:username}", {}, is_pattern=False) is None
    True

    Args:
        text: What the policy says.
        context: What the request is; None where ``${`` has no meaning.
        is_pattern: Whether ``*`` and ``?`` stand for other characters.
    """
    plain: Callable[[str], str] = pattern if is_pattern else str
    if context is None:
        return plain(text)
    pieces, end = [], 0
    for variable in _VARIABLE.finditer(text):
        meaning = _meaning(variable[1], context)
        if meaning is None:
            return None
        pieces += [
            plain(text[end : variable.start()]),
            re.escape(meaning) if is_pattern else meaning,
        ]
        end = variable.end()
    return "".join([*pieces, plain(text[end:])])


def _meaning(variable: str, context: Context) -> str | None:
    """Return what a variable stands for: a character, the one value of a key, or its default."""
    if variable in ("*", "?", "$"):
        return variable
    name, comma, rest = variable.partition(",")
    present = context.get(name.strip().lower())
    if present is not None and len(present) == 1:
        return present[0]
    default = _DEFAULT.fullmatch(comma + rest)
    return None if default is None else default[1]


def pattern(text: str) -> str:
    """Return the regular expression of a text in which ``*`` and ``?`` stand for others.

    >>> pattern("table/t*")
    'table/t.*'
    """
    return re.escape(text).replace(r"\*", ".*").replace(r"\?", ".")


def matches(text: str, expression: str) -> bool:
    """Return whether a text as a whole is as a regular expression says."""
    return _compiled(expression).fullmatch(text) is not None


@lru_cache(maxsize=1024)
def _compiled(expression: str) -> re.Pattern[str]:
    """Return an expression in which what follows a star is looked for once, from the left.

    With several stars, the other ways to place it lead nowhere, and there are exponentially many.
    """
    first, *others = expression.split(".*")
    if others:
        between = "".join(f"(?>.*?{part})" for part in others[:-1])
        first = f"{first}{between}.*{others[-1]}"
    return re.compile(first, re.DOTALL)


def _same_arn(value: str, expression: str) -> bool:
    """Return whether each of the six parts of an ARN is as that of a pattern says."""
    parts, wanted = value.split(":", 5), expression.split(":", 5)
    return len(parts) == len(wanted) and all(map(matches, parts, wanted))


def _equal(value: Any, wanted: Any) -> bool:
    return bool(value == wanted)


def _compared(read: Callable[[str], Any], compare: Callable[[Any, Any], bool]) -> _Fits:
    def fits(value: str, wanted: str) -> bool:
        try:
            return compare(read(value), read(wanted))
        except (ValueError, TypeError):
            return False

    return fits


def _number(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError(text) from None


def _moment(text: str) -> float:
    """Return a date of ISO 8601 or seconds since 1970."""
    try:
        return float(text)
    except ValueError:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ValueError(text) from None


def _in_network(value: str, network: str) -> bool:
    try:
        return ip_address(value) in ip_network(network, strict=False)
    except ValueError:
        return False


def _network(text: str) -> Any:
    return ip_network(text, strict=False)


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


_ORDERS: Final = {
    "equals": _equal,
    "notequals": _equal,
    "lessthan": lt,
    "lessthanequals": le,
    "greaterthan": gt,
    "greaterthanequals": ge,
}
_OPERATORS: Final[dict[str, _Fits]] = {
    "stringequals": _equal,
    "stringnotequals": _equal,
    "stringequalsignorecase": lambda value, wanted: value.casefold() == wanted.casefold(),
    "stringnotequalsignorecase": lambda value, wanted: value.casefold() == wanted.casefold(),
    "stringlike": matches,
    "stringnotlike": matches,
    "arnequals": _same_arn,
    "arnlike": _same_arn,
    "arnnotequals": _same_arn,
    "arnnotlike": _same_arn,
    "bool": _compared(_boolean, _equal),
    "binaryequals": _compared(_bytes, _equal),
    "ipaddress": _in_network,
    "notipaddress": _in_network,
    **{f"numeric{name}": _compared(_number, order) for name, order in _ORDERS.items()},
    **{f"date{name}": _compared(_moment, order) for name, order in _ORDERS.items()},
}
_NEGATED: Final = frozenset(name for name in _OPERATORS if "not" in name)
_PATTERNS: Final = frozenset(name for name in _OPERATORS if name.startswith("arn")) | {
    "stringlike",
    "stringnotlike",
}
#: What reads a policy's value that must be of a kind.
_PARSED: Final[dict[str, Callable[[str], Any]]] = {
    "bool": _boolean,
    "null": _boolean,
    "binaryequals": _bytes,
    "ipaddress": _network,
    "notipaddress": _network,
    **{f"numeric{name}": _number for name in _ORDERS},
    **{f"date{name}": _moment for name in _ORDERS},
}
