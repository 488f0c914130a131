"""The comparison as rows: whole, and marked by the lab's own limits only."""

from dataclasses import replace

import pytest

from emulator.lab.outcome import words
from emulator.lab.outcome.rows import Cell, best, groups, headroom, risk, summary
from tests.lab.report.comparisons import afternoon


def table():
    """Return the rows as {label: texts}, with plain spaces."""
    return {
        row.label: [cell.text.replace(words.SPACE, " ") for cell in row.cells]
        for group in groups(afternoon())
        for row in group.rows
    }


def test_every_measure_of_the_comparison_has_a_row():
    assert table() == {
        "worlds that throttle": ["100 % (95 to 100)", "0 % (0 to 5)", "60 % (39 to 78)"],
        "calls throttled there": ["58.6 %", "–", "0.4 %"],
        "calls throttled, median world": ["57.8 %", "0 %", "0.4 %"],
        "table writes: one partition is full": ["57.8 %", "–", "–"],
        "index writes: one partition is full": ["–", "–", "0.4 %"],
        "calls given up": ["0.23 %", "0 %", "0.0016 %"],
        "first throttled after": ["3 min 4 s", "never", "1 h 15 min"],
        "headroom": ["0.39×", "1.62×", "1.02×"],
        "attempts per call, p50 / p99": ["2 / 9", "1 / 1", "1 / 9"],
        "latency added by retries, p50 / p99": ["50 ms / 21.4 s", "0 s / 0 s", "0 s / 21.4 s"],
        "read and then filtered away": ["99 %", "99 %", "0 %"],
        "hottest partition": ["100 %", "21.4 %", "100 % of EventTypeIndex"],
        "if they were even": ["20 % of 5", "20 % of 5", "16.7 % of 6"],
        "hottest key": ["36 %", "0.012 %", "50 % of EventTypeIndex"],
        "partition keys used": ["3", "10 k", "10 k + 3"],
        "partitions at the end": ["5", "5", "5 + 6"],
        "splits": ["0", "0", "2"],
        "first split after": ["–", "–", "50 min (heat)"],
        "WCU/s on events": ["1,028 (20.6 % used)", "2,450 (49 % used)", "2,450 (49 % used)"],
        "RCU/s on events": ["120 (12 % used)"] * 3,
        "WCU/s on EventTypeIndex": ["–", "–", "2,253 (45.1 % used)"],
        "on-demand": ["$6,549*", "$6,549", "$8,560"],
        "provisioned": ["$2,848*", "$2,848", "$3,724"],
        "auto-scaled": ["$2,279*", "$2,279", "$2,980"],
        "provisioned, Standard-IA": ["$3,559*", "$3,559", "$4,652"],
        "* not paid for: calls given up": ["0.23 %", "–", "–"],
        "on-demand, if all calls were served": ["–", "$6,549", "$8,560"],
    }


@pytest.mark.parametrize(
    ("member", "said"),
    [
        ({}, "Cost of a month with this load all the time"),
        ({"mean": 0.3}, "Cost of a month at a mean of 30 % of this load"),
        ({"every": 86_400.0}, "Cost of a month with this run every day"),
        ({"every": 43_200.0}, "Cost of a month with this run every 12 h"),
    ],
)
def test_the_title_of_the_costs_says_how_often_the_run_happens(member, said):
    shown = afternoon()
    shown = replace(shown, workload=dict(shown.workload) | {"every": None} | member)
    assert said in [group.title.replace(words.SPACE, " ") for group in groups(shown)]


def test_a_split_of_a_partition_without_traffic_in_the_run_is_not_the_first():
    design = afternoon().designs[-1]
    index = design.resources[1]
    early, late = index.splits
    idle = {early.partition_id, *early.children}
    columns = [span.partition_id in idle for span in index.heat.partitions]

    def without_traffic(cells):
        return tuple(
            tuple(cell and cell * (not gone) for cell, gone in zip(row, columns, strict=True))
            for row in cells
        )

    heat = replace(
        index.heat,
        load=without_traffic(index.heat.load),
        throttled=without_traffic(index.heat.throttled),
    )
    shown = replace(design, resources=(design.resources[0], replace(index, heat=heat)))
    rows = [row for group in groups(replace(afternoon(), designs=(shown,))) for row in group.rows]
    [after] = [row for row in rows if row.label == "first split after"]

    assert early.time < late.time
    assert after.cells[0].text.replace(words.SPACE, " ") == "1 h 40 min (heat)"


def test_the_last_refusal_is_the_end_of_the_last_step_with_one():
    heat = afternoon().designs[-1].resources[1].heat
    early = replace(heat, throttled=(*heat.throttled[:1], (0.5, None), (0.0, None)))
    none = replace(heat, throttled=((0.0, None),) * 3)

    assert early.last_refusal == 2 * heat.step_seconds
    assert none.last_refusal is None


def test_only_what_breaks_a_limit_is_marked():
    marks = {
        row.label: [cell.mark for cell in row.cells]
        for group in groups(afternoon())
        for row in group.rows
        if any(cell.mark for cell in row.cells)
    }
    assert marks == {
        "worlds that throttle": ["bad", "", "bad"],
        "calls throttled, median world": ["bad", "", "bad"],
        "calls given up": ["bad", "", "bad"],
        "headroom": ["bad", "", "tight"],
        "provisioned": ["chosen"] * 3,
        "* not paid for: calls given up": ["bad", "", ""],
    }


def test_what_is_thrown_away_is_a_share_of_what_is_read():
    (row,) = (
        row
        for group in groups(afternoon())
        for row in group.rows
        if row.label == "read and then filtered away"
    )
    assert [round(cell.bounds[0], 2) for cell in row.cells] == [0.99, 0.99, 0.0]


def test_the_best_of_a_row_is_known_where_designs_can_be_told_apart():
    winners = {
        row.label: best(row.cells, row.better)
        for group in groups(afternoon())
        for row in group.rows
        if best(row.cells, row.better)
    }
    assert winners == {
        "worlds that throttle": {1},
        "calls throttled, median world": {1},
        "calls given up": {1},
        "first throttled after": {1},
        "headroom": {1},
        "attempts per call, p50 / p99": {1},
        "latency added by retries, p50 / p99": {1},
        "read and then filtered away": {2},
        "hottest partition": {1},
        "hottest key": {1},
        "on-demand": {1},
        "provisioned": {1},
        "auto-scaled": {1},
        "provisioned, Standard-IA": {1},
        "on-demand, if all calls were served": {1},
    }


def test_intervals_that_overlap_tie():
    cells = [Cell("", bounds=(0.0, 0.2)), Cell("", bounds=(0.1, 0.4)), Cell("", bounds=(0.3, 0.9))]
    assert best(cells, "low") == {0, 1}
    assert best(cells, "high") == {1, 2}
    assert best(cells[:2], "low") == set()


def test_what_an_older_result_does_not_know_is_left_open():
    """A result of 0.1.0 has no worlds."""
    old = replace(afternoon().designs[0], risk=None, worlds=(), unknowns=(), shown_world=None)
    assert risk(old) == Cell("–")
    older = replace(afternoon(), designs=(old,))
    assert "worlds that throttle" not in {row.label for made in groups(older) for row in made.rows}


def test_a_design_without_a_search_has_no_headroom():
    design = afternoon().designs[0]
    assert headroom(replace(design, headroom=None)) == Cell("–")
    assert headroom(replace(design, headroom=replace(design.headroom, multiple=0.0))) == Cell(
        "none", "bad", (0.0, 0.0)
    )


def test_the_run_is_told_in_one_line():
    assert summary(afternoon()).replace(words.SPACE, " ") == (
        "3 designs under 26.6 M requests in 3 h; aggregate engine, up to 73 worlds, from seed 7; "
        "new tables"
    )


def test_what_the_engine_left_out_of_the_clients_is_said():
    """CAP2-9: risk is that of clients without limits, waits are those of a stretch with them."""
    clients = {"count": 9, "concurrency": 2, "timeout": 1.0, "batch_retry": "requeue"}
    patterns = [{**own} for own in afternoon().workload["patterns"]]
    patterns[0]["retry"] = "adaptive"
    workload = {**afternoon().workload, "patterns": patterns, "clients": clients}
    comparison = replace(afternoon(), workload=workload)
    first, *others = comparison.designs
    played = replace(comparison, designs=(replace(first, window=(60.0, 300.0)), *others))

    assert comparison.engine == "aggregate"
    said = "; risk without the clients' concurrency and adaptive retries"
    assert summary(comparison).endswith(said)
    assert (
        summary(played)
        .replace(words.SPACE, " ")
        .endswith(
            f"{said}: waits and calls given up are those of 1 min to 5 min, request by request"
        )
    )
    assert "clients'" not in summary(replace(comparison, engine="exact"))
