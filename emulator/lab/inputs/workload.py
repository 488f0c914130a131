"""Workloads: what an application asks of its data, whatever the design.

A workload has fields (what identifies things, and how popular each is) and access patterns
(operation, rate, what is known when asking). It names no key and no index: those are the
design's business.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from emulator.capacity.retries import POLICIES, RetryPolicy
from emulator.clock import DEFAULT_START
from emulator.lab.inputs import clients as clients_module
from emulator.lab.inputs import forms
from emulator.lab.inputs.arguments import explain_arguments
from emulator.lab.inputs.arrival_rates import Constant, Rate, Series, on_clock
from emulator.lab.inputs.clients import RETRY, Clients
from emulator.lab.inputs.distributions import Distribution, Floats, Latest, Zipf, moves_of
from emulator.lab.inputs.documents import Entry
from emulator.lab.inputs.forms import Form, FormMember, FormScope, Record
from emulator.lab.inputs.patterns import (
    FIELD,
    PATTERN_FORM,
    PRELOAD_FORM,
    TIMESTAMP,
    Field,
    Pattern,
    Preload,
    make_field,
)

#: Whether tables meet the load first, or have lived with it.
Age: TypeAlias = Literal["first", "lived"]
AGES: Final[tuple[Age, ...]] = ("first", "lived")

#: Seven past noon: a run begins neither with a day nor with an hour.
LAB_START: Final = DEFAULT_START + (12 * 60 + 7) * 60

NEVER_WRITTEN: Final = (
    "Pattern {pattern!r} reads {name!r}, which no pattern that creates such items writes"
)
_FIRST_MINUTE: Final = 60
#: Assumed: a month, over which a design is judged.
_HORIZON: Final = 30 * 86_400.0
#: Buckets of the horizon at most; where there are more, it is shorter.
_MOST_BUCKETS: Final = 43_200
#: The share of a rate's peak that counts as all of it.
_REACHED: Final = 0.95
#: Source: CAP-1007, a month has 730 hours.
PERIODS: Final = {"hour": 3600.0, "day": 86_400.0, "week": 604_800.0, "month": 730 * 3600.0}
_GROWTH: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*(?:(?:a|per)\s+month)?\s*")


@explain_arguments(clients=Clients)
@dataclass(frozen=True, kw_only=True)
class Workload:
    """Fields, access patterns and how long they run.

    >>> workload = Workload(
    ...     fields=[Field("deviceId", count=100)],
    ...     patterns=[Pattern("event", "PutItem", rate=50)],
    ...     duration=60,
    ... )
    >>> workload.requests
    3000.0
    """

    fields: Sequence[Field] = ()
    patterns: Sequence[Pattern]
    #: Seconds.
    duration: int = 3600
    seed: int = 0
    #: The SDK's retry mode: none, legacy, standard, adaptive or standard-2026 (CAP-707, CAP-708).
    retry: str = "legacy"
    #: Clients among which requests are shared, or how many there are.
    clients: Clients | int = Clients.count
    #: Seconds before the run, in whole ones, whose writes are stored when it begins (at the rate
    #: before the run, ``warm_up_rate``). None of them is refused, and no partition splits by them
    #: (CAP2-10). Assumed: the default.
    warm_up: int = 300
    #: Whether ``risk`` is that of tables which meet the load ``first``, as their history leaves
    #: them, or of tables that have ``lived`` with it.
    age: Age = "first"
    #: How many seconds the design is to hold for: 30 days, or the run if that is longer. Keys
    #: that have a time, and heat that moves, are placed again for every bucket of it.
    horizon: float | None = None
    #: Epoch seconds at which the run begins; a whole minute.
    start: int = LAB_START
    preload: Sequence[Preload] = ()
    #: Attributes of every item besides its fields, with their size in bytes.
    attributes: Mapping[str, int] = dataclass_field(default_factory=dict)
    #: How long items are kept, in seconds (time to live); None for ever. For storage costs.
    retention: float | None = None
    #: How often the run happens, as seconds from one beginning to the next: 730 hours for once a
    #: month. None: this load runs all the time. For costs.
    every: float | None = None
    #: The mean load of a month as a share of this run's. For costs.
    mean: float = 1.0
    #: By how much the load grows in a month, such as 0.05. For the costs of a year.
    growth: float = 0.0
    #: A multiple of every rate.
    load: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", tuple(self.fields))
        object.__setattr__(self, "patterns", tuple(self.patterns))
        object.__setattr__(self, "preload", tuple(self.preload))
        object.__setattr__(self, "duration", math.ceil(self.duration))
        object.__setattr__(self, "warm_up", math.ceil(self.warm_up))
        object.__setattr__(self, "clients", self.callers)
        if self.horizon is None:
            object.__setattr__(self, "horizon", max(_HORIZON, float(self.duration)))
        _check(self)

    @property
    def requests(self) -> float:
        """The number of requests to expect."""
        return sum(float(self.rates(pattern).sum()) for pattern in self.patterns)

    @property
    def operations(self) -> float:
        """The operations of a run request by request, warm-up and preloaded items included.

        >>> Workload(patterns=[Pattern("put", "PutItem", rate=2)], duration=60, warm_up=30,
        ...          preload=[Preload(pattern="put", items=1_000)]).operations
        1180.0
        """
        warming = sum(self.warm_up_rate(pattern) for pattern in self.patterns) * self.warm_up
        return self.requests + warming + sum(preload.items for preload in self.preload)

    @property
    def callers(self) -> Clients:
        """The clients, even if only their number was given."""
        return Clients(count=self.clients) if isinstance(self.clients, int) else self.clients

    @property
    def history(self) -> float:
        """How far before the run the oldest item was written, in seconds."""
        return self.warm_up + max((preload.span for preload in self.preload), default=0.0)

    def buckets_of(self, step: float | None) -> int:
        """Return how many buckets the horizon has, at most.

        >>> workload = Workload(patterns=[Pattern("put", "PutItem", rate=2)], duration=60)
        >>> workload.buckets_of(86_400), workload.buckets_of(None)
        (30, 1)
        """
        assert self.horizon is not None, "set when it was made"
        return 1 if step is None else min(_MOST_BUCKETS, math.ceil(self.horizon / step))

    def moves_of(self, name: str) -> float | None:
        """Return after how many seconds other values of a field are popular; None for never."""
        field = self.field(name)
        picks = [field.distribution, *(pattern.pick(field) for pattern in self.patterns)]
        own = [moves for pick in picks if (moves := moves_of(pick)) is not None]
        parent = field.per and self.moves_of(field.per)
        return min([*own, *([parent] if parent else [])], default=None)

    def rates(self, pattern: Pattern) -> Floats:
        """Return the requests per second of a pattern, for each second of the run."""
        return self._pace(pattern).per_second(self.duration) * self.load

    def warm_up_rate(self, pattern: Pattern) -> float:
        """Return the requests per second of a pattern during the warm-up.

        It is the first rate of the run; where there are spikes the rate between them, and of
        recorded traffic the mean of its first minute.
        """
        if pattern.recorded is not None:
            return float(pattern.pace.per_second(_FIRST_MINUTE).mean()) * self.load
        return self._pace(pattern).before_run * self.load

    def missed_peaks(self) -> dict[str, tuple[float, float]]:
        """Return the patterns whose peak lies outside of the run.

        Each with the most requests per second that the run has of it, and the most that its rate
        comes to.

        >>> from emulator.lab import Ramp
        >>> put = Pattern("put", "PutItem", rate=Ramp(start=0, end=100, over=600))
        >>> Workload(patterns=[put], duration=60).missed_peaks()
        {'put': (9.9..., 100.0)}
        """
        missed = {}
        for pattern in self.patterns:
            highest = pattern.pace.highest * self.load
            reached = float(self.rates(pattern).max(initial=0.0))
            if reached < _REACHED * highest:
                missed[pattern.name] = reached, highest
        return missed

    def _pace(self, pattern: Pattern) -> Rate:
        return on_clock(pattern.pace, self.start)

    def policy(self, pattern: Pattern) -> RetryPolicy:
        """Return how a pattern's calls are retried."""
        policy = POLICIES[pattern.retry or self.retry]
        jitter = self.callers.jitter
        return policy if jitter is None else replace(policy, jitter=jitter)

    def field(self, name: str) -> Field:
        """Return the field of that name.

        Raises:
            KeyError: There is none.
        """
        for field in self.fields:
            if field.name == name:
                return field
        raise KeyError(name)

    def pattern(self, name: str) -> Pattern:
        """Return the pattern of that name.

        Raises:
            KeyError: There is none.
        """
        return {pattern.name: pattern for pattern in self.patterns}[name]

    def unwritten(self, pattern: Pattern) -> list[str]:
        """Return the fields that a pattern reads and no item has.

        >>> save = Pattern("save", "PutItem", rate=1, fields=("userId",))
        >>> find = Pattern("find", "GetItem", rate=1, reads=("userId", "email"))
        >>> fields = [Field("userId", count=5), Field("email", count=5)]
        >>> Workload(fields=fields, patterns=[save], duration=60).unwritten(find)
        ['email']
        """
        wanted = () if pattern.reads in (None, "all") else tuple(pattern.reads or ())
        known = {field.name for field in self.fields}
        puts = [own for own in self.patterns if own.creates and own.entity == pattern.entity]
        written: set[str] = set() if puts else known
        for put in puts:
            written |= known if put.fields is None else {*put.fields, *put.by, *put.changes}
        parents = {self.field(name).per for name in written & known}
        return [
            name for name in wanted if name not in {*written, *parents, *self.attributes, TIMESTAMP}
        ]

    def scaled(self, multiple: float) -> Workload:
        """Return the same workload with ``multiple`` times the load."""
        return replace(self, load=self.load * multiple)

    def skewed(self, s: float) -> Workload:
        """Return the same workload with every Zipf and latest distribution set to ``s``."""

        def changed(distribution: Distribution) -> Distribution:
            return (
                replace(distribution, s=s)
                if isinstance(distribution, Zipf | Latest)
                else distribution
            )

        fields = [replace(field, distribution=changed(field.distribution)) for field in self.fields]
        patterns = [
            replace(
                pattern,
                distributions={name: changed(d) for name, d in pattern.distributions.items()},
            )
            for pattern in self.patterns
        ]
        return replace(self, fields=tuple(fields), patterns=tuple(patterns))

    def repeated(self, times: int) -> Workload:
        """Return the same run, repeated ``times`` in a row.

        >>> workload = Workload(patterns=[Pattern("put", "PutItem", rate=2)], duration=60)
        >>> workload.repeated(3).requests
        360.0
        """
        patterns = []
        for pattern in self.patterns:
            if not isinstance(pattern.pace, Constant):
                rates = np.tile(self._pace(pattern).per_second(self.duration), times)
                recorded = pattern.recorded and pattern.recorded.repeated(times, self.duration)
                pattern = replace(pattern, rate=Series(tuple(rates.tolist())), recorded=recorded)
            patterns.append(pattern)
        return replace(
            self, patterns=patterns, duration=times * self.duration, every=None, horizon=None
        )

    def to_document(self) -> dict[str, Any]:
        """Return the workload as dictionaries, lists and scalars."""
        return {
            "duration": self.duration,
            "seed": self.seed,
            "retry": self.retry,
            "clients": self.callers.to_document(),
            "warm_up": self.warm_up,
            "age": self.age,
            "horizon": self.horizon,
            "start": self.start,
            "load": self.load,
            "retention": self.retention,
            "every": self.every,
            "mean": self.mean,
            "growth": self.growth,
            "attributes": dict(self.attributes),
            "fields": {field.name: field.to_document() for field in self.fields},
            "patterns": [pattern.to_document() for pattern in self.patterns],
            "preload": [preload.to_document() for preload in self.preload],
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Workload:
        """Read what ``to_document`` or a person wrote in that form.

        Raises:
            DocumentError: Something is missing, unknown or out of bounds.
        """
        return from_entry(Entry.of(document, "workload"))

    @classmethod
    def ycsb(
        cls,
        letter: str,
        *,
        records: int = 10_000,
        rate: float = 1000.0,
        duration: int = 3600,
        seed: int = 0,
    ) -> Workload:
        """Return one of the YCSB core workloads, A to F.

        Args:
            letter: Which one.
            records: Records loaded before the run, of 1 KB each.
            rate: Operations per second.
            duration: Seconds.
            seed: For the draws.

        >>> [pattern.operation for pattern in Workload.ycsb("B").patterns]
        ['PutItem', 'GetItem', 'UpdateItem']
        """
        from emulator.lab.inputs.ycsb import ycsb

        return ycsb(letter, records=records, rate=rate, duration=duration, seed=seed)

    @classmethod
    def from_trace(cls, lines: Iterable[str] | Path, **options: Any) -> Workload:
        """Return recorded traffic as a workload; ``emulator.lab.inputs.traces`` has the format.

        Raises:
            DocumentError: A line cannot be read.
        """
        from emulator.lab.inputs.traces import from_trace

        return from_trace(lines, **options)


def _check(workload: Workload) -> None:
    """Refuse what no run could make sense of."""
    for problem in _problems(workload):
        raise ValueError(problem)


def _problems(workload: Workload) -> Iterator[str]:
    if workload.duration < 1:
        yield "Workload.duration must be at least one second"
    yield from _time_problems(workload)
    if workload.retry not in POLICIES:
        yield f"Workload.retry must be one of {', '.join(POLICIES)}, not {workload.retry!r}"
    if not workload.patterns:
        yield "a workload needs at least one pattern"
    if len({pattern.name for pattern in workload.patterns}) < len(workload.patterns):
        yield "two patterns have the same name"
    unknown = list(_unknown_names(workload))
    yield from unknown or _moving_problems(workload)


def _moving_problems(workload: Workload) -> Iterator[str]:
    for field in workload.fields:
        moves = workload.moves_of(field.name)
        if moves is not None and moves > workload.duration:
            yield (
                f"Field {field.name!r}: what is popular moves every {moves:g} s, which must not be "
                f"longer than the run of {workload.duration} s"
            )


def _time_problems(workload: Workload) -> Iterator[str]:
    if workload.age not in AGES:
        yield f"Workload.age must be one of {', '.join(AGES)}, not {workload.age!r}"
    if workload.horizon is not None and not workload.horizon >= workload.duration:
        yield (
            f"Workload.horizon is {workload.horizon:g} s: it must not be shorter than the run of "
            f"{workload.duration} s"
        )
    if workload.warm_up < 0:
        yield "Workload.warm_up must not be negative"
    if workload.every is not None and workload.every < workload.duration:
        yield "Workload.every must not be shorter than the run"
    if not 0 < workload.mean <= 1:
        yield f"Workload.mean is a share above 0, at most 1, not {workload.mean:g}"
    if workload.start % 60:
        yield "Workload.start must be a whole minute"


def _unknown_names(workload: Workload) -> Iterator[str]:
    names = {field.name for field in workload.fields}
    for field in workload.fields:
        if field.per is not None and (field.per not in names or field.per == field.name):
            yield f"Field {field.name!r}: per names no other field: {field.per!r}"
    for pattern in workload.patterns:
        used = (*pattern.by, *pattern.changes, *pattern.distributions, *(pattern.fields or ()))
        for name in (*used, *pattern.ordered_by):
            if name not in names and name != TIMESTAMP:
                yield f"Pattern {pattern.name!r} names no field: {name!r}"
        for name in workload.unwritten(pattern):
            yield NEVER_WRITTEN.format(pattern=pattern.name, name=name)
    creators = {pattern.name for pattern in workload.patterns if pattern.creates}
    for loaded in workload.preload:
        if loaded.pattern not in creators:
            yield f"preload names no pattern that puts items: {loaded.pattern!r}"


# Reading


def _read_every(entry: Entry, _: FormScope) -> float:
    """Return how often a run happens, in seconds."""
    if not isinstance(entry.value, str) or entry.value[:1].isdigit():
        return entry.seconds()
    if entry.value not in PERIODS:
        entry.fail(f"one of {', '.join(PERIODS)}, or a duration such as 12h", PERIODS)
    return PERIODS[entry.value]


def _read_growth(entry: Entry, _: FormScope) -> float:
    """Return the growth in a month as a share, from 0.05 or ``5 % a month``."""
    if isinstance(entry.value, str):
        percent = _GROWTH.fullmatch(entry.value)
        if percent is None:
            entry.fail("a growth such as 0.05 or '5 % a month'")
        return float(percent[1]) / 100
    return entry.number(least=0, most=_MOST_GROWTH)


def _read_start(entry: Entry, _: FormScope) -> int:
    """Return epoch seconds from a number or an ISO date and time."""
    if isinstance(entry.value, str):
        try:
            moment = datetime.fromisoformat(entry.value)
        except ValueError:
            entry.fail("a date and time such as 2026-01-01T00:00:00Z")
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return int(moment.timestamp())
    return entry.integer()


_MOST_GROWTH: Final = 10
_EVERY: Final = Form(
    _read_every,
    {"anyOf": [{"enum": list(PERIODS)}, forms.duration().schema]},
    f"{', '.join(f'`{name}`' for name in PERIODS)}; or {forms.duration().words}",
)
_GROWTH_FORM: Final = Form(
    _read_growth,
    {
        "anyOf": [
            {"type": "number", "minimum": 0, "maximum": _MOST_GROWTH},
            {"type": "string", "pattern": f"^{_GROWTH.pattern}$"},
        ]
    },
    "a share; or a text such as `5 % a month`",
)
_START: Final = Form(
    _read_start,
    {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "minLength": 8}]},
    "ISO date and time; or epoch seconds",
)
WORKLOAD: Final = Record(
    "workload",
    "The requests of an application, independent of the design.",
    {
        "duration": FormMember(
            forms.duration(), "How long the run is.", default=Workload.duration, example="10m"
        ),
        "warm_up": FormMember(
            forms.duration(zero=True),
            "The time before the run whose writes are stored when it begins; none is refused.",
            default=Workload.warm_up,
            example="2m",
        ),
        "age": FormMember(
            forms.choice({name: name for name in AGES}),
            "Which tables `risk` is about: those that meet the load `first`, or those that have "
            "`lived` with it. The grade knows both.",
            default=Workload.age,
            example="lived",
        ),
        "horizon": FormMember(
            forms.duration(),
            "How long the design is to hold. Keys made of the time, and heat that moves, are "
            "placed anew in every bucket of it.",
            default=_HORIZON,
            example="90d",
        ),
        "fields": FormMember(
            forms.by_name(FIELD.form),
            "What identifies things. `timestamp`, the moment of the request, is always there.",
            example={"userId": {"count": 500, "distribution": {"zipf": 1.1}}},
        ),
        "patterns": FormMember(
            forms.many(PATTERN_FORM, least=1),
            "The requests, and how often they are made.",
            required=True,
            example=[{"name": "save", "operation": "PutItem", "rate": 40, "size": "2 KB"}],
        ),
        "preload": FormMember(
            forms.many(PRELOAD_FORM),
            "Items that are there before the run.",
            example=[{"pattern": "save", "items": 5000}],
        ),
        "clients": FormMember(
            clients_module.FORM,
            "How many clients there are, or more about them.",
            default=Clients.count,
            example={"count": 50, "timeout": "5s"},
        ),
        "retry": FormMember(
            RETRY, "The SDK's retry mode.", default=Workload.retry, example="standard"
        ),
        "load": FormMember(
            forms.number(above=0), "A multiple of every rate.", default=Workload.load, example=1.5
        ),
        "seed": FormMember(
            forms.integer(), "The seed of the first world.", default=Workload.seed, example=7
        ),
        "start": FormMember(
            _START,
            "When the run begins, a whole minute; keys made of the time begin there.",
            default=LAB_START,
            example="2026-01-01T00:00:00Z",
        ),
        "attributes": FormMember(
            forms.by_name(forms.size()),
            "Attributes of every item besides its fields, with their size.",
            example={"payload": "1 KB"},
        ),
        "retention": FormMember(
            forms.duration(),
            "How long items are kept, for storage costs. Without it: forever.",
            example="90d",
            nullable=True,
        ),
        "every": FormMember(
            _EVERY,
            "How often the run happens, for costs. Without it: this load runs all the time.",
            example="month",
            nullable=True,
        ),
        "mean": FormMember(
            forms.number(above=0, most=1),
            "The mean load of a month as a share of this run's, for costs.",
            default=Workload.mean,
            example=0.3,
        ),
        "growth": FormMember(
            _GROWTH_FORM,
            "By how much the load grows in a month, for the costs of a year.",
            default=Workload.growth,
            example="5 % a month",
        ),
    },
)


def from_entry(entry: Entry) -> Workload:
    """Read a workload.

    Raises:
        DocumentError: Something is missing, unknown or out of bounds.
    """
    written = entry.value.get("fields") if isinstance(entry.value, dict) else None
    names = frozenset(() if written is None else written.mapping())
    attributes = entry.value.get("attributes") if isinstance(entry.value, dict) else None
    others = frozenset(() if attributes is None else attributes.mapping())
    options = WORKLOAD.read(entry, FormScope(names | {TIMESTAMP}, attributes=others))
    if written is not None:
        options["fields"] = [
            _field(name, written.value[name], values, names)
            for name, values in options["fields"].items()
        ]
    if "clients" in options:
        options["clients"], retries = options["clients"]
        if retries is not None and "retry" in options:
            entry.mapping()["retry"].complain(
                "'retries' of the clients sets this already; choose one"
            )
        options |= {} if retries is None else {"retry": retries}
    if "preload" in options:
        _check_preload(entry.value["preload"], options["patterns"])
    try:
        workload = Workload(**options)
    except ValueError as error:
        faulty = _named_in(str(error), entry)
        return faulty.complain(str(error))
    return workload


def _named_in(complaint: str, entry: Entry) -> Entry:
    """Return the pattern that a complaint is about, or else the whole entry."""
    patterns = entry.mapping()["patterns"].items()
    named = (own for own in patterns if f"Pattern {own.mapping()['name'].value!r} " in complaint)
    return next(named, entry)


def _check_preload(entry: Entry, patterns: Iterable[Pattern]) -> None:
    creators = [pattern.name for pattern in patterns if pattern.creates]
    for loaded in entry.items():
        pattern = loaded.mapping()["pattern"]
        if pattern.value not in creators:
            known = ", ".join(creators) or "there is none"
            pattern.fail(f"a pattern that puts items ({known})", creators)


def _field(name: str, entry: Entry, values: dict[str, Any], names: frozenset[str]) -> Field:
    field = make_field(name, entry, values)
    others = names - {name}
    if field.per is not None and field.per not in others:
        known = ", ".join(sorted(others)) or "there is none"
        entry.mapping()["per"].fail(f"another field ({known})", others)
    return field


#: Read as a ``Workload``.
FORM: Final = Form(
    lambda entry, _: from_entry(entry),
    WORKLOAD.form.schema,
    WORKLOAD.form.words,
    WORKLOAD.form.records,
)
