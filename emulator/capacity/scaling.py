"""Target tracking: how provisioned capacity follows its utilisation, per resource and axis."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Final, NamedTuple

from emulator.capacity import delays
from emulator.service import limits
from emulator.settings import Settings

_MINUTE_SECONDS: Final = 60
#: Datapoints of either alarm. Source: CAP-902.
HIGH_MINUTES: Final = 2
LOW_MINUTES: Final = 15
#: Accepted target values, in percent. Source: CAP-901.
MIN_TARGET: Final = 20
MAX_TARGET: Final = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingPolicy:
    """A target-tracking policy with the console's defaults (CAP-901, CAP-903).

    >>> ScalingPolicy(target=95)
    Traceback (most recent call last):
    ValueError: ScalingPolicy.target must lie between 20 and 90 percent, not 95
    """

    #: Wanted utilisation, in percent.
    target: float = 70
    minimum: int = 5
    maximum: int = limits.TABLE_QUOTA_UNITS
    #: Seconds after a scale-out before the next.
    scale_out_cooldown: float = 0
    #: Seconds after a scale-in before the next.
    scale_in_cooldown: float = 0
    disable_scale_in: bool = False

    def __post_init__(self) -> None:
        if not MIN_TARGET <= self.target <= MAX_TARGET:
            raise ValueError(
                f"ScalingPolicy.target must lie between {MIN_TARGET} and {MAX_TARGET} percent, "
                f"not {self.target}"
            )
        if not 1 <= self.minimum <= self.maximum:
            raise ValueError(
                "ScalingPolicy needs 1 <= minimum <= maximum, "
                f"not {self.minimum} and {self.maximum}"
            )


class ScalingChange(NamedTuple):
    """A capacity that takes effect at a time."""

    units: int
    due_s: float


class ScalerState(NamedTuple):
    """The state of a ``Scaler`` besides its policy.

    Attributes:
        pending: The change that is on its way.
        history: Consumed rates of the last minutes.
        last_s: The end of the last of them.
        out_over_s: When the cooldown after a scale-out is over.
        in_over_s: When the cooldown after a scale-in is over.
    """

    pending: ScalingChange | None
    history: tuple[float, ...]
    last_s: float | None
    out_over_s: float
    in_over_s: float


class Scaler:
    """The auto scaling of one axis of one resource.

    At a minute boundary ``on_minute`` comes first, then ``due``: a change that takes effect
    starts the history afresh.

    Args:
        policy: The target to track.
        settings: For the alarm and the delay.
        subject: Which axis of which resource; the delay is drawn for it.

    >>> scaler = Scaler(ScalingPolicy(target=70), Settings())
    >>> scaler.on_minute(90.0, provisioned=100, now_s=60, decrease_allowed=True)
    >>> scaler.on_minute(90.0, provisioned=100, now_s=120, decrease_allowed=True)
    ScalingChange(units=129, due_s=240.0)
    >>> scaler.due(240)
    129
    """

    __slots__ = (
        "_history",
        "_in_over_s",
        "_last_s",
        "_offset",
        "_out_over_s",
        "_settings",
        "_subject",
        "pending",
        "policy",
    )

    def __init__(self, policy: ScalingPolicy, settings: Settings, subject: str = "") -> None:
        self.policy = policy
        self.pending: ScalingChange | None = None
        self._subject = subject
        self._settings = settings
        self._offset = settings.low_alarm_offset
        self._history: deque[float] = deque(maxlen=LOW_MINUTES)
        self._last_s: float | None = None
        self._out_over_s = self._in_over_s = -math.inf

    def is_idle(self, provisioned: int) -> bool:
        """Return whether minutes without traffic change nothing here."""
        can_fall = provisioned > self.policy.minimum and not self.policy.disable_scale_in
        return self.pending is None and not can_fall

    def on_minute(
        self, consumed_rate: float, provisioned: int, now_s: float, *, decrease_allowed: bool
    ) -> ScalingChange | None:
        """Count a minute that ends now; return the change it schedules, if any.

        Args:
            consumed_rate: Units consumed in the minute, divided by 60; refused demand is no
                part of it. Minutes left out count as zero.
            provisioned: The capacity in force.
            now_s: The minute's end.
            decrease_allowed: Whether the limits on decreases let one pass now (CAP-618).

        Assumed: the new value (CAP-904), its delay (``Settings.autoscaling_delay``, CAP2-8), and
        how far below the target the lower alarm lies (``Settings.low_alarm_offset``).
        """
        self._pad(now_s)
        self._history.append(consumed_rate)
        if self.pending is not None:
            return None
        if self._is_high(provisioned):
            change = self._scale_out(provisioned, now_s)
        elif decrease_allowed and self._is_low(provisioned):
            change = self._scale_in(provisioned, now_s)
        else:
            change = None
        self.pending = change
        return change

    def due(self, now_s: float) -> int | None:
        """Return, and strike off, the capacity that takes effect by now; history restarts."""
        if self.pending is None or self.pending.due_s > now_s:
            return None
        units = self.pending.units
        self.pending = None
        self._history.clear()
        return units

    def save(self) -> ScalerState:
        """Return the state, for ``restore``."""
        return ScalerState(
            self.pending, tuple(self._history), self._last_s, self._out_over_s, self._in_over_s
        )

    def restore(self, state: ScalerState) -> None:
        """Go back to a saved state."""
        self.pending = state.pending
        self._history = deque(state.history, maxlen=LOW_MINUTES)
        self._last_s = state.last_s
        self._out_over_s, self._in_over_s = state.out_over_s, state.in_over_s

    def _pad(self, now_s: float) -> None:
        """Enter the minutes that were left out, as minutes without traffic."""
        if self._last_s is not None:
            missing = round((now_s - self._last_s) / _MINUTE_SECONDS) - 1
            self._history.extend([0.0] * min(missing, LOW_MINUTES))
        self._last_s = now_s

    def _is_high(self, provisioned: int) -> bool:
        recent = list(self._history)[-HIGH_MINUTES:]
        return len(recent) == HIGH_MINUTES and min(recent) * 100 > self.policy.target * provisioned

    def _is_low(self, provisioned: int) -> bool:
        alarm = max(self.policy.target - self._offset * 100, self.policy.target / 2)
        history = self._history
        return len(history) == LOW_MINUTES and max(history) * 100 < alarm * provisioned

    def _scale_out(self, provisioned: int, now_s: float) -> ScalingChange | None:
        wanted = self._wanted(max(list(self._history)[-HIGH_MINUTES:]))
        if wanted <= provisioned or now_s < self._out_over_s:
            return None
        due_s = now_s + self._delay(now_s)
        self._out_over_s = due_s + self.policy.scale_out_cooldown
        return ScalingChange(wanted, due_s)

    def _scale_in(self, provisioned: int, now_s: float) -> ScalingChange | None:
        wanted = self._wanted(max(self._history))
        if wanted >= provisioned or self.policy.disable_scale_in or now_s < self._in_over_s:
            return None
        due_s = now_s + self._delay(now_s)
        self._in_over_s = due_s + self.policy.scale_in_cooldown
        return ScalingChange(wanted, due_s)

    def _delay(self, now_s: float) -> float:
        """Return the time until a change that is scheduled now takes effect (CAP2-8)."""
        chance = delays.draw(self._settings.seed, "scaling", self._subject, int(now_s))
        return delays.seconds(self._settings.autoscaling_delay, chance)

    def _wanted(self, rate: float) -> int:
        """Return the capacity at which ``rate`` is exactly on target, within the policy."""
        units = math.ceil(rate * 100 / self.policy.target)
        return min(max(units, self.policy.minimum), self.policy.maximum)
