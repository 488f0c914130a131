"""Every published measurement holds, over 20 seeds where a delay is drawn (MEA-1 to MEA-20)."""

import re

import pytest

from benchmarks.published import page
from benchmarks.published.lab_plays import LAB_PLAYS, NOT_IN_LAB, lab_verdict
from benchmarks.published.plays import PLAYS
from benchmarks.published.verdicts import (
    AGREES,
    IN_KIND,
    Verdict,
    experiments,
    judge,
    near,
    sources,
)

SEEDS = 20
#: Where the lab holds an experiment over all seeds, a play on the engine alone has so many.
FEW_SEEDS = 4
#: Ramps in the lab: two are enough to tell which is throttled less.
QUICK = {"MEA-18": {"minutes": (60, 90)}}
DATA = {one["id"]: one for one in experiments()}
VERDICTS: dict[str, Verdict] = {}


def verdict_of(name):
    """Return the verdict on an experiment, played once for all tests."""
    if name not in VERDICTS:
        play = PLAYS[name]
        if play.seeds is not None:
            seeds = range(FEW_SEEDS if name in LAB_PLAYS else SEEDS)
            runs = [play.seeds(seed, **(play.quick or {})) for seed in seeds]
        else:
            runs = [(play.test or play.requests)()]
        VERDICTS[name] = judge(DATA[name], runs)
    return VERDICTS[name]


@pytest.mark.parametrize("name", PLAYS)
def test_a_published_measurement_holds(name):
    verdict = verdict_of(name)
    wanted = IN_KIND if DATA[name].get("kind_only") else AGREES
    assert (verdict.word, verdict.reason) == (wanted, verdict.reason), verdict.figures


@pytest.mark.parametrize("name", LAB_PLAYS)
def test_it_holds_in_the_aggregate_engine(name):
    verdict = lab_verdict(DATA[name], SEEDS, **QUICK.get(name, {}))
    wanted = IN_KIND if DATA[name].get("kind_only") else AGREES
    assert (verdict.word, verdict.reason) == (wanted, verdict.reason), verdict.figures


def test_every_experiment_is_played_in_the_lab_or_cannot_be():
    assert sorted([*LAB_PLAYS, *NOT_IN_LAB]) == sorted(DATA)


def test_four_of_five_figures_are_within_ten_per_cent():
    close, of = near([verdict_of(name) for name in PLAYS])
    assert close >= 0.8 * of, (close, of)


def test_every_experiment_is_played_and_names_its_source():
    known = sources()
    assert list(DATA) == list(PLAYS)
    assert len(DATA) >= 15
    for data in DATA.values():
        assert set(data["source"].split(", ")) <= set(known), data["id"]
        assert data["kinds"], data["id"]


def test_the_page_has_every_experiment_as_its_data_says():
    text = page.PAGE.read_text()
    assert re.findall(r"^### (MEA-\d+):", text, re.MULTILINE) == list(DATA)
    for data in DATA.values():
        for part in ("title", "table", "load", "client", "measured"):
            assert data[part] in text, (data["id"], part)
        for figure in data["figures"]:
            assert figure["text"] in text, (data["id"], figure["name"])


@pytest.mark.parametrize("name", ["MEA-2", "MEA-3", "MEA-4", "MEA-19", "MEA-20"])
def test_the_page_shows_what_the_command_gives(name):
    text = page.PAGE.read_text()
    for row in page.rows([verdict_of(name)]):
        assert f"| {row[1]} | {row[2]} | {row[3]} |" in text, row


def test_the_page_says_that_nobody_was_asked():
    assert "Nothing here has talked to AWS" in page.PAGE.read_text()
