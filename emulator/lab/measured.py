"""Refusals as CloudWatch counted them, kept with the result of a run (ICH-61)."""

from __future__ import annotations

from dataclasses import replace

from emulator.lab.inputs.cloudwatch import MeasuredThrottles
from emulator.lab.outcome.result_types import Comparison, MeasuredRefusals


def with_measured(comparison: Comparison, measured: MeasuredThrottles) -> Comparison:
    """Return a comparison that shows beside its own refusals those that were measured."""
    by_limit = {limit.suffix: count for limit, count in measured.by_limit.items()}
    kept = MeasuredRefusals(dict(measured.answered), dict(measured.refused), by_limit)
    return replace(comparison, measured=kept)
