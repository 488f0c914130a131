"""Damage: a tree of JSON values with something in it replaced, a text with tokens shuffled."""

import math
import re
from collections.abc import Sized
from typing import Any

_TOKENS = re.compile(r"\w+|[^\w\s]|\s+")
_VOCABULARY = (
    *"()[]{}<>,.:#'\"=+-*?|&;0123456789",
    *("AND", "OR", "NOT", "BETWEEN", "IN", "SET", "REMOVE", "ADD", "DELETE", "SELECT", "FROM"),
    *("WHERE", "INSERT", "INTO", "VALUE", "UPDATE", "EXISTS", "RETURNING", "ALL", "OLD", "NEW"),
    *("IS", "NULL", "MISSING", "TRUE", "<<", ">>", "<=", "<>", "!=", "ORDER", "BY", "DESC"),
    *("size(", "contains(", "begins_with(", "attribute_type(", "if_not_exists(", "list_append("),
    *(":a", ":b", "#a", "#b", "[0]", "[99999999999]", ".a", " ", "\n", "\u00e9", "\U0001f600"),
)


def _nested(levels, kind):
    value = {"S": "x"}
    for _ in range(levels):
        value = {"L": [value]} if kind == "L" else {"M": {"a": value}}
    return value


#: What a client may send by mistake or on purpose, in place of anything.
NASTY: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    2**63,
    10**40,
    0.5,
    -0.0,
    1e308,
    "",
    " ",
    "a",
    "tab",
    "a" * 300,
    "\x00",
    "\u00e9",
    "\U0001f600",
    "1E9999999999",
    "1e400",
    "-",
    "NaN",
    "Infinity",
    "#a",
    ":a",
    "arn:",
    "arn:aws:dynamodb:us-east-1:000000000000:table/tab",
    "arn:aws:dynamodb:us-east-1:000000000000:table/",
    "arn:aws:dynamodb:::",
    "../../etc",
    [],
    [None],
    [[]],
    {},
    {"": ""},
    {"S": None},
    {"N": None},
    {"NULL": False},
    {"S": "a", "N": "1"},
    {"N": "9" * 500},
    {"N": "1E-9999999999"},
    {"N": "0x1"},
    {"SS": []},
    {"SS": ["a", "a"]},
    {"NS": ["1", "1.0"]},
    {"BS": ["YQ==", "YQ=="]},
    {"BS": ["x"]},
    {"B": "===="},
    {"B": "\u00e9"},
    {"L": [{}]},
    {"M": []},
    {"L": {"a": 1}},
    {"M": {"": {"S": "x"}}},
    {"BOOL": "true"},
    {"X": 1},
    {"S": "a" * 3000},
    {"a": {"S": "x"}},
    _nested(33, "L"),
    _nested(33, "M"),
    _nested(99, "L"),
    _nested(150, "M"),
    _nested(400, "M"),
    "(" * 300 + "a = :a" + ")" * 300,
    "NOT " * 200 + "a = :a",
    "a = :a AND " * 360 + "a = :a",
    "a" + ".a" * 600,
    "a" + "[0]" * 600,
    "SELECT * FROM " + "(" * 300,
)


#: The least members of what is made long on purpose.
_LARGE = 1000


def _large(random):
    """Return something long: a list, a map, a text or a set, with a repeat at its end."""
    count = random.choice((_LARGE, _LARGE, _LARGE, 4000, 20_000))
    names = [f"n{number}" for number in range(count)]
    return random.choice(
        (
            lambda: names,
            lambda: [*names, names[-1]],
            lambda: [{"S": name} for name in names],
            lambda: [{}] * count,
            lambda: {name: {"S": "x"} for name in names},
            lambda: {name: name for name in names},
            lambda: {"SS": [*names, names[0]]},
            lambda: {"NS": [str(number) for number in range(count)] + ["0.0"]},
            lambda: {"BS": ["YQ=="] * count},
            lambda: {"L": [{"S": name} for name in names]},
            lambda: "a" * (count * 10),
            lambda: ", ".join(names),
            lambda: " AND ".join(f"{name} = :a" for name in names),
            lambda: "'" * count,
        )
    )()


def _times(value, counts):
    """Return how often to repeat a value: a large one seldom, as a request has at most 16 MB."""
    is_large = isinstance(value, Sized) and len(value) >= _LARGE
    return counts[:1] if is_large else counts


def spoilt(random, node, maker):
    """Return a tree with something replaced somewhere.

    Args:
        random: Chooses.
        node: The tree; it is not changed.
        maker: Returns a value of an item, to put in the place of another.
    """
    if isinstance(node, dict) and node and random.random() < 0.8:
        name = random.choice(list(node))
        return _spoilt_map(random, node, name, maker)
    if isinstance(node, list) and node and random.random() < 0.8:
        number = random.randrange(len(node))
        if random.random() < 0.1:
            return node + [node[number]] * random.choice(_times(node[number], (1, 1, 2, 30, 200)))
        return [*node[:number], spoilt(random, node[number], maker), *node[number + 1 :]]
    if isinstance(node, str) and random.random() < 0.6:
        return spoilt_text(random, node)
    if isinstance(node, int) and not isinstance(node, bool) and random.random() < 0.5:
        return node + random.choice((-1, 1, -node, 2**31, -(2**63)))
    return replacement(random, maker)


def _spoilt_map(random, node, name, maker):
    chance = random.random()
    if chance < 0.08:
        return {key: value for key, value in node.items() if key != name}
    if chance < 0.12:
        return {(f"{key}x" if key == name else key): value for key, value in node.items()}
    if chance < 0.16:
        return node | {
            random.choice(("", "x", "Keys", "a.b", "\u00e9")): replacement(random, maker)
        }
    return node | {name: spoilt(random, node[name], maker)}


def replacement(random, maker):
    """Return what comes in the place of something: a value, something nasty, something long."""
    chance = random.random()
    if chance < 0.05:
        return _large(random)
    return maker() if chance < 0.3 else random.choice(NASTY)


def spoilt_text(random, text):
    """Return a text with a few of its tokens dropped, doubled, moved or replaced."""
    tokens = _TOKENS.findall(text) or [""]
    for _ in range(random.choice((1, 1, 2, 4))):
        at = random.randrange(len(tokens))
        chance = random.random()
        if chance < 0.25:
            del tokens[at]
        elif chance < 0.4:
            tokens.insert(at, tokens[random.randrange(len(tokens))])
        elif chance < 0.5:
            tokens[at:at] = [tokens[at]] * random.choice(_times(tokens[at], (2, 40, 400)))
        else:
            tokens[at : at + random.randrange(2)] = [random.choice(_VOCABULARY)]
        tokens = tokens or [""]
    return "".join(tokens)


def spoilt_bytes(random, data):
    """Return bytes with a few of them changed, dropped, doubled or cut off."""
    damaged = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 3))):
        at = random.randrange(len(damaged) + 1)
        chance = random.random()
        if chance < 0.4:
            damaged[at : at + 1] = bytes([random.randrange(256)])
        elif chance < 0.6:
            del damaged[at : at + random.choice((1, 2, 40))]
        elif chance < 0.7:
            del damaged[at:]
        elif chance < 0.85:
            damaged[at:at] = random.choice(
                (b"\r\n", b"\n", b"\0", b"\r\n\r\n", b"\xff\xfe", b": ", b" ")
            )
        else:
            damaged[at:at] = damaged[at : at + random.choice((1, 20, 200))]
    return bytes(damaged)


def is_finite(node):
    """Return whether JSON can write every number of a tree."""
    if isinstance(node, float):
        return math.isfinite(node)
    children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return all(map(is_finite, children))
