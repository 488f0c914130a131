"""Fields and access patterns: the parts of a workload, as a person states them."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

import mmh3
import numpy as np

from emulator.capacity.retries import POLICIES
from emulator.lab.inputs import arrival_rates, distributions, forms
from emulator.lab.inputs.arguments import explain_arguments
from emulator.lab.inputs.arrival_rates import ARRIVALS, Arrivals, Constant, Rate
from emulator.lab.inputs.clients import RETRY
from emulator.lab.inputs.distributions import Distribution, Floats, Integers, Uniform
from emulator.lab.inputs.documents import Entry
from emulator.lab.inputs.forms import Form, FormMember, FormScope, Record
from emulator.service import limits
from emulator.service.catalogue import OPERATIONS as CATALOGUE
from emulator.service.catalogue import Kind, names_of
from emulator.service.errors import DocumentError

#: The field that every workload has: the moment of the request.
TIMESTAMP: Final = "timestamp"

Class: TypeAlias = Literal["critical", "important", "analytics"]
CLASSES: Final[dict[str, Class]] = {name: name for name in get_args(Class)}
#: Before a field in ``order``: from the largest value to the smallest.
DOWN: Final = "-"
NEWEST_FIRST: Final = (DOWN + TIMESTAMP,)

#: Operations that carry several items: how many at most.
_MOST_ACTIONS: Final = {
    "BatchWriteItem": limits.BATCH_WRITE_REQUESTS,
    "BatchGetItem": limits.BATCH_GET_KEYS,
    "TransactWriteItems": limits.TRANSACTION_ACTIONS,
    "TransactGetItems": limits.TRANSACTION_ACTIONS,
}
PUTS: Final = frozenset({"PutItem", "BatchWriteItem", "TransactWriteItems"})
WRITES: Final = PUTS | names_of(Kind.WRITE)
POINT_READS: Final = names_of(Kind.READ) | {"BatchGetItem", "TransactGetItems"}
OPERATIONS: Final = tuple(sorted(WRITES | POINT_READS | names_of(Kind.PAGE)))
_ID_DIGITS: Final = 12
_SIZE_ATOMS: Final = 32


@explain_arguments()
@dataclass(frozen=True)
class Field:
    """A field of the application's data.

    Exactly one of ``count``, ``values``, ``unique`` says which values it has.

    >>> Field("tenant", count=3).text(2)
    'tenant-2'
    """

    name: str
    _: KW_ONLY
    #: So many values.
    count: int | None = None
    #: These values; numbers are taken as text.
    values: tuple[str, ...] | None = None
    #: A new value for every item written: ``"sequential"`` ids (also ``True``), or ``"random"``
    #: ones.
    unique: Literal["sequential", "random", True] | None = None
    distribution: Distribution = field(default_factory=Uniform)
    #: The field that each value belongs to: ``count`` values for every value of that one.
    per: str | None = None

    def __post_init__(self) -> None:
        if self.unique is True:
            object.__setattr__(self, "unique", "sequential")
        if self.values is not None:
            object.__setattr__(self, "values", tuple(map(str, self.values)))
        kinds = [self.count is not None, self.values is not None, self.unique is not None]
        if sum(kinds) != 1:
            raise ValueError(f"Field {self.name!r} needs exactly one of count, values, unique")
        if self.size < 1:
            raise ValueError(f"Field {self.name!r} needs at least one value")

    @property
    def size(self) -> int:
        """How many values there are; 1 for a unique field, whose values are not told apart."""
        if self.values is not None:
            return len(self.values)
        return 1 if self.count is None else self.count

    def text(self, number: int, parent: str = "") -> str:
        """Return a value as text."""
        if self.values is not None:
            return self.values[number]
        if self.unique == "random":
            return format(mmh3.hash128(f"{self.name}{number}", signed=False), "032x")
        digits = _ID_DIGITS if self.unique else len(str(self.size - 1))
        belongs = f"{parent}." if parent else ""
        return f"{belongs}{self.name}-{number:0{digits}d}"

    def identity(self, number: int, parent: str = "") -> str:
        """Return the identity that places a value: its field and number, however it is spelled.

        >>> Field("status", values=("OPEN", "PAID")).identity(1)
        'status-1'
        """
        if self.values is not None:
            return f"{self.name}-{number}"
        return self.text(number, parent)

    def to_document(self) -> dict[str, Any]:
        """Return the entry that ``from_entry`` reads."""
        document: dict[str, Any] = {}
        for name in ("count", "unique", "per"):
            if getattr(self, name) is not None:
                document[name] = getattr(self, name)
        if self.values is not None:
            document["values"] = list(self.values)
        if self.distribution != Uniform():
            document["distribution"] = self.distribution.to_document()
        return document


@explain_arguments()
@dataclass(frozen=True)
class Sizes:
    """Item sizes in bytes: a few values with their shares.

    >>> Sizes(sizes=(300, 4_000), shares=(0.9, 0.1)).mean
    670.0
    """

    sizes: tuple[int, ...]
    shares: tuple[float, ...]

    @classmethod
    def constant(cls, size_bytes: int) -> Sizes:
        """Return one size for all."""
        return cls((size_bytes,), (1.0,))

    @classmethod
    def uniform(cls, least: int, most: int) -> Sizes:
        """Return sizes spread evenly between two.

        >>> Sizes.uniform(100, 300).mean
        200.0
        """
        sizes = np.linspace(least, most, min(_SIZE_ATOMS, most - least + 1)).round()
        return cls(tuple(int(size) for size in sizes), (1 / len(sizes),) * len(sizes))

    @classmethod
    def lognormal(cls, median: int, p99: int) -> Sizes:
        """Return sizes with a long tail, from their median and 99th percentile.

        The tail ends where an item cannot be larger.

        >>> sizes = Sizes.lognormal(1000, 10_000)
        >>> sizes.sizes[16] > 1000, sizes.mean > 1000
        (True, True)
        """
        sigma = math.log(p99 / median) / 2.3263
        points = (np.arange(_SIZE_ATOMS) + 0.5) / _SIZE_ATOMS
        sizes = median * np.exp(sigma * _normal_quantiles(points))
        return cls(
            tuple(min(limits.ITEM_BYTES, max(1, round(size))) for size in sizes.tolist()),
            (1 / _SIZE_ATOMS,) * _SIZE_ATOMS,
        )

    @property
    def mean(self) -> float:
        """The average size."""
        return sum(s * share for s, share in zip(self.sizes, self.shares, strict=True))

    def draw(self, count: int, rng: np.random.Generator) -> Integers:
        """Return sizes of that many items."""
        if len(self.sizes) == 1:
            return np.full(count, self.sizes[0], dtype=np.int64)
        return np.asarray(rng.choice(self.sizes, size=count, p=self.shares), dtype=np.int64)

    def to_document(self) -> Any:
        """Return the entry that ``from_entry`` reads."""
        if len(self.sizes) == 1:
            return self.sizes[0]
        pairs = zip(self.sizes, self.shares, strict=True)
        return [{"size": size, "share": share} for size, share in pairs]


def _normal_quantiles(points: Floats) -> Floats:
    """Return where a normal variable's distribution reaches each of ``points``."""
    from statistics import NormalDist

    return np.asarray([NormalDist().inv_cdf(point) for point in points.tolist()])


@dataclass(frozen=True)
class Recorded:
    """Requests as they were: when, for which values, of what size.

    Values are numbers of the field's values; times are seconds from the start, in order.
    """

    times: tuple[float, ...]
    values: Mapping[str, tuple[int, ...]]
    sizes: tuple[int, ...] = ()

    def numbers(self, name: str, first: int, count: int) -> Integers:
        """Return the value numbers of some requests; a run that is longer begins again."""
        values = np.asarray(self.values[name], dtype=np.int64)
        return values[np.arange(first, first + count) % len(values)]

    def between(self, first: float, last: float) -> Recorded:
        """Return the requests from one second up to another."""
        low, high = bisect_left(self.times, first), bisect_left(self.times, last)
        return Recorded(
            tuple(time - first for time in self.times[low:high]),
            {name: numbers[low:high] for name, numbers in self.values.items()},
            self.sizes[low:high],
        )

    def repeated(self, times: int, every: float) -> Recorded:
        """Return the requests several times, one recording in each period of ``every`` seconds."""
        return Recorded(
            tuple(time + number * every for number in range(times) for time in self.times),
            {name: numbers * times for name, numbers in self.values.items()},
            self.sizes * times,
        )

    def to_document(self) -> dict[str, Any]:
        """Return the entry that ``read_pattern`` reads."""
        return {
            "times": list(self.times),
            "values": {name: list(numbers) for name, numbers in self.values.items()},
            "sizes": list(self.sizes),
        }


@explain_arguments()
@dataclass(frozen=True)
class Pattern:
    """One access pattern: an operation, how often it is called, and what the caller knows.

    >>> Pattern("event", "PutItem", rate=50, size=1200).pace
    Constant(rate=50.0)
    """

    name: str
    operation: str
    _: KW_ONLY
    #: Requests per second, or how they change with time.
    rate: Rate | float
    arrivals: Arrivals = "even"
    #: The kind of item, where a design keeps several in one table; or the name of its table.
    entity: str | None = None
    #: The fields known when asking; for a write or GetItem all that the key needs.
    by: tuple[str, ...] = ()
    #: The fields of the item it writes; None for all.
    fields: tuple[str, ...] | None = None
    #: How this pattern picks values, where it differs from the field's own distribution.
    distributions: Mapping[str, Distribution] = field(default_factory=dict)
    #: Item sizes in bytes.
    size: Sizes | int = 300
    #: The most items it wants, newest first; None for all that match.
    items: int | None = None
    #: How far back in time it asks, in seconds; None for everything.
    span: float | None = None
    #: The share of what matches that it can use; the rest is filtered away after reading.
    selectivity: float = 1.0
    consistent: bool = False
    #: UpdateItem: fields that get a new value.
    changes: tuple[str, ...] = ()
    #: Items per request of a batch or transaction.
    actions: int = 1
    #: A retry policy, if not the workload's.
    retry: str | None = None
    #: The very requests, of recorded traffic; the rate then says how many there are.
    recorded: Recorded | None = None
    #: The fields and attributes that it needs of an item, or ``"all"`` of them; None where it
    #: takes what it finds. A pattern that says this knows no part of a key besides ``by``.
    reads: tuple[str, ...] | Literal["all"] | None = None
    #: The fields that its items are sorted by; all of them with ``-`` before: downwards.
    order: tuple[str, ...] = ()
    #: How much depends on it; one for analytics may be answered by a Scan.
    class_: Class = "important"

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", self.pace)
        object.__setattr__(self, "size", self.sizes)
        object.__setattr__(self, "order", _directed(self.name, self.order))
        if self.operation not in OPERATIONS:
            raise ValueError(
                f"Pattern {self.name!r}: operation must be one of {', '.join(OPERATIONS)}, "
                f"not {self.operation!r}"
            )
        most = _MOST_ACTIONS.get(self.operation, 1)
        if not 1 <= self.actions <= most:
            raise ValueError(
                f"Pattern {self.name!r}: {self.operation} carries 1 to {most} items, "
                f"not {self.actions}"
            )
        if max(self.sizes.sizes) > limits.ITEM_BYTES:
            raise ValueError(
                f"Pattern {self.name!r}: an item has at most {limits.ITEM_BYTES:,} bytes, "
                f"not {max(self.sizes.sizes):,}"
            )
        if self.retry is not None and self.retry not in POLICIES:
            raise ValueError(
                f"Pattern {self.name!r}: retry must be one of {', '.join(POLICIES)}, "
                f"not {self.retry!r}"
            )

    @property
    def pace(self) -> Rate:
        """The rate over time."""
        return Constant(float(self.rate)) if isinstance(self.rate, int | float) else self.rate

    @property
    def sizes(self) -> Sizes:
        """The sizes with their shares."""
        return self.size if isinstance(self.size, Sizes) else Sizes.constant(round(self.size))

    @property
    def is_write(self) -> bool:
        """Return whether it writes."""
        return self.operation in WRITES

    def pick(self, field: Field) -> Distribution:
        """Return how the pattern picks values of a field."""
        return self.distributions.get(field.name, field.distribution)

    @property
    def is_put(self) -> bool:
        """Return whether it writes a whole new item."""
        return self.operation in PUTS

    @property
    def creates(self) -> bool:
        """Return whether it can create an item."""
        return self.is_put or self.operation == "UpdateItem"

    @property
    def ordered_by(self) -> tuple[str, ...]:
        """The fields that its items are sorted by, without their direction."""
        return tuple(name.removeprefix(DOWN) for name in self.order)

    @property
    def is_transaction(self) -> bool:
        """Return whether its items are written or read all or none, at twice the price."""
        return CATALOGUE[self.operation].kind is Kind.TRANSACTION

    def to_document(self) -> dict[str, Any]:
        """Return the entry that ``from_entry`` reads."""
        document: dict[str, Any] = {
            "name": self.name,
            "operation": self.operation,
            "rate": self.pace.to_document(),
        }
        document["size"] = self.sizes.to_document()
        for name in ("by", "changes", "order"):
            if getattr(self, name):
                document[name] = list(getattr(self, name))
        for name in ("fields", "reads"):
            names = getattr(self, name)
            if names is not None:
                document[name] = names if isinstance(names, str) else list(names)
        if self.class_ != _BLANK.class_:
            document["class"] = self.class_
        if self.recorded is not None:
            document["recorded"] = self.recorded.to_document()
        if self.distributions:
            picks = {
                name: distribution.to_document()
                for name, distribution in self.distributions.items()
            }
            document["distributions"] = picks
        for name in _PLAIN:
            if getattr(self, name) != getattr(_BLANK, name):
                document[name] = getattr(self, name)
        return document


def _directed(pattern: str, order: Iterable[str]) -> tuple[str, ...]:
    """Return an order as field names, or ``-`` and field names; a Query has one direction.

    >>> _directed("p", ["score desc"]), _directed("p", ["newest"]), _directed("p", ["a", "b asc"])
    (('-score',), ('-timestamp',), ('a', 'b'))
    """
    names = [_ORDERS.get(name, name) for name in order]
    words = [name.removesuffix(" asc").rpartition(" desc") for name in names]
    made = tuple(DOWN + before if desc else after for before, desc, after in words)
    if len({name.startswith(DOWN) for name in made}) > 1:
        raise ValueError(
            f"Pattern {pattern!r}: order has both directions; a Query reads in one of them"
        )
    return made


_ORDERS: Final = {"newest": DOWN + TIMESTAMP, "oldest": TIMESTAMP}
_PLAIN: Final = (
    "arrivals",
    "entity",
    "items",
    "span",
    "selectivity",
    "consistent",
    "actions",
    "retry",
)
_BLANK: Final = Pattern("", "GetItem", rate=0)


@explain_arguments()
@dataclass(frozen=True, kw_only=True)
class Preload:
    """Items that exist before the run: puts of a pattern, free of charge.

    >>> Preload(pattern="place order", items=10_000).items
    10000
    """

    pattern: str
    items: int
    #: The time before the run over which they were written, in seconds.
    span: float = 0.0

    def to_document(self) -> dict[str, Any]:
        """Return the entry that ``from_entry`` reads."""
        return {"pattern": self.pattern, "items": self.items, "span": self.span}


# Reading


def _csv_path(entry: Entry) -> Path:
    path = Path(entry.text())
    return path if path.is_absolute() else Path(entry.source).parent / path


_UNIQUE: Final = forms.choice({"sequential": "sequential", "random": "random"})
_ALSO_SEQUENTIAL: Final = Form(lambda _entry, _scope: "sequential", {"const": True}, "`true`")
FIELD: Final = Record(
    "field",
    "What identifies things, and how popular each is. One of `count`, `values`, `unique`, "
    "`weights`, `csv` says which values there are.",
    {
        "count": FormMember(
            forms.integer(least=1), "The number of values.", example=10000, nullable=True
        ),
        "values": FormMember(
            forms.many(forms.scalar(), least=1), "These values.", example=["open", "done"]
        ),
        "unique": FormMember(
            forms.either(
                _UNIQUE,
                _ALSO_SEQUENTIAL,
                select=lambda entry: _ALSO_SEQUENTIAL if entry.value is True else _UNIQUE,
            ),
            "A new value for every item written: `sequential` ids (also written `true`), or "
            "`random` ones.",
            example="random",
        ),
        "weights": FormMember(
            forms.by_name(forms.number(least=0), names="value"),
            "These values, each as often as its weight says.",
            example={"open": 3, "done": 1},
        ),
        "csv": FormMember(
            forms.text(),
            "A file beside the lab file with real keys; each is used as often as it occurs.",
            example="keys.csv",
        ),
        "column": FormMember(
            forms.text(), "The column of `csv`. Without it: the field's name.", example="device"
        ),
        "distribution": FormMember(
            distributions.FORM,
            "How popular the values are.",
            default=Uniform().to_document(),
            example={"zipf": 1.1},
        ),
        "per": FormMember(
            forms.text(),
            "The field that each value belongs to: `count` values for every value of that one.",
            example="tenant",
            nullable=True,
        ),
    },
)


def make_field(name: str, entry: Entry, values: dict[str, Any]) -> Field:
    """Return the field that the members of an entry describe."""
    column = values.pop("column", name)
    try:
        if "csv" in values:
            keys, weights = _csv_keys(entry.mapping()["csv"], column)
            return Field(name, values=keys, distribution=weights)
        if "weights" in values:
            shares = distributions.Weights(tuple(values["weights"].values()))
            return Field(name, values=tuple(values["weights"]), distribution=shares)
        return Field(name, **values)
    except ValueError as error:
        return entry.complain(str(error))


def _csv_keys(entry: Entry, column: str) -> tuple[tuple[str, ...], distributions.Weights]:
    path = _csv_path(entry)
    try:
        return distributions.keys_from_csv(path, column)
    except DocumentError as error:
        entry.complain(str(error))
    except ValueError as error:
        entry.complain(f"{path}: {error}")


_SIZE_SHARE: Final = Record(
    "size share",
    "One of several sizes.",
    {
        "size": FormMember(forms.size(), "The size.", required=True, example="1 KB"),
        "share": FormMember(
            forms.number(above=0), "How often it occurs, relative to the others.", required=True
        ),
    },
)
_SIZE_TAIL: Final = Record(
    "size tail",
    "Sizes with a long tail, log-normal.",
    {
        "median": FormMember(forms.size(), "Half of the items are smaller.", required=True),
        "p99": FormMember(forms.size(), "One item in a hundred is larger.", required=True),
    },
)
_SIZE_RANGE: Final = Record(
    "size range",
    "Sizes spread evenly.",
    {
        "min": FormMember(forms.size(), "The smallest.", required=True),
        "max": FormMember(forms.size(), "The largest.", required=True),
    },
)


def _shared_sizes(_: Entry, rows: tuple[dict[str, Any], ...]) -> Sizes:
    total = sum(row["share"] for row in rows)
    return Sizes(tuple(row["size"] for row in rows), tuple(row["share"] / total for row in rows))


def _tail_sizes(entry: Entry, values: dict[str, int]) -> Sizes:
    if not values["median"] < values["p99"] <= limits.ITEM_BYTES:
        expected = f"more than the median and at most {limits.ITEM_BYTES} bytes"
        entry.mapping()["p99"].fail(expected)
    return Sizes.lognormal(values["median"], values["p99"])


def _range_sizes(entry: Entry, values: dict[str, int]) -> Sizes:
    if values["max"] < values["min"]:
        entry.mapping()["max"].fail("at least min")
    return Sizes.uniform(values["min"], values["max"])


_ONE_SIZE: Final = forms.size().made(lambda _, size: Sizes.constant(size))
_SHARED: Final = forms.many(_SIZE_SHARE.form, least=1).made(_shared_sizes)
_TAIL: Final = _SIZE_TAIL.form.made(_tail_sizes)
_RANGE: Final = _SIZE_RANGE.form.made(_range_sizes)


def _suited_sizes(entry: Entry) -> Form:
    if isinstance(entry.value, dict):
        return _TAIL if "median" in entry.value else _RANGE
    return _SHARED if isinstance(entry.value, list) else _ONE_SIZE


SIZES: Final = forms.either(_ONE_SIZE, _RANGE, _TAIL, _SHARED, select=_suited_sizes)

_ALL: Final = forms.choice({"all": "all"})
_SOME: Final = forms.many(forms.attribute_name())


def _suited_reads(entry: Entry) -> Form:
    if not isinstance(entry.value, list) and entry.value != "all":
        entry.fail("all, or a list of attributes")
    return _SOME if isinstance(entry.value, list) else _ALL


READS: Final = forms.either(_ALL, _SOME, select=_suited_reads)


def _read_order(entry: Entry, scope: FormScope) -> tuple[str, ...]:
    """Return the fields that items are sorted by, downwards with ``-``."""
    parts = entry.items(least=1) if isinstance(entry.value, list) else [entry]
    order = []
    for part in parts:
        try:
            [name] = _directed("", [part.text()])
        except ValueError as error:
            part.complain(str(error))
        known = scope.fields
        if known is not None and name.removeprefix(DOWN) not in known:
            part.fail(f"a field ({', '.join(sorted(known))}), newest or oldest", known)
        order.append(name)
    return tuple(order)


_ORDER_SCHEMA: Final[dict[str, Any]] = {"type": "string", "minLength": 1}
ORDER: Final = Form(
    _read_order,
    {"anyOf": [_ORDER_SCHEMA, {"type": "array", "items": _ORDER_SCHEMA, "minItems": 1}]},
    "`newest`, `oldest`, or fields, downwards with `-` before or ` desc` after them",
)

RECORDED: Final = Record(
    "recorded",
    "Requests as they were, as `Workload.from_trace` writes them; `rate` says how many there are.",
    {
        "times": FormMember(
            forms.many(forms.number(least=0), least=1),
            "Seconds from the start of the run, in order.",
            required=True,
            example=[0.0, 0.4, 1.7],
        ),
        "values": FormMember(
            forms.by_name(forms.many(forms.integer(), least=1), names="field"),
            "For each field, the number of the value that each request used.",
            required=True,
            example={"deviceId": [0, 3, 0]},
        ),
        "sizes": FormMember(
            forms.many(forms.size()),
            "For each request, the size of its item. Without it: as `size` says.",
            example=[300, 320, 300],
        ),
    },
)
PATTERN: Final = Record(
    "pattern",
    "One access pattern: an operation, its rate, and what the caller knows.",
    {
        "name": FormMember(forms.text(), "What reports call it.", required=True, example="save"),
        "operation": FormMember(
            forms.choice({name: name for name in OPERATIONS}), "What is called.", required=True
        ),
        "rate": FormMember(
            arrival_rates.FORM,
            "Requests per second, or how they change with time.",
            required=True,
            example={"ramp": {"start": 5, "end": 20, "over": "5m"}},
        ),
        "arrivals": FormMember(
            forms.choice(ARRIVALS),
            "`even`: as close to the rate as whole requests allow; `poisson`: independent callers.",
            default=Pattern.arrivals,
            nullable=True,
        ),
        "entity": FormMember(
            forms.text(),
            "The kind of item, where a design keeps several in one table; or the name of its "
            "table, where a design has several.",
            example="order",
            nullable=True,
        ),
        "by": FormMember(
            forms.many(forms.field_name()),
            "The fields that the caller knows. Without it: for a write or GetItem, all that the "
            "key needs; for others, none.",
            example=["userId"],
        ),
        "fields": FormMember(
            forms.many(forms.field_name()),
            "The fields of the item it writes, which decide the indexes it appears in. "
            "Without it: all.",
            example=["userId", "status"],
        ),
        "distributions": FormMember(
            forms.by_name(distributions.FORM, names="field", of_fields=True),
            "How this pattern picks values, where it differs from the field's own `distribution`.",
            example={"userId": {"latest": 1.2}},
        ),
        "size": FormMember(
            SIZES,
            "The size of the items it writes or reads.",
            default=Pattern.size,
            example="1.5 KB",
        ),
        "items": FormMember(
            forms.integer(least=1),
            "Query and Scan: the most items it wants, newest first. Without it: all that match.",
            example=50,
            nullable=True,
        ),
        "span": FormMember(
            forms.duration(),
            "Query and Scan: how far back in time it reads. Without it: everything.",
            example="1h",
            nullable=True,
        ),
        "selectivity": FormMember(
            forms.number(above=0, most=1),
            "Query and Scan: the share of what matches the key that it can use; the rest is "
            "filtered away after it was read and paid for.",
            default=Pattern.selectivity,
            example=0.1,
            nullable=True,
        ),
        "consistent": FormMember(
            forms.boolean(),
            "Whether reads are strongly consistent, at twice the units; not possible on a global "
            "index.",
            default=Pattern.consistent,
            nullable=True,
        ),
        "changes": FormMember(
            forms.many(forms.field_name()),
            "UpdateItem: the fields that get a new value. An index whose key has one of them "
            "deletes an entry and writes another. Without it: only attributes that are in no key.",
            example=["status"],
        ),
        "actions": FormMember(
            forms.integer(least=1),
            "Items per request of a batch or transaction.",
            default=Pattern.actions,
            example=25,
            nullable=True,
        ),
        "retry": FormMember(
            RETRY, "The retry mode, if not the workload's.", example="none", nullable=True
        ),
        "recorded": FormMember(
            RECORDED.form.made(lambda _, values: Recorded(**values)),
            "The exact requests of recorded traffic.",
        ),
        "reads": FormMember(
            READS,
            "The fields and attributes that it needs; `all` for the whole item. Where an index "
            "has fewer, the items are read as well, and a write of an item whose key does not "
            "follow from `by` reads the key first. Without it: whatever is found will do; "
            "`dynamometer design` takes `all`.",
            example=["userId", "status"],
        ),
        "order": FormMember(
            ORDER,
            "Query: how its items are sorted. A key that has another order makes the Query read "
            "all that match, whatever `items` says. Without it: any order will do; `dynamometer "
            "design` takes `newest` where `items` is given.",
            example="newest",
        ),
        "class": FormMember(
            forms.choice(CLASSES),
            "`dynamometer design`: a Scan may answer `analytics`, and nothing else.",
            default=Pattern.class_,
            example="analytics",
        ),
    },
)


def _make_pattern(_: Entry, values: dict[str, Any]) -> Pattern:
    return Pattern(**{"class_" if name == "class" else name: values[name] for name in values})


PATTERN_FORM: Final = PATTERN.form.made(_make_pattern)
PRELOAD: Final = Record(
    "preload",
    "Items that are there before the run, free of charge.",
    {
        "pattern": FormMember(
            forms.text(), "The pattern whose items they are.", required=True, example="save"
        ),
        "items": FormMember(
            forms.integer(least=1),
            "How many are written; one with the key of another replaces it.",
            required=True,
            example=5000,
        ),
        "span": FormMember(
            forms.duration(zero=True),
            "The time before the run over which they were written.",
            default=Preload.span,
            example="1d",
        ),
    },
)
PRELOAD_FORM: Final = PRELOAD.form.made(lambda _, values: Preload(**values))
