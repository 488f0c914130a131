"""When two answers agree, and what a disagreement is called."""

import json
import re

#: What is no part of an answer's meaning: identity of a request, and of a table's creation.
IGNORED = {"ResponseMetadata"}
#: Operations whose items come in no order that is told: of an index, entries with equal keys.
UNORDERED = {"Scan", "Query", "ExecuteStatement"}
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|\[[^\]]*\]|\{[^}]*\}|-?\d+(?:\.\d+)?")


def canonical(operation, answer):
    """Return an answer in a form in which equal ones are equal: sets and pages have no order."""
    value = _canonical({name: member for name, member in answer.items() if name not in IGNORED})
    if operation in UNORDERED and isinstance(value.get("Items"), list):
        value["Items"] = sorted(value["Items"], key=_text)
    if isinstance(value.get("ConsumedCapacity"), list):
        value["ConsumedCapacity"].sort(key=lambda of_table: of_table.get("TableName", ""))
    if operation == "BatchGetItem" and isinstance(value.get("Responses"), dict):
        value["Responses"] = {
            table: sorted(items, key=_text) for table, items in value["Responses"].items()
        }
    return value


def _canonical(value):
    if isinstance(value, dict):
        value = {
            name: _canonical(member)
            for name, member in value.items()
            if member is not None  # some write out members that are not there
        }
        if set(value) == {"N"}:
            return {"N": _number(value["N"])}
        for name in ("SS", "NS", "BS"):
            if set(value) == {name}:
                read = _number if name == "NS" else str
                return {name: sorted(read(member) for member in value[name])}
        return value
    if isinstance(value, list):
        return [_canonical(member) for member in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return value


def _number(text):
    from decimal import Decimal

    return str(Decimal(text).normalize())


def _text(value):
    return json.dumps(value, sort_keys=True)


class Outcome:
    """What an emulator answered: a result, or an error with its code and sentence."""

    def __init__(self, operation, status, members):
        self.status = status
        self.code = None
        self.message = None
        self.answer = {}
        if status == 200:
            self.answer = canonical(operation, members)
        else:
            self.code = str(members.get("__type", "")).rpartition("#")[2]
            self.message = members.get("message") or members.get("Message") or ""
            reasons = members.get("CancellationReasons")
            if reasons:
                self.answer = {"CancellationReasons": _canonical(reasons)}


def disagreement(operation, ours, theirs):
    """Return the class of a disagreement, or None if two outcomes agree."""
    if ours.code != theirs.code:
        return (
            f"{operation}: {ours.code or 'served'} [{_shape(ours.message)}] / "
            f"{theirs.code or 'served'} [{_shape(theirs.message)}]"
        )
    if ours.message is not None and ours.message != theirs.message:
        return f"{operation}: {ours.code} [{_shape(ours.message)}] / [{_shape(theirs.message)}]"
    for path in _differing(ours.answer, theirs.answer):
        return f"{operation}: {path}"
    return None


def _shape(sentence):
    """Return a sentence without what is quoted in it."""
    return "" if sentence is None else _QUOTED.sub("~", sentence)[:140]


def _differing(ours, theirs, path=""):
    """Yield where two answers differ, members by name and positions as ``[]``."""
    if ours == theirs:
        return
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name in sorted({*ours, *theirs}):
            shown = name if name[:1].isupper() else "~"
            if name not in theirs:
                yield f"{path}.{shown} is ours only"
            elif name not in ours:
                yield f"{path}.{shown} is theirs only"
            else:
                yield from _differing(ours[name], theirs[name], f"{path}.{shown}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for left, right in zip(ours, theirs, strict=True):
            yield from _differing(left, right, f"{path}[]")
    else:
        yield f"{path} differs"
