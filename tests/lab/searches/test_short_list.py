"""Searches: the designs that they find, and how these compare."""

import json
from dataclasses import replace

import pytest

from emulator.lab import Design, Field, Index, Pattern, StudyOptions, Workload, compare, search
from emulator.lab.analysis.world_runs import WorldCount
from emulator.lab.files import loads
from emulator.lab.inputs.builtin import device_events
from emulator.lab.planning.access_paths import find_path
from emulator.lab.planning.layout import Layout
from emulator.lab.searches.needs import completed
from emulator.lab.searches.proposals import is_answered, proposals
from emulator.lab.searches.short_list import GRADES
from tests.lab.searches import workloads

FEW = StudyOptions(count=WorldCount(exactly=3))
KNOWN = {
    "the device of device events": (
        lambda: device_events(duration=15),
        [("{deviceId}", "{timestamp}")],
        [],
    ),
    "one table with one index for eleven patterns": (
        workloads.eleven_patterns,
        [("{userId}", "{timestamp}")],
        [(("{eventType}",), ("{timestamp}",))],
    ),
    "the order, and an index by a status that is spread": (
        workloads.orders,
        [("{orderId}", None)],
        [(("{status}", "{hash(orderId) % 5}"), ("{timestamp}",))],
    ),
    "country and user": (workloads.users_by_country, [("{country}#{userId}", None)], []),
    "the review, and an index by product": (
        workloads.reviews,
        [("{reviewId}", None)],
        [(("{productId}", "{hash(reviewId) % 2}"), ("{timestamp}",))],
    ),
    "a tenant with suffixes": (
        workloads.tenants,
        [("{tenantId}#{hash(eventId) % 6}", "{timestamp}#{eventId}")],
        [],
    ),
    "a counter as an item of its own": (workloads.counter, [("{userId}", "ITEM#")], []),
    "an index of several attributes": (
        workloads.tournaments,
        [("{matchId}", None)],
        [(("{tournamentId}", "{region}"), ("{round}", "{bracket}"))],
    ),
}


@pytest.fixture(scope="module")
def found():
    """What a short search comes to, by case; each is searched once."""
    return {name: search(make(), FEW) for name, (make, _, _) in KNOWN.items()}


@pytest.mark.parametrize("name", KNOWN)
def test_designs_are_found_that_nothing_has_told(found, name):
    _, keys, indexes = KNOWN[name]
    [table] = found[name].designs[0].candidate.design.tables

    assert [(table.partition, table.sort)] == keys
    assert [(index.partition, index.sort) for index in table.indexes] == indexes
    assert found[name].unanswered == ()


def test_a_split_item_is_written_small_and_read_twice(found):
    best = found["a counter as an item of its own"].designs[0]

    sizes = {own.name: own.sizes.mean for own in best.candidate.workload.patterns}
    assert sizes["count"] < 200 < sizes["save"]
    assert {own.name: own.operations for own in best.answers} == {
        "save": 2,
        "profile": 2,
        "count": 1,
    }


@pytest.mark.parametrize("name", KNOWN)
def test_every_pattern_is_answered_without_a_scan(found, name):
    for design in found[name].designs:
        layout = design.candidate.layout
        assert all(is_answered(layout, own) for own in layout.workload.patterns)
        assert not any(answer.scan for answer in design.answers)


@pytest.mark.parametrize("name", KNOWN)
def test_each_design_answers_otherwise_and_better_than_those_before(found, name):
    designs = found[name].designs
    assert 1 <= len(designs) <= 7
    for number, design in enumerate(designs):
        for before in designs[:number]:
            assert [own.how for own in design.answers] != [own.how for own in before.answers]
            pairs = zip(design.measures, before.measures, strict=True)
            assert any(own < its for own, its in pairs)
            assert before.rank <= design.rank


@pytest.mark.parametrize("name", KNOWN)
def test_the_text_of_a_design_is_a_lab_file_with_the_same_answers(found, name):
    for design in found[name].designs:
        file = loads(design.lab)
        assert file.designs == (design.candidate.design,)
        layout = Layout(file.designs[0], file.workload)
        ways = [find_path(layout, own).kind for own in layout.workload.patterns]
        own = design.candidate.layout
        assert ways == [find_path(own, pattern).kind for pattern in own.workload.patterns]


def test_the_data_has_the_members_that_are_promised(found):
    document = json.loads(found["country and user"].to_json())

    assert set(document) == {"designs", "unanswered"}
    [design] = document["designs"]
    assert set(design) == {
        "name", "table", "indexes", "grade", "risk", "monthly_cost", "patterns", "lab",
    }  # fmt: skip
    assert design["patterns"][1] == {
        "name": "get",
        "how": "one GetItem on the table",
        "operations": 1,
        "scan": False,
    }
    assert set(design["risk"]) == {"chance", "low", "high", "worlds"}


def test_figures_are_those_of_the_lab_on_the_same_design(found):
    best = found["country and user"].designs[0]
    file = loads(best.lab)

    [again] = compare(
        file.workload, file.designs, worlds=3, headroom=False, sensitivity=False, fix=False
    ).designs

    assert (again.grade, again.risk, again.cost) == (
        best.result.grade,
        best.result.risk,
        best.result.cost,
    )


def small():
    return Workload(
        fields=[Field("a", count=40), Field("b", unique="random")],
        patterns=[
            Pattern("put", "PutItem", rate=20, size=900),
            Pattern("one", "GetItem", rate=10, by=("b",), size=900),
            Pattern("many", "Query", rate=2, by=("a",), items=5, size=900),
        ],
        duration=10,
        warm_up=10,
    )


def test_the_best_is_no_worse_than_the_best_of_all_that_there_are():
    workload = completed(small())
    every = [own.design for own in proposals(workload).candidates]
    options = {"headroom": False, "sensitivity": False, "fix": False}
    renamed = [Design(str(at), tables=own.tables) for at, own in enumerate(every)]

    brute = compare(workload, renamed, worlds=3, **options).designs
    best = search(workload, FEW).designs[0]

    rank = min((GRADES.index(own.grade), own.cost.total) for own in brute)
    assert (GRADES.index(best.result.grade), best.result.cost.total) <= rank
    assert best.result.risk.low <= max(own.risk.high for own in brute)


def test_equal_seeds_find_equal_designs(found):
    again = search(workloads.users_by_country(), FEW)

    assert again.to_json() == found["country and user"].to_json()


def test_without_time_the_first_of_each_stage_is_what_is_found():
    found = search(small(), FEW, time_limit=1e-9)

    assert len(found.designs) == 1
    assert not found.interrupted


def test_an_interrupted_search_returns_the_best_so_far():
    def interrupt(what, done, _total):
        if what == "worlds" and not done:
            raise KeyboardInterrupt

    found = search(small(), FEW, progress=interrupt)

    assert found.interrupted
    assert len(found.designs) == 1


def test_what_exists_competes_and_the_way_from_it_is_priced():
    index = Index("byA", partition="{a}", sort="{timestamp}")
    given = Design("now", partition="{b}", indexes=[index])
    other = Design("now", partition="{a}", sort="{timestamp}#{b}")

    from_index = search(small(), FEW, given=[given])
    from_key = search(small(), FEW, given=[other])

    ways = [own.way for own in from_index.designs]
    assert all(own.startswith(("nothing to do", "backfill")) for own in ways)
    assert all(own.way.startswith("migrate every item to table") for own in from_key.designs)
    assert "now does not compete: its only answer to 'one'" in from_key.notes[0]


def test_a_pattern_that_nothing_answers_is_named_with_the_reason():
    scan = Pattern("export", "Scan", rate=1)
    report = Pattern("report", "Scan", rate=1 / 86_400, class_="analytics")
    workload = replace(small(), patterns=(*small().patterns, scan, report))

    found = search(workload, FEW)

    assert found.unanswered == (
        ("export", "it reads the whole table: give it `class: analytics` to accept a Scan"),
    )
    [answer] = [own for own in found.designs[0].answers if own.name == "report"]
    assert (answer.how, answer.scan) == ("Scan, accepted: once a day", True)
