"""The answer of a run of the lab: plain, frozen results that go to JSON and come back.

Nothing here computes; engines and analyses fill these in, reports read them. Numbers that count
requests are floats, because the aggregate engine works with expectations. Rates are units per
second. Times are seconds from the start of the run.
"""

from __future__ import annotations

import json
import types
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from emulator.designs import Finding
from emulator.lab.outcome.throttled import throttled_by_reason, throttled_share

if TYPE_CHECKING:
    import pandas

#: Grows when a result written before can no longer be read.
FORMAT: Final = 1

Grade: TypeAlias = Literal["throttles", "risky", "heals", "tight", "fine"]

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The median and the 99th percentile over requests."""

    p50: float
    p99: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceUnits:
    """The units one pattern consumed on one table or index."""

    resource: str
    read: float
    write: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternResult:
    """One access pattern under one design.

    A *request* is what the application asks for. A design with calculated suffixes turns one
    request into several *calls* (``fan_out`` of them), and each call takes one or more
    *attempts* because clients retry what was refused.
    """

    name: str
    operation: str
    #: The table or index that answers it.
    resource: str
    requests: float
    #: Calls per request; above 1 where the design makes a read ask several keys.
    fan_out: float
    calls: float
    attempts: float
    #: Calls refused at least once, and by the reason of their first refusal.
    throttled: float
    throttled_by_reason: dict[str, float]
    #: Attempts refused.
    refusals: float
    #: Calls given up after their last attempt.
    failed: float
    attempts_per_call: Spread
    #: What waiting for retries added to a call that was answered in the end.
    added_latency_seconds: Spread
    #: Calls that took 1, 2, 3, ... attempts.
    attempts_histogram: tuple[float, ...]
    units: tuple[ResourceUnits, ...]
    #: Bytes read to answer, and of those the bytes that a filter then threw away.
    evaluated_bytes: float
    filtered_bytes: float
    #: Of ``attempts_histogram`` the calls that were given up; empty in results of 0.1.0.
    failed_histogram: tuple[float, ...] = ()

    @property
    def throttled_share(self) -> float:
        """The share of calls refused at least once, 0 to 1."""
        return throttled_share((self,))

    @property
    def throttled_share_by_reason(self) -> dict[str, float]:
        """The same by reason; the values sum to ``throttled_share``."""
        return {
            reason: count / self.calls if self.calls else 0.0
            for reason, count in self.throttled_by_reason.items()
        }

    @property
    def filter_waste_share(self) -> float:
        """The share of read bytes that a filter threw away, 0 to 1."""
        return self.filtered_bytes / self.evaluated_bytes if self.evaluated_bytes else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MinuteSeries:
    """Throughput over time: one value per step, all of the same length.

    ``consumed``, ``provisioned`` and ``throttled`` are units per second (averages over the
    step); ``burst`` is the reserve in units at the end of the step. ``provisioned`` is what the
    resource may use: its setting, or on demand what its partitions carry.
    """

    step_seconds: float
    consumed: tuple[float, ...]
    provisioned: tuple[float, ...]
    burst: tuple[float, ...]
    throttled: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisResult:
    """Reads or writes of one table or index."""

    consumed_units: float
    #: Units of refused attempts; a request that is retried counts each time.
    throttled_units: float
    #: The highest consumption within one second.
    peak: float
    #: Consumed over provisioned, 0 to 1; None on demand.
    utilisation: float | None
    per_minute: MinuteSeries
    #: At most a few hundred points, whatever the duration.
    fine: MinuteSeries


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionSpan:
    """One partition's life: its share of the key space and when it existed.

    ``low`` and ``high`` are fractions of the hash range, 0 to 1.
    """

    partition_id: int
    low: float
    high: float
    born: float
    #: When a split replaced it; None if it lived to the end.
    died: float | None
    size_bytes: float
    items: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatMap:
    """Load time x partition; rows are time steps, columns are ``partitions``.

    Cells are a fraction of what one partition carries in the step, both axes together: 1 means
    that it is full. A cell of a partition that did not exist is None. ``throttled`` has the
    refused demand on the same scale.
    """

    step_seconds: float
    partitions: tuple[PartitionSpan, ...]
    load: tuple[tuple[float | None, ...], ...]
    throttled: tuple[tuple[float | None, ...], ...]

    @property
    def last_refusal(self) -> float | None:
        """When the last step ends in which a partition refused something; None if none did."""
        refusing = [number for number, row in enumerate(self.throttled, start=1) if any(row)]
        return refusing[-1] * self.step_seconds if refusing else None

    def has_traffic(self, partition_ids: set[int]) -> bool:
        """Return whether any of some partitions was asked for anything."""
        columns = [
            column
            for column, span in enumerate(self.partitions)
            if span.partition_id in partition_ids
        ]
        return any(row[column] for row in (*self.load, *self.throttled) for column in columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitResult:
    """A partition split, or a split that was refused (then there are no children)."""

    time: float
    resource: str
    partition_id: int
    children: tuple[int, ...]
    #: ``heat`` or ``size``; for a refusal why nothing was split.
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyShare:
    """A partition key value and its share of the resource's demand, 0 to 1."""

    key: str
    share: float
    units: float
    throttled_units: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Concentration:
    """How uneven traffic is: ``traffic[i]`` falls on the busiest ``population[i]``, 0 to 1."""

    population: tuple[float, ...]
    traffic: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionSizes:
    """Item collections at the end of the run, and how the largest grows."""

    count: float
    items: float
    total_bytes: float
    p50_bytes: float
    p99_bytes: float
    #: As billed if the table has local indexes, because its limit is counted that way (CAP-111).
    largest_bytes: float
    largest_key: str
    #: Bytes a day that the largest collection gains at the run's pace.
    largest_growth_bytes_per_day: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BacklogResult:
    """The backlog of a global index, in write units (CAP2-4)."""

    #: At the end of the run.
    units: float
    #: How much may wait before the index closes, and every write to its table is refused.
    buffer: float
    #: Why it last had to wait, such as ``IndexWriteKeyRangeThroughputExceeded``.
    reason: str
    #: When it closes, in seconds from the start: as it did, or as it would if the load went on.
    #: None if the backlog does not grow.
    closes_after: float | None
    #: Whether it closed during the run.
    has_closed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class IteratorAge:
    """How far a consumer of a table's stream is behind, in seconds (STM-12)."""

    longest: float
    at_the_end: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceResult:
    """A table or a global secondary index under one design."""

    name: str
    kind: Literal["table", "index"]
    read: AxisResult
    write: AxisResult
    #: How many partitions at the end of each minute.
    partitions_per_minute: tuple[int, ...]
    heat: HeatMap
    splits: tuple[SplitResult, ...]
    #: Distinct partition key values that saw traffic.
    distinct_keys: float
    hottest_partition_share: float
    hottest_key_share: float
    top_keys: tuple[KeyShare, ...]
    key_concentration: Concentration
    partition_concentration: Concentration
    collections: CollectionSizes
    #: Of an index; None for tables, where nothing ever waited, and in results of 0.1.0.
    backlog: BacklogResult | None = None
    #: Of a table whose stream has a consumer of known speed, else None.
    iterator_age: IteratorAge | None = None

    @property
    def partitions_at_the_end(self) -> int:
        """How many partitions there were when the run ended, after its last splits."""
        return sum(span.died is None for span in self.heat.partitions)

    @property
    def busy_splits(self) -> list[SplitResult]:
        """Splits, done or refused, of partitions that had traffic in the run.

        Others were hot in the warm-up alone, such as the partition of the hour before.
        """
        return [
            split
            for split in self.splits
            if self.heat.has_traffic({split.partition_id, *split.children})
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLine:
    """One line of a monthly bill in US dollars."""

    resource: str
    item: str
    quantity: float
    price: float
    amount: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """A month under one billing mode and table class."""

    #: ``on-demand``, ``provisioned`` or ``auto-scaled``.
    billing: str
    table_class: str
    lines: tuple[CostLine, ...]
    total: float
    #: Whether this is what the design asks for.
    chosen: bool
    #: Dollars for each million requests that were served; None if none was, and in 0.1.0.
    per_million_served: float | None = None
    #: The month if every call had been served; None if none was given up, where the capacity
    #: cannot serve them, and in 0.1.0.
    whole_load: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthCost:
    """One month of a load that grows."""

    #: From 1 to 12.
    month: int
    #: The multiple of the first month's load.
    load: float
    total: float
    #: Billed bytes on average.
    stored_bytes: float
    #: Of all tables and indexes, at least, at the end of the month.
    partitions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakEven:
    """Provisioned against on demand for one axis of one resource."""

    resource: str
    axis: Literal["read", "write"]
    #: Average use of what is (or would have to be) provisioned, 0 to 1.
    utilisation: float
    #: Above this utilisation provisioned capacity is the cheaper one.
    break_even: float
    cheaper: Literal["on-demand", "provisioned"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPoint:
    """The throttled share of the median world at one multiple of the load."""

    multiple: float
    throttled_share: float
    #: The share of worlds that throttle; None in results of 0.1.0.
    chance: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Headroom:
    """The largest load multiple that stays under the threshold, and the points searched."""

    multiple: float
    #: The search stopped at its ceiling: the true headroom is at least ``multiple``.
    at_least: bool
    threshold: float
    #: The reason that stops the next multiple, or None.
    limited_by: str | None
    curve: tuple[LoadPoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """The share of worlds in which a design throttles, with Wilson's 95 % interval."""

    chance: float
    low: float
    high: float
    #: How many worlds were played.
    worlds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldResult:
    """How a design did in one world."""

    seed: int
    throttled_share: float
    failed_share: float
    #: When an index closes its table's writes if the load goes on; None if none does.
    closes_after: float | None
    #: Whether the world is one of those that are played to the end whatever happens. The others
    #: tell whether the design throttles, and end once that is sure: shares are of what ran.
    whole: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownEffect:
    """How the answer moves when one unknown is drawn again and all others stay."""

    #: Such as ``placement of keys``.
    name: str
    #: The rule's id, such as ``CAP2-7``; "" where no single one is about it.
    rule: str
    #: The share of these worlds in which the design throttles.
    chance: float
    #: The least and the largest share of throttled calls among them.
    low: float
    high: float
    worlds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Confidence:
    """One measure over several worlds; ``low`` and ``high`` bound its mean with 95 %."""

    measure: str
    mean: float
    low: float
    high: float
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitivityRow:
    """The answer under another value of an assumed constant; in 0.1.0 only."""

    value: float
    throttled_share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumption:
    """An assumed constant that this result depends on, the same in every world."""

    setting: str
    value: float
    #: The rule's id, such as ``CAP-505``.
    rule: str
    meaning: str
    rows: tuple[SensitivityRow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgeResult:
    """How tables of one age do.

    Attributes:
        risk: The share of worlds that throttle.
        throttled: The share of calls refused at first, in the typical world of those that do.
        calm_after_seconds: Seconds until no call is refused any more; None if none was, or if
            some still are.
    """

    risk: Risk
    throttled: float
    calm_after_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ages:
    """Tables that meet the load first, as their history leaves them, and that have lived with it.

    To have lived is to have had the whole run again and again, until nothing split or scaled.
    """

    first: AgeResult
    lived: AgeResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """How far a load is from the nearest limit.

    Attributes:
        resource: The table or index.
        limit: The reason that the service would give.
        percent: The rest of the limit; negative where more is asked for.
    """

    resource: str
    limit: str
    percent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Horizon:
    """How a design does over the time that it is to hold for.

    Attributes:
        seconds: That time.
        bucket_seconds: How long keys stay the same; None where none has a time.
        buckets: How often they are placed.
        risk_per_bucket: The chance that one bucket throttles.
        throttled_minutes_a_month: Minutes with refusals.
        refused_calls_a_month: Calls refused at first.
    """

    seconds: float
    bucket_seconds: float | None
    buckets: int
    risk_per_bucket: float
    throttled_minutes_a_month: float
    refused_calls_a_month: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DesignResult:
    """Everything the lab says about one design under one workload.

    Resources, patterns, splits and costs are those of one world, the median one by the share of
    throttled calls; ``risk`` and ``worlds`` are about all that were played. What 0.1.0 did not
    know is None or empty.
    """

    name: str
    #: The design as a document: what ``Design.from_document`` reads.
    design: dict[str, Any]
    resources: tuple[ResourceResult, ...]
    patterns: tuple[PatternResult, ...]
    time_to_first_throttle: float | None
    splits: tuple[SplitResult, ...]
    costs: tuple[Cost, ...]
    break_even: tuple[BreakEven, ...]
    headroom: Headroom | None
    confidence: tuple[Confidence, ...]
    #: From worst: ``throttles`` (in over 95 % of worlds once tables have lived with the load),
    #: ``risky`` (in 5 % or more), ``heals`` (in 5 % or more while they are new), ``tight`` (under
    #: 1.5 x headroom), ``fine``.
    grade: Grade
    verdict: str
    #: The smallest change that holds in 95 % of worlds; None if none is needed or was found.
    fix: str | None
    findings: tuple[Finding, ...]
    assumptions: tuple[Assumption, ...]
    risk: Risk | None = None
    worlds: tuple[WorldResult, ...] = ()
    #: The seed of the world that is shown.
    shown_world: int | None = None
    unknowns: tuple[UnknownEffect, ...] = ()
    #: Twelve months, if the workload grows.
    year: tuple[MonthCost, ...] = ()
    #: What the search for a fix found besides, such as that nothing helps.
    fix_note: str | None = None
    #: The seconds of the run that were played request by request for waits and calls given up,
    #: where clients hold calls back; None if none were.
    window: tuple[float, float] | None = None
    #: How many keys were followed one by one; all others were taken together.
    keys_followed: int | None = None
    #: How new tables do, and tables that have lived with the load; ``risk`` is that of the age
    #: that was asked for.
    ages: Ages | None = None
    #: How far the load is from the nearest limit.
    margin: Margin | None = None
    #: How keys that have a time, and heat that moves, do over the horizon.
    horizon: Horizon | None = None

    @property
    def requests(self) -> float:
        """Requests over all patterns."""
        return sum(pattern.requests for pattern in self.patterns)

    @property
    def whole_worlds(self) -> tuple[WorldResult, ...]:
        """The worlds that were played to the end, whose shares are known."""
        return tuple(world for world in self.worlds if world.whole)

    @property
    def throttled_share(self) -> float:
        """The share of all calls refused at least once, 0 to 1."""
        return throttled_share(self.patterns)

    @property
    def given_up_share(self) -> float:
        """The share of all calls given up after their last attempt, 0 to 1."""
        calls = sum(pattern.calls for pattern in self.patterns)
        return sum(pattern.failed for pattern in self.patterns) / calls if calls else 0.0

    @property
    def throttled_share_by_reason(self) -> dict[str, float]:
        """The same by reason, the largest first."""
        calls = sum(pattern.calls for pattern in self.patterns)
        totals = throttled_by_reason(self.patterns)
        return {reason: count / calls for reason, count in totals.items() if count}

    @property
    def table(self) -> ResourceResult:
        """The table itself."""
        return next(resource for resource in self.resources if resource.kind == "table")

    @property
    def cost(self) -> Cost:
        """The month under the billing mode and table class of the design."""
        return next(cost for cost in self.costs if cost.chosen)

    def __repr__(self) -> str:
        return f"<DesignResult {self.name}: {self.grade}>"

    def _repr_html_(self) -> str:
        """Return the design as a notebook shows it."""
        from emulator.lab.outcome.notebooks import design_markup

        return design_markup(self)

    def resource(self, name: str) -> ResourceResult:
        """Return the table or index of that name.

        Raises:
            KeyError: There is none.
        """
        for resource in self.resources:
            if resource.name == name:
                return resource
        raise KeyError(name)

    def pattern(self, name: str) -> PatternResult:
        """Return the access pattern of that name.

        Raises:
            KeyError: There is none.
        """
        return {pattern.name: pattern for pattern in self.patterns}[name]


@dataclass(frozen=True, slots=True)
class MeasuredRefusals:
    """CloudWatch's counts of the traffic that a workload was given (ICH-61).

    >>> MeasuredRefusals({"PutItem": 75.0}, {"PutItem": 25.0}, {}).share("PutItem")
    0.25
    """

    #: Requests of each operation that were answered, and those that were refused.
    answered: dict[str, float]
    refused: dict[str, float]
    #: Refusals by the limit that made them, as reasons end; reads and writes together.
    by_limit: dict[str, float]

    def share(self, operation: str) -> float:
        """Return the share of an operation's requests that were refused, 0 to 1."""
        refused = self.refused[operation]
        requests = refused + self.answered.get(operation, 0.0)
        return refused / requests if requests else 0.0


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Comparison:
    """Designs side by side under one workload.

    >>> empty = Comparison(title="t", workload={}, engine="exact", duration_seconds=60.0,
    ...                    seeds=(0,), designs=())
    >>> Comparison.from_json(empty.to_json()) == empty
    True
    """

    title: str
    #: The workload as a document: what ``Workload.from_document`` reads.
    workload: dict[str, Any]
    engine: Literal["exact", "aggregate"]
    duration_seconds: float
    seeds: tuple[int, ...]
    designs: tuple[DesignResult, ...]
    format: int = field(default=FORMAT)
    #: Refusals that metrics counted of the same traffic, if any were given.
    measured: MeasuredRefusals | None = None
    #: What to know of the run before relying on its answers, a clause each.
    notes: tuple[str, ...] = ()

    def design(self, name: str) -> DesignResult:
        """Return the result of the design of that name.

        Raises:
            KeyError: There is none.
        """
        return {design.name: design for design in self.designs}[name]

    def __repr__(self) -> str:
        graded = ", ".join(f"{design.name}: {design.grade}" for design in self.designs)
        return f"<Comparison {graded}>"

    def __str__(self) -> str:
        from emulator.lab.outcome.notebooks import comparison_text

        return comparison_text(self)

    def _repr_html_(self) -> str:
        """Return the comparison as a notebook shows it."""
        from emulator.lab.outcome.notebooks import comparison_markup

        return comparison_markup(self)

    def to_frame(self) -> pandas.DataFrame:
        """Return the measures as a frame of pandas, a row for each design.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        from emulator.lab.outcome.notebooks import comparison_frame

        return comparison_frame(self)

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the whole comparison as JSON text."""
        return json.dumps(to_document(self), indent=indent, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Comparison:
        """Read what ``to_json`` wrote.

        Raises:
            ValueError: The text is not JSON, or another version wrote it.
        """
        document = json.loads(text)
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise ValueError(f"not a comparison of format {FORMAT}: run the lab again")
        return from_document(cls, document)


def to_document(value: Any) -> Any:
    """Return a result as dictionaries, lists and scalars.

    >>> to_document(Spread(p50=1, p99=2))
    {'p50': 1, 'p99': 2}
    """
    if is_dataclass(value):
        return {entry.name: to_document(getattr(value, entry.name)) for entry in fields(value)}
    if isinstance(value, (list, tuple)):
        return [to_document(entry) for entry in value]
    if isinstance(value, Mapping):
        return {key: to_document(entry) for key, entry in value.items()}
    return value


def from_document(cls: type[_T], document: Any) -> _T:
    """Return the result that ``to_document`` took apart.

    >>> from_document(Spread, {"p50": 1, "p99": 2})
    Spread(p50=1, p99=2)
    """
    hints = get_type_hints(cls)
    return cls(**{name: _restored(hints[name], entry) for name, entry in document.items()})


def _restored(hint: Any, value: Any) -> Any:
    origin, arguments = get_origin(hint), get_args(hint)
    if value is None:
        return None
    if origin is tuple:
        return tuple(_restored(arguments[0], entry) for entry in value)
    if origin in (Union, types.UnionType):
        return _restored(arguments[0], value)
    if isinstance(hint, type) and is_dataclass(hint):
        return from_document(hint, value)
    return value
