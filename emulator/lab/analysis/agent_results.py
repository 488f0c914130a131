"""Results in the form of AWS's agent toolkit: perf_summary.json and design_findings.json.

What a simulation does not know, such as latencies of the service, is null (ICH-21 to ICH-23).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from emulator import __version__
from emulator.capacity.prices import STANDARD
from emulator.designs.findings import Severity
from emulator.lab.outcome.result_types import Comparison, DesignResult, PatternResult
from emulator.settings import Settings

#: Findings of ours by the signal that the toolkit has for them.
_SIGNALS: Final = {
    "hot-partition": "key_skew_patterns",
    "popular-key": "key_skew_patterns",
    "low-cardinality-key": "key_skew_patterns",
    "cardinality": "key_skew_patterns",
    "time-key": "key_skew_patterns",
    "index-amplification": "high_gsi_amplification",
    "wide-projection": "high_gsi_amplification",
    "index-throttles-table": "persistent_throttles",
    "index-falls-behind": "persistent_throttles",
}
_SEVERITY: Final[dict[Severity, str]] = {"problem": "high", "warning": "medium", "info": "low"}


def perf_summary(comparison: Comparison, *, region: str = "us-east-1") -> dict[str, Any]:
    """Return the first design's run as ``perf_summary.json``."""
    design = comparison.designs[0]
    start = datetime.fromtimestamp(comparison.workload["start"], UTC)
    end = datetime.fromtimestamp(comparison.workload["start"] + comparison.duration_seconds, UTC)
    run = {
        "run_id": f"simulated-{comparison.seeds[0] if comparison.seeds else 0}",
        "account": None,
        "region": region,
        "prefix": "",
    }
    measured = [result for result in design.patterns if result.calls]
    return {
        **run,
        "manifest": dict(run),
        "config": {"mode": "standard", "duration_seconds": comparison.duration_seconds},
        "run_started_at": start.isoformat(),
        "benchmark_completed_at": end.isoformat(),
        "benchmark_wall_seconds": comparison.duration_seconds,
        "total_rows": round(sum(result.calls for result in measured)),
        "mode": "standard",
        "key_sampling": "zipf",
        "items_per_partition": None,
        "invocations_total": round(sum(result.attempts for result in measured)),
        "seed_verification": {},
        "coverage": {
            "measured_patterns": [result.name for result in measured],
            "missing_patterns": [],
            "coverage_incomplete": False,
        },
        "patterns": [_pattern(result, design, comparison) for result in measured],
        "simulated_by": f"dynamometer {__version__}",
    }


def _pattern(result: PatternResult, design: DesignResult, comparison: Comparison) -> dict[str, Any]:
    units = {entry.resource: entry.read + entry.write for entry in result.units}
    own = units.get(_table_of(result, design), 0.0)
    indexes = {name: amount for name, amount in units.items() if _kind(name, design) == "index"}
    written = {entry.resource: entry.write for entry in result.units}
    table_writes = sum(amount for name, amount in written.items() if name not in indexes)
    index_writes = sum(amount for name, amount in written.items() if name in indexes)
    resource = design.resource(result.resource)
    return {
        "pattern_id": result.name,
        "bench_rps": result.requests / comparison.duration_seconds,
        "measurement_tainted": False,
        "cold_start": {
            "warmup_call_count": 0,
            "warmup_p50_ms": None,
            "warmup_p99_ms": None,
            "warmup_throttles": 0,
            "cold_start_elevated": False,
        },
        "steady_state": {
            "call_count": round(result.calls),
            "rows_sampled": round(result.calls),
            "p50_ms": None,
            "p95_ms": None,
            "p99_ms": None,
            "mean_observed_cu": own / result.calls,
            "gsi_cu_by_index": indexes,
            "amplification_ratio": index_writes / table_writes if table_writes else None,
            "throttles": round(result.throttled),
            "errors": round(result.failed),
            "error_rate": result.failed / result.calls,
            "error_codes": dict(result.throttled_by_reason),
            "cancellation_reason_codes": {},
            "key_distribution": {
                "n_distinct_keys": round(resource.distinct_keys),
                "top_key_share": resource.hottest_key_share,
                "stddev_over_mean": None,
                "hot_partition_p99_ms": None,
                "cold_partition_p99_ms": None,
            },
        },
    }


def _kind(name: str, design: DesignResult) -> str:
    return design.resource(name).kind


def _table_of(result: PatternResult, design: DesignResult) -> str:
    """Return the table that a pattern's items lie in."""
    names = [entry.resource for entry in result.units if _kind(entry.resource, design) == "table"]
    return names[0] if names else result.resource


def design_findings(comparison: Comparison, averages: Mapping[str, float]) -> dict[str, Any]:
    """Return the first design's findings as ``design_findings.json``.

    Args:
        comparison: The run.
        averages: Average requests per second of each pattern, for its monthly cost.
    """
    design = comparison.designs[0]
    classified = list(_classified(design))
    return {
        "classified_findings": classified,
        "top_cost_drivers": list(cost_drivers(design, averages)),
        "no_significant_findings": not classified,
        "coverage_incomplete": False,
    }


def _classified(design: DesignResult) -> Iterator[dict[str, Any]]:
    number = 0
    names = {result.name for result in design.patterns}
    throttled = [result for result in design.patterns if result.throttled]
    if throttled:
        number += 1
        yield {
            "id": f"F{number}",
            "category": "design",
            "signal": "persistent_throttles",
            "pattern_ids": [result.name for result in throttled],
            "evidence": design.verdict,
            "axioms": [],
            "severity": "high",
        }
    for finding in design.findings:
        number += 1
        yield {
            "id": f"F{number}",
            "category": "design",
            "signal": _SIGNALS.get(finding.rule, finding.rule),
            "pattern_ids": [finding.subject] if finding.subject in names else [],
            "evidence": f"{finding.subject}: {finding.message}",
            "axioms": [],
            "severity": _SEVERITY[finding.severity],
        }


def cost_drivers(design: DesignResult, averages: Mapping[str, float]) -> Iterator[dict[str, Any]]:
    """Yield the patterns by their monthly cost on demand at average load, the dearest first."""
    seconds = Settings().hours_per_month * 3600
    monthly: dict[str, float] = {}
    for result in design.patterns:
        if not result.calls:
            continue
        reads = sum(entry.read for entry in result.units) / result.calls
        writes = sum(entry.write for entry in result.units) / result.calls
        requests = averages.get(result.name, 0.0) * seconds
        monthly[result.name] = STANDARD.on_demand(reads=reads * requests, writes=writes * requests)
    whole = sum(monthly.values())
    for name, cost in sorted(monthly.items(), key=lambda pair: -pair[1]):
        yield {
            "pattern_id": name,
            "monthly": round(cost, 2),
            "share": cost / whole if whole else 0.0,
        }
