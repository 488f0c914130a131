"""compare(): every answer at once, and what the answers say."""

import json
import re
from dataclasses import replace

import pytest

from emulator.capacity import ScalingPolicy
from emulator.clock import DEFAULT_START
from emulator.lab import (
    Capacity,
    Comparison,
    Design,
    Field,
    Hotspot,
    Index,
    Key,
    Pattern,
    Preload,
    Ramp,
    Spikes,
    Table,
    Weights,
    Workload,
    compare,
)
from emulator.lab.analysis import fixes
from emulator.lab.analysis.changes import prices
from emulator.lab.analysis.comparison import first_verdict
from emulator.lab.analysis.deadline import Deadline
from emulator.lab.analysis.headroom import find_headroom
from emulator.lab.analysis.world_runs import WorldCount, WorldRuns
from emulator.lab.outcome import words
from emulator.lab.outcome.rows import summary
from emulator.lab.outcome.world_outcome import make_outcome
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import Known, draw_worlds
from emulator.lab.report.text import dependence
from emulator.settings import Settings

FIELDS = [Field("userId", count=200), Field("kind", values=("a", "b"))]
PUT = Pattern("put", "PutItem", rate=50)
LOOK = Pattern("look", "Query", by=("userId",), items=5, rate=5)
WORKLOAD = Workload(fields=FIELDS, patterns=[PUT, LOOK], duration=60, warm_up=0)
TIGHT = Design(
    "tight", partition="{userId}", sort="{timestamp}", capacity=Capacity(read=20, write=60)
)
SMALL = Design(
    "small", partition="{userId}", sort="{timestamp}", capacity=Capacity(read=20, write=30)
)
ROOMY = Design(
    "roomy", partition="{userId}", sort="{timestamp}", capacity=Capacity(read=100, write=200)
)
#: Tables that begin without a reserve, in every world (CAP2-5).
NEW_TABLE = ("burst_start",)


@pytest.fixture(scope="module")
def result():
    return compare(
        WORKLOAD,
        [SMALL, TIGHT, ROOMY],
        engine="aggregate",
        seeds=(0, 1, 2),
        known=NEW_TABLE,
        title="t",
    )


def test_designs_get_their_grades(result):
    assert {design.name: design.grade for design in result.designs} == {
        "small": "throttles",
        "tight": "tight",
        "roomy": "fine",
    }


def test_the_smallest_change_is_named_and_was_tried(result):
    small = result.design("small")

    assert small.fix == "provision 58 write units on the table"
    assert result.design("roomy").fix is None


def test_the_verdict_is_one_sentence_with_the_cause(result):
    assert "small throttles" in result.design("small").verdict
    assert "is asked for up to 50 write units a second and has 30" in result.design("small").verdict
    roomy = result.design("roomy").verdict
    assert roomy.startswith("roomy holds, and carries ")


def test_headroom_is_the_largest_load_that_passes(result):
    room = result.design("roomy").headroom

    assert room is not None
    assert room.multiple == pytest.approx(4.05, rel=0.06)
    assert room.limited_by == "TableWriteProvisionedThroughputExceeded"
    passing = [point for point in room.curve if point.throttled_share < room.threshold]
    assert max(point.multiple for point in passing) == room.multiple


def test_confidence_bounds_the_mean_over_worlds(result):
    rows = {row.measure: row for row in result.design("small").confidence}

    share = rows["throttled share"]
    assert len(share.values) == 3
    assert share.low <= share.mean <= share.high
    assert share.mean == pytest.approx(0.80, abs=0.05)


def test_costs_name_what_the_design_asks_for(result):
    costs = result.design("roomy").costs

    assert {(cost.billing, cost.table_class[:8]) for cost in costs} == {
        (billing, name)
        for billing in ("on-demand", "provisioned", "auto-scaled")
        for name in ("STANDARD",)
    }
    chosen = result.design("roomy").cost
    assert (chosen.billing, chosen.table_class) == ("provisioned", "STANDARD")
    lines = {line.item: line.amount for line in chosen.lines}
    # CAP-1001: 200 WCU and 100 RCU for 730 hours.
    assert lines["write capacity"] == pytest.approx(200 * 730 * 0.00065)
    assert lines["read capacity"] == pytest.approx(100 * 730 * 0.00013)
    assert chosen.total == pytest.approx(sum(lines.values()))


def test_a_comparison_survives_json(result):
    text = result.to_json()

    assert Comparison.from_json(text) == result
    assert json.loads(text)["format"] == 1
    assert Workload.from_document(result.workload) == WORKLOAD
    assert Design.from_document(result.design("small").design) == SMALL
    with pytest.raises(ValueError, match="not a comparison of format 1"):
        Comparison.from_json("{}")


def test_the_worlds_that_were_played_are_named():
    design = Design("d", partition="{userId}", sort="{timestamp}")
    played = compare(
        WORKLOAD,
        [design],
        engine="aggregate",
        seeds=(3, 4, 5),
        headroom=False,
        sensitivity=False,
        fix=False,
    )
    assert played.seeds == (3, 4, 5)


def test_auto_plays_many_worlds_in_numbers():
    quick = {"headroom": False, "sensitivity": False, "fix": False, "worlds": 1}
    played = [compare(WORKLOAD, [ROOMY], engine=engine, **quick) for engine in ("auto", "exact")]

    assert [own.engine for own in played] == ["aggregate", "exact"]


def test_the_answer_says_which_unknown_moves_it():
    """Two keys on six partitions: whether they meet is a matter of placement (CAP2-7)."""
    put = Pattern("put", "PutItem", rate=1500)
    workload = Workload(fields=[Field("id", count=2)], patterns=[put], duration=60)
    design = Design(
        "d", partition="{id}", sort="{timestamp}", capacity=Capacity(read=1, write=5000)
    )

    [result] = compare(
        workload, [design], engine="aggregate", worlds=20, headroom=False, fix=False
    ).designs

    assert result.grade == "risky"
    assert result.risk.chance == pytest.approx(1 / 6, abs=0.2)
    strongest = result.unknowns[0]
    assert strongest.name == "placement of keys"
    assert strongest.low == 0
    assert strongest.high > 0.2
    assert all(effect.high < 0.01 for effect in result.unknowns[1:])


def test_what_decides_in_few_worlds_is_found_where_it_does():
    """CAP2-5: a maximum that is exceeded holds as long as its reserve, which most worlds have."""
    workload = Workload(
        fields=[Field("id", unique="random")],
        patterns=[Pattern("put", "PutItem", rate=750)],
        duration=60,
        warm_up=0,
    )
    design = Design("d", partition="{id}", capacity=Capacity(max_write=500))
    options = {"engine": "aggregate", "headroom": False, "fix": False}

    [result] = compare(workload, [design], worlds=60, **options).designs

    shares = [world.throttled_share for world in result.worlds]
    assert max(shares[:10]) == 0 < max(shares)
    assert [effect.name for effect in result.unknowns if effect.high > effect.low + 0.001] == [
        "reserve at the start"
    ]
    assert dependence(result).startswith("reserve at the start (0 to ")


def test_constants_that_no_world_draws_are_listed_where_they_had_a_say():
    """A split for heat depends on what counts as hot (CAP-505)."""
    put = Pattern("put", "PutItem", rate=1500)
    workload = Workload(fields=[Field("id", count=50)], patterns=[put], duration=240, warm_up=0)
    settings = Settings(heat_minutes=1, split_delay=120)
    design = Design(
        "d", partition="{timestamp:day}", sort="{id}", capacity=Capacity(read=1, write=5000)
    )

    [result] = compare(
        workload,
        [design],
        engine="aggregate",
        worlds=1,
        headroom=False,
        fix=False,
        sensitivity=False,
        settings=settings,
    ).designs

    assert [assumption.setting for assumption in result.assumptions] == ["heat_threshold"]
    assert result.assumptions[0].value == 0.8
    assert result.unknowns == ()


@pytest.mark.parametrize(
    ("designs", "complaint"),
    [([], "at least one design"), ([ROOMY, ROOMY], "same name")],
)
def test_designs_are_told_apart(designs, complaint):
    with pytest.raises(ValueError, match=complaint):
        compare(WORKLOAD, designs)


@pytest.mark.parametrize("likely", [0.001, 1.0, 50.0])
def test_headroom_of_what_never_passes_is_nothing(likely):
    put = Pattern("put", "PutItem", rate=5000)
    workload = Workload(
        fields=[Field("shop", values=("one",))], patterns=[put], duration=20, warm_up=0
    )
    design = Design("d", partition="{shop}", capacity=Capacity(read=1, write=10))

    runs = WorldRuns(Layout(design, workload), "aggregate", 0, Known(named=frozenset(NEW_TABLE)))
    room = find_headroom(runs, likely, Deadline(None))

    assert (room.multiple, room.at_least) == (0.0, False)


@pytest.mark.parametrize("likely", [0.01, 0.5, 1.5, 4.0, 60.0])
def test_headroom_is_the_same_wherever_the_search_begins(likely):
    """A table of 100 units under 50 a second carries about twice that, give or take 5 %."""
    put = Pattern("put", "PutItem", rate=50, size=100)
    workload = Workload(fields=[Field("shop", count=500)], patterns=[put], duration=100, warm_up=0)
    design = Design("d", partition="{shop}", capacity=Capacity(read=1, write=100))
    runs = WorldRuns(Layout(design, workload), "aggregate", 0, Known(named=frozenset(NEW_TABLE)))

    room = find_headroom(runs, likely, Deadline(None))

    assert room.multiple == pytest.approx(2.0, rel=0.06)
    assert not room.at_least


def test_a_search_that_is_out_of_time_says_what_it_knows():
    put = Pattern("put", "PutItem", rate=5, size=100)
    workload = Workload(fields=[Field("shop", count=50)], patterns=[put], duration=20, warm_up=0)
    design = Design("d", partition="{shop}", capacity=Capacity(read=1, write=100))
    runs = WorldRuns(Layout(design, workload), "aggregate", 0, Known(named=frozenset(NEW_TABLE)))

    room = find_headroom(runs, 20.0, Deadline(0))

    assert (room.multiple, room.at_least) == (1.0, True)


@pytest.mark.parametrize(
    ("design", "fix"),
    [
        (
            Design(
                "hour",
                partition="{timestamp:hour}",
                sort="{timestamp}#{userId}",
                capacity=Capacity(read=1, write=5000),
            ),
            "make {userId} the partition key of the table",
        ),
        (
            Design(
                "kind",
                partition="{kind}",
                sort="{timestamp}",
                capacity=Capacity(read=1, write=5000),
            ),
            "add 50 suffixes to the partition key of the table: {kind}#{hash(userId) % 50}; "
            "40 would throttle in 2 of 20 worlds",
        ),
        (
            Design("maximum", partition="{userId}", capacity=Capacity(max_write=500)),
            "pre-warm the table for 12,000 reads and 4,140 writes a second, and raise the maximum "
            "of the table to 4,140 write units",
        ),
        (
            Design(
                "index",
                partition="{userId}",
                sort="{timestamp}",
                indexes=[
                    Index("byKind", partition="{kind}", sort="{timestamp}", projection="KEYS_ONLY")
                ],
                capacity=Capacity(read=1, write=5000),
            ),
            "add 50 suffixes to the partition key of byKind: {kind}#{hash(userId) % 50}; "
            "40 would throttle in 2 of 20 worlds",
        ),
    ],
    ids=lambda value: value.name if isinstance(value, Design) else "",
)
def test_a_fix_is_found_for_each_kind_of_trouble(design, fix):
    put = Pattern("put", "PutItem", rate=3600)
    workload = Workload(fields=FIELDS, patterns=[put], duration=30, warm_up=0)

    [result] = compare(
        workload,
        [design],
        engine="aggregate",
        worlds=3,
        known=NEW_TABLE,
        headroom=False,
        sensitivity=False,
    ).designs

    assert result.grade == "throttles"
    assert result.fix == fix


def test_a_fix_says_what_reads_pay_for_it():
    """Suffixes multiply the queries that read a whole key, and another key may need a Scan."""
    patterns = [
        Pattern("put", "PutItem", rate=1),
        Pattern("latest", "Query", rate=1, by=("kind",), items=1),
        Pattern("mine", "Query", rate=1, by=("userId",), items=1),
    ]
    workload = Workload(fields=FIELDS, patterns=patterns, duration=30)
    before, suffixes, other = (
        Layout(Design("d", partition=key, sort="{timestamp}"), workload)
        for key in ("{kind}", "{kind}#{hash(timestamp) % 4}", "{userId}")
    )

    assert list(prices(before, suffixes)) == ["; latest then takes 4 queries instead of 1"]
    assert list(prices(before, other)) == ["; latest then takes a Scan"]
    assert list(prices(before, before)) == []


ROOMS = Workload(
    fields=[Field("roomId", count=100, distribution=Hotspot(keys=0.01, traffic=0.3))],
    patterns=[
        Pattern("post", "PutItem", rate=2000, size=1536),
        Pattern("read", "Query", rate=1000, size=1536, by=("roomId",), items=20),
    ],
    duration=10,
    warm_up=10,
)
A_NUMBER = "([0-9,]+)"


@pytest.mark.parametrize(
    ("key", "capacity", "fix"),
    [
        (
            "{roomId}",
            Capacity(read=6000, write=6000),
            f"add {A_NUMBER} suffixes to the partition key of the table: {{roomId}}#{{random(2)}}, "
            f"pre-warm the table for {A_NUMBER} reads and {A_NUMBER} writes a second, "
            f"and provision {A_NUMBER} read units on the table; "
            "read then takes 2 queries instead of 1",
        ),
    ],
    ids=["more suffixes"],
)
def test_suffixes_come_with_the_throughput_that_they_take(key, capacity, fix):
    """Each suffix is read on its own, so more of them ask for more; too many for too much."""
    design = Design("rooms", partition=key, sort="{timestamp}", capacity=capacity)
    options = {"engine": "aggregate", "headroom": False, "sensitivity": False}

    [found] = compare(ROOMS, [design], worlds=3, **options).designs

    pattern = re.escape(fix).replace(re.escape(A_NUMBER), A_NUMBER)
    numbers = re.match(pattern, found.fix)
    assert numbers is not None, found.fix
    count, warm_read, warm_write, *read = (int(text.replace(",", "")) for text in numbers.groups())
    fixed = Design(
        "fixed",
        partition=f"{{roomId}}#{{random({count})}}",
        sort="{timestamp}",
        capacity=replace(
            capacity,
            warm_read=warm_read,
            warm_write=warm_write,
            **({"read": read[0]} if read else {}),
        ),
    )
    [held] = compare(replace(ROOMS, seed=5_000), [fixed], worlds=60, fix=False, **options).designs
    assert held.risk.low <= 0.05, "what is named holds in other worlds too"


FAST = {"engine": "aggregate", "worlds": 3, "headroom": False, "sensitivity": False}
#: On-demand tables that half the load overruns: there are half the keys to place and to count.
TWO_PARTITIONS = Settings(on_demand_partitions=2)


@pytest.fixture
def few_worlds(monkeypatch):
    """Try each change in five worlds: which kind of change is named does not depend on more."""
    monkeypatch.setattr(fixes, "WorldCount", lambda: WorldCount(exactly=5))
    monkeypatch.setattr(fixes, "FIRST_WORLDS", 5)


def test_of_two_tables_that_refuse_for_one_reason_either_may_need_suffixes(few_worlds):
    """One is cold, which pre-warming cures; the other has a hot key, which it does not."""
    hotspot = Hotspot(keys=0.01, traffic=0.5)
    workload = Workload(
        fields=[
            Field("sku", count=100, distribution=hotspot),
            Field("orderId", unique="random"),
        ],
        patterns=[
            Pattern("order", "PutItem", rate=3000, entity="orders"),
            Pattern("count", "UpdateItem", rate=2200, by=("sku",), entity="stock"),
        ],
        duration=20,
        warm_up=3,
    )
    tables = [Table(name="orders", partition="{orderId}"), Table(name="stock", partition="{sku}")]

    [found] = compare(
        workload, [Design("shop", tables=tables)], settings=TWO_PARTITIONS, **FAST
    ).designs

    assert found.fix is not None
    assert re.match(
        rf"add {A_NUMBER} suffixes to the partition key of stock: {{sku}}#{{.*}}, "
        rf"pre-warm orders for 6,000 reads and 3,450 writes a second, "
        rf"and pre-warm stock for 6,000 reads and {A_NUMBER} writes a second",
        found.fix,
    )


def test_a_fix_of_refusals_also_cures_an_index_that_will_refuse(few_worlds):
    """CAP2-4: the index only falls behind as yet, but the load goes on."""
    workload = Workload(
        fields=[Field("eventId", unique="random"), Field("status", values=("open", "done"))],
        patterns=[Pattern("put", "PutItem", rate=2500)],
        duration=5,
        warm_up=5,
    )
    index = Index("byStatus", partition="{status}", sort="{timestamp}", projection="KEYS_ONLY")
    design = Design("d", partition="{eventId}", indexes=[index])

    [found] = compare(workload, [design], settings=TWO_PARTITIONS, **FAST).designs

    assert "The table is asked for up to 2,500 write units a second" in found.verdict
    assert found.fix is not None
    assert re.match(
        rf"add {A_NUMBER} suffixes to the partition key of byStatus: {{status}}#{{.*}}, "
        rf"pre-warm the table for 6,000 reads and {A_NUMBER} writes a second",
        found.fix,
    )


def test_kinds_of_items_that_share_a_hot_key_get_its_suffixes(few_worlds):
    """The key of other kinds of items stays as it is."""
    workload = Workload(
        fields=[Field("userId", count=1000), Field("orderId", unique="random")],
        patterns=[
            Pattern("save", "PutItem", rate=50, entity="profile"),
            Pattern("order", "PutItem", rate=1400, entity="order"),
        ],
        duration=3,
        warm_up=3,
    )
    entities = {
        "profile": Key(partition="USER#{userId}", sort="PROFILE"),
        "order": Key(partition="ORDERS", sort="{timestamp}#{orderId}"),
    }
    design = Design("d", entities=entities, capacity=Capacity(warm_read=12_000, warm_write=20_000))

    [found] = compare(workload, [design], **FAST).designs

    assert found.fix is not None
    beginning = (
        rf"add {A_NUMBER} suffixes to the partition key of the table: ORDERS#{{hash\(orderId"
    )
    assert re.match(beginning, found.fix)


@pytest.mark.parametrize(
    ("maximum", "cause", "more"),
    [
        (5_000, ", and auto scaling provides 50 to 105, minutes late.", ""),
        (
            100,
            ", and auto scaling stops at its maximum of 100.",
            ", and raise the maximum of auto scaling on the table to 461 units",
        ),
    ],
)
def test_auto_scaling_that_is_late_or_ends_is_told_and_capacity_set_before(maximum, cause, more):
    """CAP2-8: the largest capacity of the run came too late, or is too little."""
    workload = Workload(
        fields=FIELDS,
        patterns=[Pattern("put", "PutItem", rate=Ramp(start=20, end=400, over=120))],
        duration=900,
        start=DEFAULT_START,
        warm_up=0,
    )
    scaling = ScalingPolicy(minimum=20, maximum=maximum)
    capacity = Capacity(read=20, write=50, scaling=scaling)
    design = Design("d", partition="{userId}", sort="{timestamp}", capacity=capacity)

    [found] = compare(workload, [design], known=NEW_TABLE, **FAST).designs

    asked = "The table is asked for up to 400 write units a second"
    assert found.verdict.endswith(f"{asked}{cause}")
    before = "before the load comes (auto scaling is minutes late)"
    assert found.fix == f"provision 461 write units on the table {before}{more}"


def test_a_run_that_misses_a_peak_says_so():
    put = Pattern("put", "PutItem", rate=Ramp(start=0, end=100, over=600))
    workload = Workload(fields=FIELDS, patterns=[put], duration=60, warm_up=0)
    few = {"worlds": 1, "headroom": False, "sensitivity": False, "fix": False}

    result = compare(workload, [ROOMY], **few)

    note = (
        "put reaches 9.92 requests a second in this run and never its peak of 100: "
        "choose a start or a duration that has it"
    )
    assert result.notes == (note,)
    assert summary(result).endswith(f"; {note}")
    assert Comparison.from_json(result.to_json()) == result


@pytest.mark.parametrize(
    ("first", "second", "given"),
    [([ROOMY], WORKLOAD, "list and Workload"), (WORKLOAD, ROOMY, "Workload and Design")],
)
def test_the_workload_comes_first_and_designs_in_a_list(first, second, given):
    """In sweep() the designs come first, so this is easily mixed up."""
    with pytest.raises(TypeError, match=f"takes a workload first and then .*, not {given}"):
        compare(first, second)


@pytest.mark.parametrize(("entity", "is_told"), [(None, True), ("sales", True), ("stock", False)])
def test_a_pattern_that_nothing_says_the_table_of_is_told(entity, is_told):
    """Files of 0.1.0 had no way to say it, and are read all the same."""
    put = Pattern("put", "PutItem", rate=1, entity=entity)
    workload = Workload(fields=FIELDS, patterns=[put], duration=30, warm_up=0)
    tables = [Table(name=name, partition="{userId}") for name in ("orders", "stock")]
    few = {"worlds": 1, "headroom": False, "sensitivity": False, "fix": False}

    result = compare(workload, [Design("shop", tables=tables)], **few)

    note = (
        "put is played on orders, the first table of shop: name its table as its entity "
        "(orders, stock)"
    )
    assert result.notes == (note,) * is_told


@pytest.mark.parametrize("engine", ["aggregate", "exact"])
@pytest.mark.parametrize(
    ("operation", "size", "items", "is_told"),
    [
        ("GetItem", 20_000, 0, True),
        ("TransactGetItems", 20_000, 0, True),
        ("GetItem", 20_000, 20_000, False),
        ("TransactGetItems", 20_000, 20_000, False),
        ("GetItem", 400, 0, False),
    ],
)
def test_reads_of_large_items_that_are_not_there_are_told(engine, operation, size, items, is_told):
    """CAP-201: a miss costs as much as the smallest item, so an empty table reads cheaply."""
    actions = 2 if operation == "TransactGetItems" else 1
    workload = Workload(
        fields=[Field("userId", count=2_000)],
        patterns=[
            Pattern("put", "PutItem", rate=1, size=size),
            Pattern("get", operation, rate=20, size=size, by=["userId"], actions=actions),
        ],
        preload=[Preload(pattern="put", items=items)] if items else [],
        duration=30,
        warm_up=0,
    )
    few = {"worlds": 1, "headroom": False, "sensitivity": False, "fix": False}

    design = Design("d", partition="{userId}", capacity=Capacity(read=800, write=200))

    notes = compare(workload, [design], engine=engine, **few).notes

    assert [note.startswith("get finds no item in most ") for note in notes] == [True] * is_told


GROWING = Workload(
    fields=[Field("userId", count=10_000)],
    patterns=[Pattern("put", "PutItem", rate=Spikes(base=100, peak=9000, every=40, lasting=10))],
    duration=80,
    warm_up=0,
)


def test_a_load_that_no_key_can_spread_is_told_as_such_and_warmed_for():
    """On-demand tables begin with four partitions (CAP-502); nobody's key is to blame."""
    designs = [
        Design("cold", partition="{userId}", sort="{timestamp}"),
        Design(
            "capped", partition="{userId}", sort="{timestamp}", capacity=Capacity(max_write=500)
        ),
    ]

    result = compare(
        GROWING, designs, engine="aggregate", worlds=1, headroom=False, sensitivity=False
    )

    cold, capped = result.designs
    asked = "The table is asked for up to 9,000 write units a second"
    warm = "pre-warm the table for 12,000 reads and 10,350 writes a second"
    assert cold.verdict.endswith(f"{asked}, and its 4 partitions carry 4,000.")
    assert cold.fix == warm
    assert "hot-partition" not in {finding.check for finding in cold.findings}
    assert capped.verdict.endswith(f"{asked} and has 500.")
    assert capped.fix == f"{warm}, and raise the maximum of the table to 10,350 write units"


def test_a_fix_never_takes_warm_throughput_away():
    warm = Capacity(warm_read=20_000, warm_write=4_000)
    result = compare(
        GROWING,
        [Design("warm", partition="{userId}", sort="{timestamp}", capacity=warm)],
        engine="aggregate",
        worlds=1,
        headroom=False,
        sensitivity=False,
    )

    assert result.designs[0].fix == "pre-warm the table for 20,000 reads and 10,350 writes a second"


def test_a_table_is_warmed_for_no_less_than_its_start():
    """CAP-502, CAP-509, on_demand_partitions: of reads it has more than it needs anyway."""
    result = compare(
        GROWING,
        [Design("cold", partition="{userId}", sort="{timestamp}")],
        engine="aggregate",
        worlds=1,
        headroom=False,
        sensitivity=False,
        settings=Settings(on_demand_partitions=2),
    )

    [cold] = result.designs
    assert cold.verdict.endswith("and its 2 partitions carry 2,000.")
    assert cold.fix == "pre-warm the table for 6,000 reads and 10,350 writes a second"


def test_what_reads_cost_once_writes_pass_is_provisioned_too():
    """Reads that find nothing cost a unit, and a hundred once the items are there (CAP-201)."""
    workload = Workload(
        fields=[Field("userId", count=100)],
        patterns=[
            Pattern("put", "PutItem", rate=2, size=400 * 1024),
            Pattern("get", "GetItem", rate=2, by=["userId"], consistent=True),
        ],
        duration=120,
        warm_up=0,
    )
    design = Design("small", partition="{userId}", capacity=Capacity(read=5, write=5))

    [found] = compare(
        workload, [design], worlds=1, known=NEW_TABLE, headroom=False, sensitivity=False
    ).designs

    assert found.fix is not None
    assert re.fullmatch(
        r"provision 1\d\d read units on the table, 920 write units on the table", found.fix
    )


def test_a_key_is_blamed_for_its_own_share_and_not_for_its_partition():
    weights = (60.0, 40.0)
    put = Pattern("put", "PutItem", rate=3000)
    workload = Workload(
        fields=[Field("kind", values=("a", "b"), distribution=Weights(weights))],
        patterns=[put],
        duration=60,
        warm_up=0,
    )
    design = Design(
        "kind", partition="{kind}", sort="{timestamp}", capacity=Capacity(read=1, write=5000)
    )

    [found] = compare(
        workload,
        [design],
        engine="aggregate",
        worlds=1,
        headroom=False,
        sensitivity=False,
        fix=False,
    ).designs

    share = found.resources[0].hottest_key_share
    assert f"The key 'a' takes {words.percent(share)} of the write units" in found.verdict


def test_a_design_that_is_asked_for_nothing_is_said_to_be():
    idle = Workload(
        fields=FIELDS, patterns=[Pattern("put", "PutItem", rate=0)], duration=60, warm_up=0
    )
    design = Design("idle", partition="{kind}", sort="{timestamp}")

    [found] = compare(idle, [design], worlds=1, sensitivity=False).designs

    assert (found.grade, found.verdict) == ("fine", "idle holds: nothing is asked of it.")
    assert not any(finding.severity == "problem" for finding in found.findings)


def checks(workload, design):
    [result] = compare(
        workload,
        [design],
        engine="aggregate",
        worlds=1,
        headroom=False,
        sensitivity=False,
        fix=False,
    ).designs
    return {finding.check for finding in result.findings}


BIG = Pattern("put", "PutItem", rate=1800, size=1100)


@pytest.mark.parametrize(
    ("patterns", "design", "expected"),
    [
        (
            [BIG],
            {"partition": "{kind}", "sort": "{timestamp}"},
            {
                "cardinality",
                "hot-partition",
                "low-cardinality-key",
                "ascending-sort-key",
                "size-rounding",
            },
        ),
        (
            [BIG],
            {"partition": "{timestamp:day}", "sort": "{userId}"},
            {"cardinality", "hot-partition", "time-key", "size-rounding"},
        ),
        ([BIG], {"partition": "{vip}"}, {"hot-partition", "popular-key", "size-rounding"}),
        ([BIG], {"partition": "{id}"}, {"sequential-key", "size-rounding"}),
        (
            [BIG],
            {
                "partition": "{userId}",
                "sort": "{timestamp}",
                "indexes": [Index("one", partition="{userId}"), Index("two", partition="{id}")],
            },
            {"index-amplification", "wide-projection", "size-rounding", "sequential-key"},
        ),
        (
            [PUT, Pattern("find", "Query", by=("kind",), rate=1)],
            {"partition": "{userId}"},
            {"frequent-scan"},
        ),
        (
            [PUT, Pattern("find", "Query", by=("userId", "kind"), selectivity=0.2, rate=1)],
            {"partition": "{userId}", "sort": "{timestamp}"},
            {"filter-instead-of-key"},
        ),
        (
            [PUT, Pattern("count", "UpdateItem", by=("userId",), rate=10, size=9000)],
            {"partition": "{userId}"},
            {"vertical-split"},
        ),
        (
            [Pattern("put", "PutItem", rate=500, size=20_000)],
            {
                "partition": "{vip}",
                "sort": "{timestamp}",
                "indexes": [Index("local", partition="{vip}", sort="{kind}", local=True)],
            },
            {
                "collection-growth",
                "hot-partition",
                "popular-key",
                "ascending-sort-key",
            },
        ),
    ],
    ids=["status", "date", "vip", "sequential", "indexes", "scan", "filter", "vertical", "lsi"],
)
def test_the_checks_find_what_the_lessons_warn_of(patterns, design, expected):
    """L0 and L4; on demand and at full utilisation, so that money is no finding."""
    from emulator.lab import Hotspot

    fields = [
        *FIELDS,
        Field("vip", count=1000, distribution=Hotspot(0.001, 0.6)),
        Field("id", unique="sequential"),
    ]
    workload = Workload(fields=fields, patterns=patterns, duration=10, warm_up=0, retention=60.0)

    found = checks(workload, Design("d", **design))

    assert found - {"billing-mode", "table-class", "index-throttles-table"} == expected


def test_money_is_advised_on():
    """CAP-1008, CAP-1009."""
    put = Pattern("put", "PutItem", rate=2, size=1000)
    preload = [Preload(pattern="put", items=50_000_000)]
    workload = Workload(fields=FIELDS, patterns=[put], duration=60, warm_up=0, preload=preload)
    idle = Capacity(read=5, write=500)

    def money(capacity):
        design = Design("d", partition="{userId}", sort="{timestamp}", capacity=capacity)
        return checks(workload, design)

    assert money(idle) == {"billing-mode"}
    assert "table-class" in money(Capacity())


def first_line(*, refused, closing):
    """Return what is announced of a design in which one world went so."""
    world = draw_worlds(0, 1, Known())[0]
    outcome = make_outcome(
        world,
        calls=1000.0,
        failed=0.0,
        reasons={"TableWriteKeyRangeThroughputExceeded": refused} if refused else {},
        first_throttle=None,
        last_throttle=None,
        closing={"IndexWriteKeyRangeThroughputExceeded": 400.0} if closing else {},
        splits=0,
        units={},
    )
    return first_verdict("orders", [outcome]).replace(words.SPACE, " ")


@pytest.mark.parametrize(
    ("refused", "closing", "how"),
    [
        (0.0, False, "holds in all of the first 1 world"),
        (200.0, False, "throttles in 1 of the first 1 world; 20 of 100 calls are refused then"),
        (200.0, True, "throttles in 1 of the first 1 world; 20 of 100 calls are refused then"),
        (
            0.0,
            True,
            "throttles in 1 of the first 1 world; if this load goes on, an index closes after "
            "6 min 40 s and every write is refused",
        ),
    ],
)
def test_the_first_verdict_says_how_a_design_throttles(refused, closing, how):
    """CAP2-4: a run that ends while an index falls behind refuses nothing yet."""
    assert first_line(refused=refused, closing=closing) == f"orders {how}"
