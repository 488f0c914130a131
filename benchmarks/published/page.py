"""The page a sceptic reads first, and the table that the command prints."""

from pathlib import Path

from benchmarks.published import charts, further
from benchmarks.published.lab_plays import NOT_IN_LAB
from benchmarks.published.plays import PLAYS
from benchmarks.published.verdicts import DIFFERS, NEAR, experiments, near, sources

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "validation.md"
PLOTS = Path(__file__).parent / "plots"
ACROSS = {"MEA-2": "blocks", "MEA-3": "blocks", "MEA-4": "blocks"}

HEAD = """# Does it throttle where the service throttles?

**Nothing here has talked to AWS.** Others have measured the service and published what they saw.
The emulator gets the same table and the same load, in virtual time, and its figures are compared
with theirs. `python -m benchmarks.published` plays every experiment and writes this page; none of
the emulator's figures is typed in by hand. [The experiments](#the-experiments) are described below
the tables, each with its source and a plot.

"""

FITTED = """## What was fitted, and what was not
A model that agrees with the run from which its constants were taken has not predicted anything.
These were chosen with the published run in view:
- `heat_threshold` and `split_delay`: MEA-6 to MEA-9.
- `gsi_buffer_seconds` and `gsi_closed_seconds`: MEA-4 and MEA-5.
- `burst_start=1`: MEA-3; `eventual_read_factor=1.5`: MEA-10. Neither is the default.
- The reserve with which MEA-2 begins: computed from its own times.
- `autoscaling_delay=(60, 180, 600)`: the sources of MEA-15.
- That a page includes the item that crosses 1 MB (CAP-206), and that a bucket may go into debt
  (CAP-603): MEA-14 and MEA-20.

There, agreement shows that one model can do all of it at once, not that its constants are right.
MEA-1, MEA-11 to MEA-13 and MEA-16 to MEA-19 rest on rates, burst and growth that AWS documents; no
constant was fitted to them.

"""

UNKNOWN = """## What has not been published
No measurement decides these. Where there is a setting it is named; docs/reference/settings.md has
the defaults.
- The hash that places keys (`placement_salt`): any answer about a few keys is a probability.
- When a hot partition splits (`split_delay`): one figure, "around 8 minutes", and the word
  "random".
- How far an index may fall behind (`gsi_buffer_seconds`), how long it then stays closed
  (`gsi_closed_seconds`), and whether the buffer counts items or units.
- What a hot partition of an index does: no measurement is known.
- The reserve of a new table (`burst_start`): two runs, which disagree.
- Whether eventually consistent reads get more out of a partition (`eventual_read_factor`): one
  run.
- How fast auto scaling is today (`autoscaling_delay`): the guide says "minutes", no more.
- Whether the read and write limits of a partition are independent (`partition_throughput`): the
  guide says so, others say that they are shared.
- Figures for steady on-demand ramps: the one article that ran them shows charts, not numbers.

"""


def rows(verdicts, once=None):
    """Return (experiment, what, measured, ours, criterion, verdict) for each figure.

    ``once`` adds, behind ours, what the play by request gave.
    """
    for place, verdict in enumerate(verdicts):
        for number, figure in enumerate(verdict.figures):
            yield (
                verdict.id if number == 0 else "",
                figure.text,
                _measured(figure),
                _ours(figure),
                *_by_request(figure, verdict, once and once[place]),
                figure.criterion + ("" if figure.holds or figure.is_open else " (missed)"),
                verdict.word if number == 0 else "",
            )


def _measured(figure):
    if figure.measured is None:
        return ""
    origin = f" ({figure.origin})" if figure.origin else ""
    return _value(figure.measured, figure.unit) + origin


def _by_request(figure, verdict, once):
    if once is None:
        return ()
    if once is verdict:
        return ("the same",)
    return tuple(_ours(one) for one in once.figures if one.text == figure.text) or ("",)


def _value(value, unit):
    text = f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:,.4g}"
    return f"{text} {unit}".strip()


def _ours(figure):
    text = _value(figure.ours, figure.unit)
    if figure.spread is None:
        return text
    low, high = (_value(one, "") for one in figure.spread)
    return text if low == high else f"{text} ({low} to {high})"


def render(verdicts, once, in_lab, seeds):
    """Return the page."""
    data = {one["id"]: one for one in experiments()}
    parts = [
        HEAD,
        _summary(verdicts, seeds),
        _table(verdicts, once),
        _lab(in_lab, seeds),
        _disagreements(verdicts, data),
    ]
    parts += [FITTED, further.section(), UNKNOWN, "## The experiments\n"]
    parts += [_experiment(data[verdict.id], verdict) for verdict in verdicts]
    parts.append(_sources())
    return "".join(parts)


def _summary(verdicts, seeds):
    words = [verdict.word for verdict in verdicts]
    close, of = near(verdicts)
    numbers = {word: words.count(word) for word in dict.fromkeys(words)}
    counts = ", ".join(
        f"{number} {word if number == 1 else word.replace('agrees', 'agree')}"
        for word, number in numbers.items()
    )
    return (
        f"{len(verdicts)} experiments: {counts}. {close} of {of} published figures "
        f"({100 * close / of:.0f} %) are reproduced within {NEAR} %. To agree in kind means to "
        "show the same behaviour where no figure was published.\n\n"
        f"Where a delay is drawn at random, a figure is the median of {seeds} seeds, followed by "
        "the range from the 5th to the 95th percentile (from least to most where the criterion "
        "holds for every seed). These seeds are played with 16 or 32 groups of requests a second "
        "on the engine's own buckets, heat and splits; one run is also played request by request."
        "\n\n"
        "In MEA-2 to MEA-4 the client's own pace is taken from the published run, so their times "
        "show only what refusals added, and are not counted where nothing is refused. MEA-1 and "
        "MEA-11 to MEA-13 check arithmetic and promises of AWS, not runs. Where a line says "
        "assumed, we chose the load.\n\n"
    )


def _table(verdicts, once):
    heads = ("", "what", "measured", "emulator", "request by request", "must be", "verdict")
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    lines += ["| " + " | ".join(row) + " |" for row in rows(verdicts, once)]
    return "\n".join(lines) + "\n\n"


def _lab(verdicts, seeds):
    heads = ("", "what", "measured", "lab", "must be", "verdict")
    lines = [
        "## The same in the lab",
        f"The lab's aggregate engine plays the same experiments, over {seeds} seeds where a delay "
        "is drawn. Some cannot be stated as a workload:",
        "",
        *(f"- {name}: {reason}." for name, reason in NOT_IN_LAB.items()),
        "",
        "| " + " | ".join(heads) + " |",
        "|" + " --- |" * len(heads),
    ]
    lines += ["| " + " | ".join(row) + " |" for row in rows(verdicts)]
    return "\n".join(lines) + "\n\n"


def _disagreements(verdicts, data):
    """Return every published figure that ours is not near, whatever its criterion allows."""
    lines = ["## What does not agree, and why"]
    lines += [
        f"- **{verdict.id}** {verdict.word}: {verdict.reason}."
        for verdict in verdicts
        if verdict.word != "agrees"
    ]
    lines += [
        f"- **{verdict.id}**, {figure.text}: {_ours(figure)} against {_measured(figure)} "
        f"({'shown only' if figure.is_open else 'accepted: ' + figure.criterion}). "
        f"{data[verdict.id]['remark']}"
        for verdict in verdicts
        for figure in verdict.figures
        if figure.is_published and abs(figure.deviation) > NEAR
    ]
    if not any(verdict.word == DIFFERS for verdict in verdicts):
        lines.append("- None is wrong in kind.")
    return "\n".join(lines) + "\n\n"


def _experiment(data, verdict):
    play = PLAYS[data["id"]]
    lines = [
        f"### {data['id']}: {data['title']}",
        f"- Source: {data['source']} ({data['by']})",
        f"- Table: {data['table']}",
        f"- Load: {data['load']}; {data['client']}",
        f"- Measured: {data['measured']}",
        f"- Must show: {'; '.join(kind['text'] for kind in data['kinds'])}",
        f"- Verdict: **{verdict.word}**" + (f" ({verdict.reason})" if verdict.reason else ""),
    ]
    if play.seeds is not None and verdict.counted < verdict.seeds:
        lines.append(f"- Seeds: {verdict.counted} of {verdict.seeds} show the published beginning")
    if play.scaled:
        lines.append(f"- Scaled in the play by request: {play.scaled}")
    if data.get("remark"):
        lines.append(f"- {data['remark']}")
    if verdict.series:
        name = data["id"].lower()
        lines.append(f"\n![{data['title']}](../../benchmarks/published/plots/{name}.svg)")
    return "\n".join(lines) + "\n\n"


def _sources():
    lines = ["## Sources"] + [f"- **{name}**: {text}" for name, text in sources().items()]
    return "\n".join(lines) + "\n"


def write(verdicts, once, in_lab, seeds):
    """Write the page and its plots."""
    PLOTS.mkdir(exist_ok=True)
    titles = {one["id"]: one["title"] for one in experiments()}
    for verdict in verdicts:
        if verdict.series:
            across = ACROSS.get(verdict.id, "min")
            svg = charts.lines(f"{verdict.id}: {titles[verdict.id]}", verdict.series, across)
            (PLOTS / f"{verdict.id.lower()}.svg").write_text(svg)
    PAGE.write_text(render(verdicts, once, in_lab, seeds))
