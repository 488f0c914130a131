"""The settings of an event source, with the defaults and ranges of Lambda's (EVS-1 to EVS-6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple, TypeGuard

from emulator.service import limits
from emulator.streams.filters import Pattern

STARTING_POSITIONS: Final = ("TRIM_HORIZON", "LATEST")
LEAST_RECORD_AGE: Final = 60

# Source: the form of constraint faults in every service model.
TOO_SMALL: Final = (
    "1 validation error detected: Value '{value}' at '{member}' failed to satisfy constraint: "
    "Member must have value greater than or equal to {least}"
)
TOO_LARGE: Final = (
    "1 validation error detected: Value '{value}' at '{member}' failed to satisfy constraint: "
    "Member must have value less than or equal to {most}"
)
NOT_A_NUMBER: Final = "{name} takes a whole number, not {value!r}"
NOT_A_DURATION: Final = "{name} takes a number of seconds of at least 0, not {value!r}"
NOT_A_SWITCH: Final = "{name} takes True or False, not {value!r}"
YOUNG: Final = "max_record_age is -1, or from 60 to 604,800 seconds, not {value}"
NO_POSITION: Final = "starting_position is one of TRIM_HORIZON and LATEST, not {value!r}"
#: Observed: LocalStack, of the service (EVS-3).
BAD_POSITION: Final = "Unsupported starting position for arn type: {arn}"


class _Range(NamedTuple):
    """The range of a whole number, and its name in the service."""

    member: str
    least: int
    most: int


RANGES: Final = {
    "batch_size": _Range("batchSize", 1, 10_000),
    "batch_window": _Range("maximumBatchingWindowInSeconds", 0, 300),
    "parallelization_factor": _Range("parallelizationFactor", 1, 10),
    "retries": _Range("maximumRetryAttempts", -1, 10_000),
    "max_record_age": _Range("maximumRecordAgeInSeconds", -1, 604_800),
    "tumbling_window": _Range("tumblingWindowInSeconds", 0, 900),
    "timeout": _Range("timeout", 1, 900),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSourceMapping:
    """How a stream is delivered to a function; durations are seconds.

    >>> EventSourceMapping(batch_size=0)
    Traceback (most recent call last):
    ValueError: 1 validation error detected: Value '0' at 'batchSize' failed to satisfy ...
    """

    #: Most records in a batch.
    batch_size: int = 100
    #: How long records are waited for before a batch is sent that is not full.
    batch_window: int = 0
    #: Which records are the first: TRIM_HORIZON or LATEST.
    starting_position: str = "TRIM_HORIZON"
    #: Patterns, of which a record has to match one.
    filters: tuple[Pattern, ...] = ()
    #: Batches of a shard that may be under way together.
    parallelization_factor: int = 1
    #: How often a batch is sent again after an error; -1 is without end.
    retries: int = -1
    #: The age at which records are dropped; -1 is the 24 hours that a stream keeps them.
    max_record_age: int = -1
    #: Whether a batch that fails is halved.
    bisect_on_error: bool = False
    #: Whether the function's answer says which records have failed.
    report_item_failures: bool = False
    #: The length of windows over which a state is kept; 0 is none.
    tumbling_window: int = 0
    #: How long the function may run.
    timeout: int = 3
    #: How long after its creation a source begins to read.
    activation_delay: float = 0.0
    #: Seed of the batches that are sent twice; None for none.
    at_least_once: int | None = None

    def __post_init__(self) -> None:
        for name, allowed in RANGES.items():
            _check_range(name, getattr(self, name), allowed)
        for name in ("bisect_on_error", "report_item_failures"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(NOT_A_SWITCH.format(name=name, value=getattr(self, name)))
        if 0 <= self.max_record_age < LEAST_RECORD_AGE:
            raise ValueError(YOUNG.format(value=self.max_record_age))
        if self.starting_position not in (*STARTING_POSITIONS, "AT_TIMESTAMP"):
            raise ValueError(NO_POSITION.format(value=self.starting_position))
        delay: object = self.activation_delay
        if isinstance(delay, bool) or not isinstance(delay, int | float) or not delay >= 0:
            raise ValueError(NOT_A_DURATION.format(name="activation_delay", value=delay))
        if self.at_least_once is not None and not _is_whole(self.at_least_once):
            raise TypeError(NOT_A_NUMBER.format(name="at_least_once", value=self.at_least_once))

    @property
    def kept_seconds(self) -> int:
        """The age at which a record is given up."""
        kept = limits.STREAM_RETENTION_SECONDS
        return kept if self.max_record_age == -1 else min(kept, self.max_record_age)

    @property
    def retries_for_ever(self) -> bool:
        """Whether a batch that always fails blocks its shard until it is trimmed."""
        return self.retries == -1 and self.max_record_age == -1


def _check_range(name: str, value: object, allowed: _Range) -> None:
    if not _is_whole(value):
        raise TypeError(NOT_A_NUMBER.format(name=name, value=value))
    if value < allowed.least:
        raise ValueError(TOO_SMALL.format(value=value, member=allowed.member, least=allowed.least))
    if value > allowed.most:
        raise ValueError(TOO_LARGE.format(value=value, member=allowed.member, most=allowed.most))


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
