"""Verdicts: what was measured against what we get, by the criteria that the data states."""

from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

import yaml

HERE = Path(__file__).parent
AGREES, IN_KIND, DIFFERS = "agrees", "agrees in kind", "differs"
#: Per cent; four of five published figures should come as near.
NEAR = 10


def experiments():
    """Return the experiments as data, in order."""
    return [yaml.safe_load(path.read_text()) for path in sorted((HERE / "data").glob("*.yaml"))]


def sources():
    """Return short names and full references of what was read."""
    return yaml.safe_load((HERE / "sources.yaml").read_text())


@dataclass(frozen=True)
class Figure:
    """One figure of an experiment, ours against the published one."""

    text: str
    unit: str
    measured: float | None
    ours: float
    spread: tuple[float, float] | None
    criterion: str
    holds: bool
    is_open: bool
    #: Where a figure beside ours comes from that no run and no promise gives: it is computed from
    #: our own rules, or follows from the client's pace, which every play is given.
    origin: str

    @property
    def is_published(self):
        """Return whether ours can be held against a figure that others published."""
        return bool(self.measured) and not self.origin

    @property
    def deviation(self):
        """Return how far ours lies from the published figure, in per cent, or None."""
        if not self.measured:
            return None
        return 100 * (self.ours - self.measured) / self.measured


@dataclass(frozen=True)
class Verdict:
    """What an experiment comes to."""

    id: str
    word: str
    reason: str
    figures: list
    seeds: int
    counted: int
    series: dict


def judge(data, runs):
    """Return the verdict on an experiment from its runs, one for each seed."""
    counted = [run for run in runs if run.counts]
    if not counted:
        return Verdict(data["id"], DIFFERS, "no run shows it", [], len(runs), 0, {})
    figures = [
        _figure(one, runs, counted) for one in data["figures"] if one["name"] in counted[0].figures
    ]
    wrong = _wrong_in_kind(data, counted)
    missed = [one.text for one in figures if not one.holds and not one.is_open]
    if wrong:
        word, reason = DIFFERS, "; not so: " + "; ".join(wrong)
    elif missed:
        word, reason = IN_KIND, "outside: " + ", ".join(missed)
    elif data.get("kind_only"):
        word, reason = IN_KIND, "no figure is published"
    else:
        word, reason = AGREES, ""
    return Verdict(
        data["id"],
        word,
        reason.removeprefix("; "),
        figures,
        len(runs),
        len(counted),
        counted[0].series,
    )


def _wrong_in_kind(data, counted):
    wrong = []
    for kind in data["kinds"]:
        shown = mean(bool(run.kinds[kind["name"]]) for run in counted)
        if shown < 1:
            wrong.append(f"{kind['text']} ({100 * shown:.0f} % of the runs)")
    distinct = data.get("distinct")
    if distinct and len(counted) > 1:
        values = {run.figures[distinct] for run in counted}
        if len(values) < len(counted) / 4:
            wrong.append("a different time in each seed")
    return wrong


def _figure(one, runs, counted):
    over = one.get("over", "median")
    values = [run.figures[one["name"]] for run in counted]
    if over == "mean_all":
        ours = mean(run.figures.get(one["name"], 0.0) for run in runs)
        values = [ours]
    else:
        ours = median(values)
    held = values if over == "all" else [ours]
    ordered = sorted(values)
    spread = None
    if len(ordered) > 1 and ordered[0] != ordered[-1]:
        margin = 0 if over == "all" else len(ordered) // 20
        spread = ordered[margin], ordered[-1 - margin]
    measured = one.get("measured")
    return Figure(
        one["text"],
        one["unit"],
        measured,
        ours,
        spread,
        _criterion(one),
        all(_holds(one, value) for value in held),
        one.get("open", False),
        one.get("origin", ""),
    )


def _holds(one, value):
    if "least" in one:
        return one["least"] <= value <= one["most"]
    if "tolerance" in one:
        return abs(value - one["measured"]) <= one["measured"] * one["tolerance"] / 100 + 1e-9
    return True


def _criterion(one):
    if one.get("open"):
        return "shown only"
    if "least" in one:
        least, most = one["least"], one["most"]
        return f"{least:,}" if least == most else f"{least:,} to {most:,}"
    return f"± {one['tolerance']} %" if one["tolerance"] else "exactly"


def near(verdicts):
    """Return how many published figures come within ``NEAR`` per cent, and of how many."""
    deviations = [
        abs(figure.deviation)
        for verdict in verdicts
        for figure in verdict.figures
        if figure.is_published
    ]
    return sum(one <= NEAR for one in deviations), len(deviations)
