"""The load that a person states in flags or answers, for tables that a design file declares.

Each figure but the mean holds for every table, or for one: ``--rate 500``, ``--rate orders=500``.
Key values and their skew are stated of an index by ``orders.byStatus=5``. The number of values of
an index is never taken from its table: one number for all would make a false *fine*.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

from emulator.lab.inputs.agent_models import read_skew
from emulator.lab.inputs.distributions import Distribution
from emulator.lab.inputs.documents import Entry, nearest
from emulator.service import limits
from emulator.service.errors import DocumentError


class Figure(NamedTuple):
    """A figure of the load: its flag, the default, and what is asked on a terminal."""

    flag: str
    default: str
    meaning: str


FIGURES: Final[Mapping[str, Figure]] = {
    "rate": Figure("--rate", "500", "requests a second at the peak, to each table"),
    "writes": Figure("--writes", "0.3", "share of the requests that write"),
    "mean": Figure("--mean", "0.3", "mean load as a share of the peak"),
    "keys": Figure("--keys", "10000", "distinct values of a table's partition key"),
    "skew": Figure("--skew", "80/20", "how uneven they are"),
    "item_size": Figure("--item-size", "1KB", "size of an item"),
}
_TARGET: Final = "{flag}: no table or index is called {name!r}{hint}; there are {known}"
_MOST_KEYS: Final = 10**12


@dataclass(frozen=True)
class StatedLoad:
    """A load by table; the name "" stands for every table.

    Each mapping is by the table's name; those of keys and skews by ``TABLE.INDEX``, too.
    """

    rates: Mapping[str, float]
    writes: Mapping[str, float]
    mean: float
    keys: Mapping[str, int]
    skews: Mapping[str, Distribution]
    sizes: Mapping[str, int]

    def of(self, table: str) -> TableLoad | None:
        """Return the load of a table; None if no rate is stated for it.

        >>> load = read_load({"rate": ["orders=500"]}, {"orders": (), "users": ()})
        >>> load.of("orders").writes_a_second, load.of("users")
        (150.0, None)
        """
        rate = self.rates.get(table, self.rates.get(""))
        if rate is None:
            return None
        share = self.writes.get(table, self.writes[""])
        return TableLoad(
            writes_a_second=rate * share,
            reads_a_second=rate * (1 - share),
            mean=self.mean,
        )

    def size_of(self, table: str) -> int:
        """Return the bytes of an item of a table."""
        return self.sizes.get(table, self.sizes[""])

    def keys_of(self, target: str) -> int:
        """Return how many key values a table has, or an index of which it is stated."""
        return self.keys.get(target, self.keys[""])

    def skew_of(self, target: str) -> Distribution:
        """Return how uneven the key values of a table or index are."""
        return self.skews.get(target, self.skews[""])


@dataclass(frozen=True)
class TableLoad:
    """The load of one table at its peak, and the mean as a share of it."""

    writes_a_second: float
    reads_a_second: float
    mean: float


def read_load(
    texts: Mapping[str, Sequence[str]], tables: Mapping[str, Collection[str]]
) -> StatedLoad:
    """Return the figures that flags state, and the default for tables without a flag.

    A rate that is stated for one table says nothing of the others, which then have none.

    Args:
        texts: For each figure, ``[TARGET=]VALUE`` as often as it was given.
        tables: The indexes of each table.

    Raises:
        DocumentError: A value cannot be read, or names a table that is not there.

    >>> load = read_load({"keys": ["orders.byStatus=5"]}, {"orders": ["byStatus"]})
    >>> load.keys, load.rates
    ({'orders.byStatus': 5, '': 10000}, {'': 500.0})
    """
    indexes = [f"{table}.{index}" for table, names in tables.items() for index in names]

    def read(name: str, reader: _Reader) -> dict[str, Any]:
        figure, given = FIGURES[name], texts.get(name) or ()
        known = [*tables, *indexes] if name in _OF_KEYS else list(tables)
        values = dict(_stated(figure.flag, text, known, reader) for text in given)
        if not given or name != "rate":
            values.setdefault("", reader(figure.flag, figure.default))
        return values

    return StatedLoad(
        rates=read("rate", _rate),
        writes=read("writes", _share),
        mean=_mean(FIGURES["mean"].flag, [FIGURES["mean"].default, *texts.get("mean", ())][-1]),
        keys=read("keys", _count),
        skews=read("skew", _skew),
        sizes=read("item_size", _size),
    )


def assumed(texts: Mapping[str, Sequence[str]]) -> str:
    """Return the flags that stand for what was not given.

    >>> assumed({"rate": ["500"], "writes": ["0.5"], "keys": ["900"]})
    '--mean 0.3 --skew 80/20 --item-size 1KB'
    """
    return " ".join(
        f"{figure.flag} {figure.default}" for name, figure in FIGURES.items() if not texts.get(name)
    )


_Reader: TypeAlias = Callable[[str, str], Any]
#: The figures that are stated of indexes, too.
_OF_KEYS: Final = ("keys", "skew")


def _stated(flag: str, text: str, known: Sequence[str], reader: _Reader) -> tuple[str, Any]:
    """Return the table or index that a text is about, and its value."""
    name, separator, value = text.rpartition("=")
    if separator and name not in known:
        raise DocumentError(
            _TARGET.format(flag=flag, name=name, hint=nearest(name, known), known=", ".join(known))
        )
    return name, reader(flag, value)


def _entry(flag: str, text: str) -> Entry:
    """Return a value of the command line, as a number if it is one."""
    for read in (int, float):
        try:
            return Entry(read(text), field=flag, source="command line")
        except ValueError:
            continue
    return Entry(text, field=flag, source="command line")


def _rate(flag: str, text: str) -> float:
    return _entry(flag, text).number(above=0)


def _share(flag: str, text: str) -> float:
    return _entry(flag, text).number(least=0, most=1)


def _mean(flag: str, text: str) -> float:
    return _entry(flag, text).number(above=0, most=1)


def _count(flag: str, text: str) -> int:
    return _entry(flag, text).integer(least=1, most=_MOST_KEYS)


def _size(flag: str, text: str) -> int:
    size = _entry(flag, text).size_bytes()
    return Entry(size, field=flag, source="command line").integer(least=1, most=limits.ITEM_BYTES)


def _skew(_: str, text: str) -> Distribution:
    return read_skew(text)
