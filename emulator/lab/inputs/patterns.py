"""Fields and access patterns: the parts of a workload, as a person states them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import mmh3
import numpy as np

from emulator.capacity.retries import POLICIES
from emulator.lab.inputs import arrival_rates, distributions
from emulator.lab.inputs.arrival_rates import ARRIVALS, Arrivals, Constant, Rate
from emulator.lab.inputs.clients import read_retry
from emulator.lab.inputs.distributions import Distribution, Floats, Integers, Uniform
from emulator.lab.inputs.documents import Entry
from emulator.service import limits
from emulator.service.catalogue import OPERATIONS as CATALOGUE
from emulator.service.catalogue import Kind, names_of

#: The field that every workload has: the moment of the request.
TIMESTAMP: Final = "timestamp"

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
    #: These values.
    values: tuple[str, ...] | None = None
    #: A new value for every item written: ``"sequential"`` ids, or ``"random"`` ones.
    unique: Literal["sequential", "random"] | None = None
    distribution: Distribution = field(default_factory=Uniform)
    #: The field that each value belongs to: ``count`` values for every value of that one.
    per: str | None = None

    def __post_init__(self) -> None:
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

    def to_document(self) -> dict[str, Any]:
        """Return what ``from_entry`` reads."""
        document: dict[str, Any] = {}
        for name in ("count", "unique", "per"):
            if getattr(self, name) is not None:
                document[name] = getattr(self, name)
        if self.values is not None:
            document["values"] = list(self.values)
        if self.distribution != Uniform():
            document["distribution"] = self.distribution.to_document()
        return document


@dataclass(frozen=True)
class Sizes:
    """Item sizes in bytes: a few values with their shares."""

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
        """Return what ``from_entry`` reads."""
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

    def to_document(self) -> dict[str, Any]:
        """Return what ``read_pattern`` reads."""
        return {
            "times": list(self.times),
            "values": {name: list(numbers) for name, numbers in self.values.items()},
            "sizes": list(self.sizes),
        }


@dataclass(frozen=True)
class Pattern:
    """One access pattern: the template of its documentation, made executable.

    >>> Pattern("event", "PutItem", rate=50, size=1200).pace
    Constant(rate=50.0)
    """

    name: str
    operation: str
    _: KW_ONLY
    #: Requests per second, or how they change with time.
    rate: Rate | float
    arrivals: Arrivals = "even"
    #: The kind of item, where a design keeps several in one table.
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", self.pace)
        object.__setattr__(self, "size", self.sizes)
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
        return Sizes.constant(self.size) if isinstance(self.size, int) else self.size

    @property
    def is_write(self) -> bool:
        """Return whether it writes."""
        return self.operation in WRITES

    def pick(self, field: Field) -> Distribution:
        """Return how the pattern picks values of a field."""
        return self.distributions.get(field.name, field.distribution)

    @property
    def is_put(self) -> bool:
        """Return whether it brings a whole new item."""
        return self.operation in PUTS

    @property
    def creates(self) -> bool:
        """Return whether it can bring an item into being."""
        return self.is_put or self.operation == "UpdateItem"

    @property
    def is_transaction(self) -> bool:
        """Return whether its items are written or read all or none, at twice the price."""
        return CATALOGUE[self.operation].kind is Kind.TRANSACTION

    def to_document(self) -> dict[str, Any]:
        """Return what ``from_entry`` reads."""
        document: dict[str, Any] = {
            "name": self.name,
            "operation": self.operation,
            "rate": self.pace.to_document(),
        }
        document["size"] = self.sizes.to_document()
        for name in ("by", "changes"):
            if getattr(self, name):
                document[name] = list(getattr(self, name))
        if self.fields is not None:
            document["fields"] = list(self.fields)
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


@dataclass(frozen=True, kw_only=True)
class Preload:
    """Items that are there before the run: so many puts of a pattern, free of charge."""

    pattern: str
    items: int
    #: The time before the run over which they were written, in seconds.
    span: float = 0.0

    def to_document(self) -> dict[str, Any]:
        """Return what ``from_entry`` reads."""
        return {"pattern": self.pattern, "items": self.items, "span": self.span}


# Reading


def read_field(name: str, entry: Entry) -> Field:
    """Read one field."""
    members = entry.members(
        optional=("count", "values", "unique", "distribution", "per", "weights", "csv", "column")
    )
    if "csv" in members:
        return _read_csv_field(name, entry, members)
    if "weights" in members:
        weights = {
            text: weight_entry.number(least=0)
            for text, weight_entry in members["weights"].mapping().items()
        }
        shares = distributions.Weights(tuple(weights.values()))
        return _field(entry, name=name, values=tuple(weights), distribution=shares)
    options: dict[str, Any] = {"name": name}
    if "count" in members:
        options["count"] = members["count"].integer(least=1)
    if "values" in members:
        options["values"] = tuple(
            str(value_entry.value) for value_entry in members["values"].items(least=1)
        )
    if "unique" in members:
        options["unique"] = _read_unique(members["unique"])
    if "distribution" in members:
        options["distribution"] = distributions.from_entry(members["distribution"])
    if "per" in members and members["per"].value is not None:
        options["per"] = members["per"].text()
    return _field(entry, **options)


def _read_unique(entry: Entry) -> str | None:
    if entry.value is True:
        return "sequential"
    return entry.choice({"sequential": "sequential", "random": "random"})


def _read_csv_field(name: str, entry: Entry, members: Mapping[str, Entry]) -> Field:
    path = Path(members["csv"].text())
    if not path.is_absolute():
        path = Path(entry.source).parent / path
    column = members["column"].text() if "column" in members else name
    try:
        values, weights = distributions.keys_from_csv(path, column)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        members["csv"].complain(f"cannot read {path}: {reason}")
    except ValueError as error:
        members["csv"].complain(f"{path}: {error}")
    return _field(entry, name=name, values=values, distribution=weights)


def _field(entry: Entry, **options: Any) -> Field:
    try:
        return Field(**options)
    except ValueError as error:
        return entry.complain(str(error))


def read_sizes(entry: Entry) -> Sizes:
    """Read item sizes."""
    value = entry.value
    if isinstance(value, list):
        rows = [member.members(required=("size", "share")) for member in entry.items(least=1)]
        sizes = tuple(row["size"].size_bytes() for row in rows)
        shares = [row["share"].number(above=0) for row in rows]
        return Sizes(sizes, tuple(share / sum(shares) for share in shares))
    if isinstance(value, dict):
        if "median" in value:
            members = entry.members(required=("median", "p99"))
            median, p99 = members["median"].size_bytes(), members["p99"].size_bytes()
            if not median < p99 <= limits.ITEM_BYTES:
                members["p99"].fail(f"more than the median and at most {limits.ITEM_BYTES} bytes")
            return Sizes.lognormal(median, p99)
        members = entry.members(required=("min", "max"))
        least, most = members["min"].size_bytes(), members["max"].size_bytes()
        if most < least:
            members["max"].fail("at least min")
        return Sizes.uniform(least, most)
    return Sizes.constant(entry.size_bytes())


def read_pattern(entry: Entry, known: set[str]) -> Pattern:
    """Read one access pattern; its field names must be among ``known``."""
    members = entry.members(
        required=("name", "operation", "rate"),
        optional=(*_PLAIN, "by", "fields", "distributions", "size", "changes", "recorded"),
    )
    options: dict[str, Any] = {
        "name": members["name"].text(),
        "operation": members["operation"].choice({name: name for name in OPERATIONS}),
        "rate": arrival_rates.from_entry(members["rate"]),
    }
    for name in ("by", "fields", "changes"):
        if name in members:
            options[name] = tuple(_known(name_entry, known) for name_entry in members[name].items())
    if "distributions" in members:
        options["distributions"] = {
            name: distributions.from_entry(distribution_entry)
            for name, distribution_entry in members["distributions"]
            .members(optional=sorted(known))
            .items()
        }
    if "size" in members:
        options["size"] = read_sizes(members["size"])
    if "recorded" in members:
        options["recorded"] = _read_recorded(members["recorded"])
    for name in _PLAIN:
        if name in members and members[name].value is not None:
            options[name] = _PLAIN_READERS[name](members[name])
    try:
        return Pattern(**options)
    except ValueError as error:
        return entry.complain(str(error))


_PLAIN_READERS: Final[Mapping[str, Any]] = {
    "arrivals": lambda entry: entry.choice(ARRIVALS),
    "entity": Entry.text,
    "items": lambda entry: entry.integer(least=1),
    "span": Entry.seconds,
    "selectivity": lambda entry: entry.number(above=0, most=1),
    "consistent": Entry.boolean,
    "actions": lambda entry: entry.integer(least=1),
    "retry": read_retry,
}


def _read_recorded(entry: Entry) -> Recorded:
    members = entry.members(required=("times", "values"), optional=("sizes",))
    return Recorded(
        tuple(time_entry.number(least=0) for time_entry in members["times"].items(least=1)),
        {
            name: tuple(number.integer() for number in value_entry.items(least=1))
            for name, value_entry in members["values"].mapping().items()
        },
        tuple(size_entry.size_bytes() for size_entry in members["sizes"].items())
        if "sizes" in members
        else (),
    )


def _known(entry: Entry, known: set[str]) -> str:
    name = entry.text()
    if name not in known:
        entry.fail(f"one of the fields {', '.join(sorted(known))}")
    return name


def read_preload(entry: Entry) -> Preload:
    """Read what is there before the run."""
    members = entry.members(required=("pattern", "items"), optional=("span",))
    return Preload(
        pattern=members["pattern"].text(),
        items=members["items"].integer(least=1),
        span=members["span"].seconds(above=None) if "span" in members else 0.0,
    )
