"""The key of a table that only its items tell of.

An export has the items of a table, and not its key. What every item has, of one type that keys may
have, may be part of it; names that keys usually have decide, if no two items share their values.
Increments name the attributes of the key, and leave open which of two comes first.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from emulator.model import Item
from emulator.model.schema import KEY_CLASSES
from emulator.service.errors import EmulatorError

NOT_CLEAR: Final = (
    "the key of table {table} is not in its export, and its items leave it open ({candidates} may "
    "be part of it): create the table first, or put DescribeTable's answer beside the export as "
    "{table}.json"
)
#: Usual names of keys, the partition key first, in lower case.
_USUAL: Final = (
    ("pk", "sk"),
    ("partitionkey", "sortkey"),
    ("hashkey", "rangekey"),
    ("pk",),
    ("id",),
)


def deduced_request(
    table: str, items: Sequence[Item], named: Collection[str] = ()
) -> dict[str, Any]:
    """Return the CreateTable request of a table that has these items.

    Args:
        table: Its name.
        items: Its items.
        named: The attributes of its key, if increments have named them.

    Raises:
        EmulatorError: the items leave open which its key is.

    >>> item = Item.of({"Id": "a", "n": "b"})
    >>> deduced_request("tab", [item])["KeySchema"]
    [{'AttributeName': 'Id', 'KeyType': 'HASH'}]
    """
    types = {name: kind for name, kind in _key_types(items).items() if not named or name in named}
    key = _key(items, types)
    if not key or (named and len(key) != len(named)):
        candidates = ", ".join(sorted(types)) or "nothing"
        raise EmulatorError(NOT_CLEAR.format(table=table, candidates=candidates))
    return {
        "TableName": table,
        "KeySchema": [
            {"AttributeName": name, "KeyType": kind}
            for name, kind in zip(key, ("HASH", "RANGE"), strict=False)
        ],
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": types[name]} for name in key
        ],
        "BillingMode": "PAY_PER_REQUEST",
    }


def _key_types(items: Sequence[Item]) -> dict[str, str]:
    """Return the attributes that every item has in one type of keys, and their types."""
    letters: dict[type, str] = {
        python_class: letter for letter, python_class in KEY_CLASSES.items()
    }
    types: dict[str, str] = {}
    for number, item in enumerate(items):
        known = {
            name: letters[type(value)]
            for name, value in item.attributes.items()
            if type(value) in letters and value not in ("", b"")
        }
        types = known if number == 0 else dict(types.items() & known.items())
    return types


def _key(items: Sequence[Item], types: dict[str, str]) -> tuple[str, ...]:
    """Return the key, or nothing."""
    by_lower = {name.lower().replace("_", ""): name for name in sorted(types)}
    choices = [
        tuple(by_lower[name] for name in names)
        for names in _USUAL
        if all(name in by_lower for name in names)
    ]
    if len(types) == 1:
        choices.append(tuple(types))
    for key in choices:
        values = {tuple(item.attributes[name] for name in key) for item in items}
        if len(values) == len(items):
            return key
    return ()
