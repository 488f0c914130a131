"""Rules in order: a request that breaks several rules is answered with the first of them.

A ladder is a valid request and its faults in the order of the operation's rules. Each step is
played together with all steps after it, so it proves its message and its place at once. All steps
of a ladder are one test, which names those that are answered otherwise.
"""

from functools import cache
from typing import Any, NamedTuple

from emulator import ApiError
from tests.operations.cases.case import (
    AT_LEAST,
    AT_MOST,
    EMPTY_KEY,
    INVALID,
    NAME_PATTERN,
    NOT_THE_SCHEMA,
    constraint,
    detected,
    filled,
    wire,
)

PROFILES = ("2026-10", "classic")


class Step(NamedTuple):
    """One fault.

    Attributes:
        rules: The rules that name it.
        fault: The members that commit it; None takes a member away.
        error: Code and message (profile 2026-10).
        classic: Code and message under the classic profile.
    """

    rules: str
    fault: dict[str, Any]
    error: tuple[str, str]
    classic: tuple[str, str]


def step(rules, fault, error, classic=None):
    """Return a fault; a text is the message of a ValidationException."""
    current, older = (
        ("ValidationException", text) if isinstance(text, str) else text
        for text in (error, error if classic is None else classic)
    )
    return Step(rules, fault, current, older)


def wrapped(rules, fault, message):
    """Return a fault that the current layer wraps in an envelope (PRO-4)."""
    return step(rules, fault, detected(message), message)


class Rung(NamedTuple):
    """A request that commits a fault and all that come after it, and its error."""

    name: str
    profile: str
    request: dict[str, Any]
    error: tuple[str, str]


def ladder(valid, *steps):
    """Return the requests of a ladder with their errors, in both profiles."""
    return [
        Rung(
            f"{fault.rules} ({profile})",
            profile,
            _request(valid, steps[number:]),
            fault.error if profile == "2026-10" else fault.classic,
        )
        for number, fault in enumerate(steps)
        for profile in PROFILES
    ]


def misjudged(operation, rungs):
    """Return the rungs that are answered with anything but their error, by name."""
    answers = ((rung, answer(operation, rung.request, rung.profile)) for rung in rungs)
    return {rung.name: got for rung, got in answers if got != rung.error}


def answer(operation, request, profile="2026-10", given=()):
    """Return the answer of a request on the standard tables, or its code and message."""
    emulator = filled(profile) if given else _untouched(profile)
    for name, earlier in given:
        emulator.call(name, earlier)
    try:
        answered = emulator.call(operation, request)
    except ApiError as error:
        return error.code, error.message
    _untouched.cache_clear()
    return answered


@cache
def _untouched(profile):
    """Return the standard tables, on which nothing but refused requests has been tried.

    ``tests/conformance/test_cases.py`` proves that these change nothing.
    """
    return filled(profile)


def _request(valid, faults):
    request = dict(valid)
    for fault in reversed(faults):
        request |= fault.fault
    return {member: value for member, value in request.items() if value is not None}


# Steps that several operations share: "rule" is that of the operation's order.


def table_name_steps(rule, *, older=False):
    """Return the faults of a table name, each reported alone (ERR-SHAPE-7).

    Args:
        rule: The rule of the operation's order.
        older: Whether the operation has the older wording in both profiles (PRO-2).
    """
    of_old = detected(constraint("''", "tableName", AT_LEAST.format(1)))
    current = detected(f"Value at 'TableName' failed to satisfy constraint: {AT_LEAST.format(1)}")
    return (
        step(
            f"{rule} an empty table name, TBL-7",
            {"TableName": ""},
            of_old if older else current,
            of_old,
        ),
        step(
            f"{rule} a table name of wrong characters, TBL-6",
            {"TableName": "a!b"},
            detected(constraint("'a!b'", "tableName", NAME_PATTERN)),
        ),
        step(
            f"{rule} a table name of 256 characters, TBL-6",
            {"TableName": "x" * 256},
            detected(constraint(f"'{'x' * 256}'", "tableName", AT_MOST.format(255))),
        ),
    )


def members_step(rule, fault, *problems, alone=None):
    """Return the faults of members, reported together; ``alone`` is what the current layer says."""
    together = detected("; ".join(problems), len(problems))
    return step(f"{rule} members together", fault, alone or together, together)


def expression_steps(rule, member, make=wrapped, **others):
    """Return the faults that an expression may have before its table is known (ERR-EXP-31).

    Args:
        rule: The rule of the operation's order.
        member: The expression; it is a condition.
        make: Whether the current layer wraps them: ``wrapped`` or ``step``.
        others: Members that go with each.
    """
    valid = {"#u": "u"}, wire({":u": 1, ":t": True})
    names, values = ("ExpressionAttributeNames", "ExpressionAttributeValues")
    with_placeholders = {names: valid[0], values: valid[1], **others}

    def fault(what, text, message):
        prefix = f"Invalid {member}: "
        return make(f"{rule} {what}", {**with_placeholders, member: text}, prefix + message)

    return (
        fault("an empty expression, EXP-3", "", "The expression can not be empty;"),
        fault(
            "an expression of 4,097 bytes, EXP-4",
            "(" * 4097,
            "Expression size has exceeded the maximum allowed size; expression size: 4097",
        ),
        fault("syntax, LEX-8", "a = = b", 'Syntax error; token: "=", near: "= = b"'),
        fault(
            "a reserved word, LEX-7",
            "Status = :u",
            "Attribute name is a reserved keyword; reserved keyword: Status",
        ),
        fault(
            "an unknown function, EXP-9",
            "nope(a)",
            "Invalid function name; function: nope",
        ),
        fault(
            "too few operands, EXP-10",
            "begins_with(a)",
            "Incorrect number of operands for operator or function; "
            "operator or function: begins_with, number of operands: 1",
        ),
        fault(
            "redundant parentheses, EXP-2",
            "((a = :u))",
            "The expression has redundant parentheses;",
        ),
        fault(
            "an undefined name, PLH-1",
            "#gone = :gone",
            "An expression attribute name used in the document path is not defined; "
            "attribute name: #gone",
        ),
        fault(
            "an undefined value, PLH-1",
            "a = :gone",
            "An expression attribute value used in expression is not defined; "
            "attribute value: :gone",
        ),
        fault(
            "an operand of the wrong type, CND-4",
            "a < :t",
            "Incorrect operand type for operator or function; "
            "operator or function: <, operand type: BOOL",
        ),
    )


def unused_steps(rule, member, text, make=wrapped, **others):
    """Return the faults of placeholders that no expression uses: names, then values (PLH-2)."""
    unused = "Value provided in {} unused in expressions: keys: {}"
    names, values = {"#u": "u"}, wire({":u": 1})
    return (
        make(
            f"{rule} an unused name, PLH-2",
            {
                member: text,
                "ExpressionAttributeNames": names,
                "ExpressionAttributeValues": values,
                **others,
            },
            unused.format("ExpressionAttributeNames", "{#u}"),
        ),
        make(
            f"{rule} an unused value, PLH-2",
            {
                member: text,
                "ExpressionAttributeNames": None,
                "ExpressionAttributeValues": values,
                **others,
            },
            unused.format("ExpressionAttributeValues", "{:u}"),
        ),
    )


def placeholder_steps(rule, expressions, text, *, make=wrapped, values=None):
    """Return the faults of the placeholder maps (PLH-3, PLH-4, LEX-4).

    Args:
        rule: The rule of the operation's order.
        expressions: The expressions of the operation, all absent for PLH-3.
        text: An expression, given as the first of them for the others.
        make: Whether the current layer wraps them: ``wrapped`` or ``step``.
        values: What the older wording adds when values come alone; None if it has no values.
    """
    names, no_names = {"#a": "a"}, {"ExpressionAttributeNames": None}
    absent = dict.fromkeys(expressions)
    given = {expressions[0]: text}
    alone = "{} can only be specified when using expressions"
    steps = [
        make(
            f"{rule} names without an expression, PLH-3",
            {**absent, "ExpressionAttributeNames": names},
            alone.format("ExpressionAttributeNames"),
        )
    ]
    if values is not None:
        message = alone.format("ExpressionAttributeValues")
        steps.append(
            step(
                f"{rule} values without an expression, PLH-3",
                {**absent, **no_names, "ExpressionAttributeValues": wire({":v": 1})},
                detected(message) if make is wrapped else message,
                message + values,
            )
        )
    steps += [
        make(
            f"{rule} empty names, PLH-4",
            {**given, "ExpressionAttributeNames": {}},
            "ExpressionAttributeNames must not be empty",
        ),
        make(
            f"{rule} a bad name placeholder, LEX-4",
            {**given, "ExpressionAttributeNames": {"a": "a"}},
            'ExpressionAttributeNames contains invalid key: Syntax error; key: "a"',
        ),
    ]
    if values is not None:
        steps += [
            make(
                f"{rule} empty values, PLH-4",
                {**given, **no_names, "ExpressionAttributeValues": {}},
                "ExpressionAttributeValues must not be empty",
            ),
            make(
                f"{rule} a bad value placeholder, LEX-4",
                {**given, **no_names, "ExpressionAttributeValues": wire({"v": 1})},
                'ExpressionAttributeValues contains invalid key: Syntax error; key: "v"',
            ),
        ]
    return steps


def key_steps(rule, make=step, member="Key"):
    """Return the faults of a key of the table ``indexed`` (KV-6, KV-7, KV-3, KV-2)."""
    return (
        make(
            f"{rule} a key without its sort key, KV-6",
            {member: wire({"pk": ""})},
            NOT_THE_SCHEMA,
        ),
        make(
            f"{rule} a key with another attribute, KV-6, KV-7",
            {member: wire({"pk": "", "sk": "b", "x": "y"})},
            NOT_THE_SCHEMA,
        ),
        make(
            f"{rule} a key of another type, KV-6, KV-7",
            {member: wire({"pk": 1, "sk": ""})},
            NOT_THE_SCHEMA,
        ),
        make(
            f"{rule} an empty partition key, KV-3",
            {member: wire({"pk": "", "sk": ""})},
            EMPTY_KEY.format("string", "pk"),
        ),
        make(
            f"{rule} an empty sort key, KV-3",
            {member: wire({"pk": "x" * 2049, "sk": ""})},
            EMPTY_KEY.format("string", "sk"),
        ),
        make(
            f"{rule} a partition key of 2,049 bytes, KV-2",
            {member: wire({"pk": "x" * 2049, "sk": "x" * 1025})},
            INVALID + "Size of hashkey has exceeded the maximum size limit of2048 bytes",
        ),
        make(
            f"{rule} a sort key of 1,025 bytes, KV-2",
            {member: wire({"pk": "a", "sk": "x" * 1025})},
            INVALID + "Aggregated size of all range keys has exceeded the size limit of 1024 bytes",
        ),
    )
