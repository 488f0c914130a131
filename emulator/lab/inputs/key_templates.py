"""Key templates: a small language for keys over the workload's fields.

    {deviceId}                      the field's value
    {timestamp}                     the moment, to the microsecond
    {timestamp:hour}                the moment, cut to second, minute, hour, day, month or year
    {timestamp:%Y-%m}               the moment, as strftime writes it
    {userId}#{hash(orderId) % 10}   a suffix calculated from fields
    {userId}#{random(10)}           a suffix drawn for each write
    {{ and }}                       the braces themselves

Numbers may be names of the design's parameters: ``{hash(orderId) % shards}``. Nothing else can
be written, and nothing is evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import repeat
from operator import itemgetter
from typing import Final, TypeAlias

import mmh3

from emulator.lab.inputs.documents import nearest

#: A row of field texts and the moment in epoch seconds to a text.
Renderer: TypeAlias = Callable[[Sequence[str], float], str]

DAY: Final = 86_400.0
#: Name of a unit to how it is written and how long it lasts; months and years vary.
_UNITS: Final[Mapping[str, tuple[str, float]]] = {
    "second": ("%Y-%m-%dT%H:%M:%S", 1.0),
    "minute": ("%Y-%m-%dT%H:%M", 60.0),
    "hour": ("%Y-%m-%dT%H", 3600.0),
    "day": ("%Y-%m-%d", DAY),
    "month": ("%Y-%m", 30 * DAY),
    "year": ("%Y", 365 * DAY),
}
#: What a strftime directive tells apart, in seconds.
_DIRECTIVES: Final[Mapping[str, float]] = {
    **dict.fromkeys("f", 0.0),
    **dict.fromkeys("SsTcX", 1.0),
    **dict.fromkeys("MR", 60.0),
    **dict.fromkeys("HI", 3600.0),
    **dict.fromkeys("p", 12 * 3600.0),
    **dict.fromkeys("djaAuwxDFe", DAY),
    **dict.fromkeys("UVW", 7 * DAY),
    **dict.fromkeys("mbBh", 30 * DAY),
    **dict.fromkeys("YyGC", 365 * DAY),
}
_NAME: Final = r"[A-Za-z_][A-Za-z0-9_]*"
_NUMBER: Final = r"[0-9]+|" + _NAME
_FIELD: Final = re.compile(rf"\s*({_NAME})\s*")
_TIME: Final = re.compile(rf"\s*({_NAME})\s*:(.+)", re.DOTALL)
#: What the moment of a request is called.
_TIME_NAME: Final = "timestamp"
_HASH: Final = re.compile(rf"\s*hash\(([^()]*)\)\s*%\s*({_NUMBER})\s*")
_RANDOM: Final = re.compile(rf"\s*random\(\s*({_NUMBER})\s*\)\s*")
_GRAMMAR: Final = (
    "write a field such as {deviceId}, a time such as {timestamp:hour}, "
    "{hash(orderId) % 10} or {random(10)}"
)


class TemplateError(ValueError):
    """A template that cannot be read; the message says what is wrong with it."""


@dataclass(frozen=True)
class Text:
    """Characters that stand for themselves."""

    text: str


@dataclass(frozen=True)
class FieldPart:
    """The value of a field."""

    name: str


@dataclass(frozen=True)
class TimePart:
    """A moment; ``step_seconds`` is how long its text stays the same, 0 for no time at all."""

    name: str
    format: str | None
    step_seconds: float


@dataclass(frozen=True)
class ShardPart:
    """A suffix from 0 to ``count`` - 1: calculated from fields, or drawn if there are none."""

    fields: tuple[str, ...]
    count: int
    label: str


Part: TypeAlias = Text | FieldPart | TimePart | ShardPart


@dataclass(frozen=True)
class KeyTemplate:
    """A parsed template.

    >>> template = parse("{userId}#{hash(orderId) % 4}")
    >>> template.fields, [part.count for part in template.shards]
    (('userId',), [4])
    >>> render = template.bind({"userId": 0, "orderId": 1})
    >>> render(["u1", "o7"], 0.0)
    'u1#3'
    """

    text: str
    parts: tuple[Part, ...]

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields whose value appears as it is."""
        return tuple(part.name for part in self.parts if isinstance(part, FieldPart))

    @property
    def shards(self) -> tuple[ShardPart, ...]:
        """The suffixes."""
        return tuple(part for part in self.parts if isinstance(part, ShardPart))

    @property
    def times(self) -> tuple[TimePart, ...]:
        """The moments."""
        return tuple(part for part in self.parts if isinstance(part, TimePart))

    @property
    def names(self) -> frozenset[str]:
        """Every field that has a say, moments included."""
        hashed = (name for part in self.shards for name in part.fields)
        return frozenset((*self.fields, *hashed, *(part.name for part in self.times)))

    @property
    def step_seconds(self) -> float | None:
        """How long a text stays the same if no field changes; None for ever, 0 not at all."""
        return min((part.step_seconds for part in self.times), default=None)

    @property
    def single_field(self) -> str | None:
        """The field, if the template is that field or moment, whole, and nothing else."""
        if len(self.parts) == 1:
            part = self.parts[0]
            if isinstance(part, FieldPart) or (isinstance(part, TimePart) and not part.format):
                return part.name
        return None

    def at(self, moment: float) -> KeyTemplate:
        """Return the template with its moments written out.

        >>> parse("{timestamp:hour}#{user}").at(0.0).parts
        (Text(text='1970-01-01T00'), Text(text='#'), FieldPart(name='user'))
        """
        if not self.times:
            return self
        written = [
            Text(moment_texts(part)(moment)) if isinstance(part, TimePart) else part
            for part in self.parts
        ]
        return KeyTemplate(self.text, tuple(written))

    def bind(self, columns: Mapping[str, int]) -> Renderer:
        """Return a function from a row of texts, laid out as ``columns`` says, and a moment.

        A column named like a shard's label holds that suffix; without it the suffix is
        calculated from the fields.
        """
        steps = [_step(part, columns) for part in self.parts]
        if len(steps) == 1:
            return steps[0]
        return lambda row, moment: "".join([step(row, moment) for step in steps])

    def texts(
        self, columns: Mapping[str, int], rows: Sequence[Sequence[str]], moment: float
    ) -> list[str]:
        """Return the texts of ``bind`` for many rows at one moment; shared parts are made once.

        >>> parse("{timestamp:hour}#{user}").texts({"user": 0}, [("a",), ("b",)], 0.0)
        ['1970-01-01T00#a', '1970-01-01T00#b']
        """
        pieces: list[Iterable[str]] = []
        for part in self.parts:
            if isinstance(part, Text | TimePart):
                pieces.append(repeat(_step(part, columns)((), moment), len(rows)))
            elif isinstance(part, FieldPart) or part.label in columns:
                column = columns[part.name if isinstance(part, FieldPart) else part.label]
                pieces.append([row[column] for row in rows])
            else:
                pieces.append(_suffixes(part, columns, rows))
        if len(pieces) == 1:
            return list(pieces[0])
        return ["".join(own) for own in zip(*pieces, strict=True)] if pieces else [""] * len(rows)

    def prefix(self, known: frozenset[str]) -> tuple[tuple[Part, ...], bool]:
        """Return the leading parts that follow from ``known`` fields, and whether that is all."""
        leading: list[Part] = []
        for part in self.parts:
            if not _is_known(part, known):
                return tuple(leading), False
            leading.append(part)
        return tuple(leading), True


def _is_known(part: Part, known: frozenset[str]) -> bool:
    if isinstance(part, Text):
        return True
    if isinstance(part, ShardPart):
        return bool(part.fields) and known.issuperset(part.fields)
    return part.name in known


def parse(text: str, parameters: Mapping[str, int] | None = None) -> KeyTemplate:
    """Read a template.

    Raises:
        TemplateError: The text is not a template.

    >>> parse("{deviceId")
    Traceback (most recent call last):
    emulator.lab.inputs.key_templates.TemplateError: '{deviceId': '{' at column 1 is never closed
    """
    if not text:
        raise TemplateError("a key template must not be empty")
    return KeyTemplate(text, tuple(_parts(text, parameters or {})))


def _parts(text: str, parameters: Mapping[str, int]) -> Iterator[Part]:
    plain: list[str] = []
    column = 0
    while column < len(text):
        char = text[column]
        if text[column : column + 2] in ("{{", "}}"):
            plain.append(char)
            column += 2
        elif char == "{":
            if plain:
                yield Text("".join(plain))
                plain = []
            end = text.find("}", column)
            if end < 0:
                raise TemplateError(f"{text!r}: '{{' at column {column + 1} is never closed")
            yield _placeholder(text, text[column + 1 : end], parameters)
            column = end + 1
        elif char == "}":
            raise TemplateError(f"{text!r}: '}}' at column {column + 1} closes nothing")
        else:
            plain.append(char)
            column += 1
    if plain:
        yield Text("".join(plain))


def _placeholder(text: str, body: str, parameters: Mapping[str, int]) -> Part:
    if match := _FIELD.fullmatch(body):
        return TimePart(match[1], None, 0.0) if match[1] == _TIME_NAME else FieldPart(match[1])
    if match := _HASH.fullmatch(body):
        names = tuple(name.strip() for name in match[1].split(","))
        if not all(re.fullmatch(_NAME, name) for name in names):
            raise TemplateError(f"{text!r}: hash() takes field names, not {match[1]!r}")
        count = _count(text, match[2], parameters)
        return ShardPart(names, count, f"hash({','.join(names)})%{count}")
    if match := _RANDOM.fullmatch(body):
        count = _count(text, match[1], parameters)
        return ShardPart((), count, f"random({count})")
    if match := _TIME.fullmatch(body):
        if match[1] != _TIME_NAME:
            raise TemplateError(
                f"{text!r}: only {_TIME_NAME} is a time; write the field as {{{match[1]}}}"
            )
        return _time_part(text, match[1], match[2])
    raise TemplateError(f"{text!r}: cannot read {{{body}}}; {_GRAMMAR}")


def _count(text: str, number: str, parameters: Mapping[str, int]) -> int:
    if number.isdigit():
        count = int(number)
    elif number in parameters:
        count = parameters[number]
    else:
        known = ", ".join(parameters) or "none"
        hint = nearest(number, parameters)
        raise TemplateError(
            f"{text!r}: no parameter {number!r} in the design, which has {known}{hint}"
        )
    if count < 1:
        raise TemplateError(f"{text!r}: expected at least 1 suffix, not {count}")
    return count


def _time_part(text: str, name: str, format_: str) -> TimePart:
    if format_ in _UNITS:
        return TimePart(name, *_UNITS[format_])
    directives = re.findall(r"%[-#]?(.)", format_)
    if not directives:
        units = ", ".join(_UNITS)
        raise TemplateError(
            f"{text!r}: {format_!r} is not a unit of time; use {units} or a format such as %Y-%m-%d"
        )
    unknown = [
        directive for directive in directives if directive not in _DIRECTIVES and directive != "%"
    ]
    if unknown:
        raise TemplateError(f"{text!r}: a key cannot contain the time directive %{unknown[0]}")
    steps = [_DIRECTIVES[directive] for directive in directives if directive != "%"]
    return TimePart(name, format_, min(steps, default=365 * DAY))


def _step(part: Part, columns: Mapping[str, int]) -> Renderer:
    if isinstance(part, Text):
        text = part.text
        return lambda _row, _moment: text
    if isinstance(part, FieldPart):
        column = columns[part.name]
        return lambda row, _moment: row[column]
    if isinstance(part, TimePart):
        show = moment_texts(part)
        return lambda _row, moment: show(moment)
    if part.label in columns:
        column = columns[part.label]
        return lambda row, _moment: row[column]
    inputs = [columns[name] for name in part.fields]
    count = part.count
    return lambda row, _moment: str(shard("\0".join([row[value] for value in inputs]), count))


def _suffixes(
    part: ShardPart, columns: Mapping[str, int], rows: Sequence[Sequence[str]]
) -> list[str]:
    """Return the calculated suffix of each row, once for rows with the same values."""
    step = _step(part, columns)
    if not part.fields:
        return [step(row, 0.0) for row in rows]
    values = list(map(itemgetter(*(columns[name] for name in part.fields)), rows))
    row_of = dict(zip(values, rows, strict=True))
    suffix_of = {value: step(row, 0.0) for value, row in row_of.items()}
    return [suffix_of[value] for value in values]


def shard(text: str, count: int) -> int:
    """Return the suffix that a text is given; the same on every machine.

    >>> shard("order-1", 10)
    3
    """
    return mmh3.hash(text, signed=False) % count


def moment_texts(part: TimePart) -> Callable[[float], str]:
    """Return a function that writes epoch seconds as the part says, remembering the last.

    >>> moment_texts(TimePart("timestamp", "%Y-%m", 0.0))(1_767_225_600.0)
    '2026-01'
    """
    if part.format is None:
        return _microseconds()
    format_ = part.format
    # Months and years begin at days: a day is the longest stretch that never straddles one.
    step = min(part.step_seconds, DAY) or 1e-6
    kept: dict[int, str] = {}

    def show(moment: float) -> str:
        slot = int(moment // step)
        text = kept.get(slot)
        if text is None:
            if len(kept) > 4096:
                kept.clear()
            text = kept[slot] = datetime.fromtimestamp(moment, UTC).strftime(format_)
        return text

    return show


def _microseconds() -> Callable[[float], str]:
    kept = (-1, "")

    def show(moment: float) -> str:
        nonlocal kept
        second = int(moment)
        if second != kept[0]:
            kept = second, datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        return f"{kept[1]}.{(moment - second) * 1e6:06.0f}Z"

    return show


def stretches(parts: Sequence[TimePart], start: float, end: float) -> list[float]:
    """Return a moment in each stretch between ``start`` and ``end`` that has a text of its own.

    >>> month = parse("{timestamp:month}").times
    >>> len(stretches(month, 1_767_225_600.0, 1_767_225_600.0 + 90 * 86_400))
    4
    """
    step = min(min(part.step_seconds for part in parts), DAY)
    shows = [moment_texts(part) for part in parts]
    moments: dict[tuple[str, ...], float] = {}
    moment = start
    while moment < end:
        moments.setdefault(tuple(show(moment) for show in shows), moment)
        moment += step
    moments.setdefault(tuple(show(end) for show in shows), end)
    return list(moments.values())
