"""How a design answers a pattern: get, query with fan-out, filter, or scan."""

import pytest

from emulator.lab import Design, Field, Index, Key, Pattern, Table, Workload
from emulator.lab.planning.access_paths import find_path
from emulator.lab.planning.layout import Layout

FIELDS = [
    Field("userId", count=10),
    Field("orderId", unique="random"),
    Field("status", values=("a", "b")),
    Field("tenantId", count=2),
    Field("deviceId", count=5, per="userId"),
]


def path_of(design, **pattern):
    options = {"operation": "Query", "rate": 1} | pattern
    one = Pattern("p", **options)
    workload = Workload(fields=FIELDS, patterns=[one], duration=86_400, warm_up=0)
    return find_path(Layout(design, workload), one)


@pytest.mark.parametrize(
    ("partition", "sort", "pattern", "expected"),
    [
        ("{userId}", "{orderId}", {"by": ("userId",)}, ("query", 1, ())),
        ("{userId}", "{orderId}", {"by": ("userId", "status")}, ("query", 1, ("status",))),
        ("{userId}", "{status}#{orderId}", {"by": ("userId", "status")}, ("query", 1, ())),
        ("{userId}", "{orderId}#{status}", {"by": ("userId", "status")}, ("query", 1, ("status",))),
        ("{userId}#{hash(orderId) % 10}", None, {"by": ("userId",)}, ("query", 10, ())),
        ("{userId}#{hash(orderId) % 10}", None, {"by": ("userId", "orderId")}, ("query", 1, ())),
        ("{userId}#{random(7)}", None, {"by": ("userId",)}, ("query", 7, ())),
        ("{orderId}", None, {"by": ("userId",)}, ("scan", 1, ("userId",))),
        ("{userId}", None, {"operation": "GetItem", "by": ("userId",)}, ("get", 1, ())),
        ("{userId}", "{timestamp}", {"operation": "GetItem", "by": ("userId",)}, ("get", 1, ())),
        ("{userId}#{random(7)}", None, {"operation": "GetItem", "by": ("userId",)}, ("get", 7, ())),
        ("{orderId}", None, {"operation": "GetItem", "by": ("userId",)}, ("scan", 1, ("userId",))),
        ("{userId}", None, {"operation": "Scan"}, ("scan", 1, ())),
        ("{userId}", None, {"by": ("deviceId",)}, ("query", 1, ("deviceId",))),
        ("{userId}", None, {"operation": "PutItem"}, ("write", 1, ())),
    ],
)
def test_the_best_way_uses_most_of_what_is_known(partition, sort, pattern, expected):
    path = path_of(Design("d", partition=partition, sort=sort), **pattern)

    assert (path.kind, path.shard_count, path.filters) == expected


@pytest.mark.parametrize(("items", "asked_for"), [(None, 1), (3, 3)])
def test_a_read_of_items_that_an_index_answers_finds_as_many_as_it_says(items, asked_for):
    index = Index("byUser", partition="{userId}")
    design = Design("d", partition="{orderId}", indexes=[index])
    path = path_of(design, operation="BatchGetItem", by=("userId",), items=items)
    assert (path.kind, path.pattern.items) == ("query", asked_for)


def test_time_in_the_partition_key_is_asked_stretch_by_stretch():
    design = Design("d", partition="{userId}#{timestamp:hour}", sort="{timestamp}")

    path = path_of(design, by=("userId",), span=3 * 3600)

    assert len(path.stretches(1_767_225_600.0 + 7200 + 1800, 0.0)) == 4


def test_an_index_answers_what_the_table_cannot():
    index = Index("byStatus", partition="{status}", sort="{timestamp}")
    design = Design("d", partition="{userId}", sort="{orderId}", indexes=[index])

    assert path_of(design, by=("status",)).index.name == "byStatus"
    assert path_of(design, by=("userId",)).index is None
    assert path_of(design, by=("status",), consistent=True).kind == "scan"


def test_a_multi_attribute_index_is_used_attribute_by_attribute():
    index = Index("orders", partition=("{tenantId}", "{status}"), sort=("{userId}", "{timestamp}"))
    design = Design("d", partition="{orderId}", indexes=[index])

    path = path_of(design, by=("tenantId", "status", "userId"), span=60)

    assert (path.kind, path.filters, len(path.sort_parts), path.by_time) == ("query", (), 1, True)
    assert path_of(design, by=("tenantId",)).kind == "scan"


def test_a_design_can_say_how_a_pattern_is_answered():
    index = Index("byStatus", partition="{status}")
    options = {"partition": "{userId}", "indexes": [index]}

    scan = path_of(Design("d", **options, answers={"p": "scan"}), by=("userId",))
    forced = path_of(Design("d", **options, answers={"p": "byStatus"}), by=("userId", "status"))

    assert scan.kind == "scan"
    assert (forced.index.name, forced.filters) == ("byStatus", ("userId",))
    with pytest.raises(ValueError, match="'byStatus' cannot answer pattern 'p'"):
        path_of(Design("d", **options, answers={"p": "byStatus"}), by=("userId",))


def test_an_entity_has_its_own_key_and_its_own_table():
    profile = Key(partition="{userId}", sort="#PROFILE")
    one = Table(name="people", entities={"profile": profile})
    two = Table(name="orders", partition="{orderId}")
    workload = Workload(
        fields=FIELDS,
        patterns=[
            Pattern("p", "PutItem", rate=1, entity="profile"),
            Pattern("q", "PutItem", rate=1),
        ],
    )
    layout = Layout(Design("d", tables=[one, two]), workload)

    assert [layout.table_of(pattern).name for pattern in workload.patterns] == ["people", "orders"]


def test_an_entity_with_the_name_of_a_table_is_kept_there():
    tables = [
        Table(name="stock", partition="{userId}"),
        Table(name="orders", partition="{orderId}"),
    ]
    workload = Workload(
        fields=FIELDS,
        patterns=[
            Pattern("p", "PutItem", rate=1, entity="orders"),
            Pattern("q", "PutItem", rate=1, entity="stock"),
        ],
    )
    layout = Layout(Design("d", tables=tables), workload)

    assert [layout.table_of(pattern).name for pattern in workload.patterns] == ["orders", "stock"]


@pytest.mark.parametrize(
    ("design", "complaint"),
    [
        (Design("d", partition="{nobody}"), "no field 'nobody' in the workload"),
        (
            Design("d", entities={"x": Key(partition="{userId}")}),
            r"no key for pattern 'p' \(entity None\)",
        ),
        (
            Design("d", partition="{userId}", entities={"x": Key(partition="a", sort="b")}),
            "need a sort key, or none",
        ),
    ],
)
def test_a_design_that_does_not_fit_says_why(design, complaint):
    with pytest.raises(ValueError, match=complaint):
        path_of(design, by=("userId",))


BY_STATUS = Index("byStatus", partition="{status}", sort="{timestamp}", projection="KEYS_ONLY")
NEWEST_FIRST = ("-timestamp",)


@pytest.mark.parametrize(
    ("sort", "by", "order", "expected"),
    [
        ("{timestamp}", (), ("newest",), (True, True)),
        ("{timestamp}", (), ("oldest",), (True, True)),
        ("{orderId}", (), NEWEST_FIRST, (False, False)),
        ("{status}#{timestamp}", (), NEWEST_FIRST, (False, False)),
        ("{status}#{timestamp}", ("status",), NEWEST_FIRST, (True, True)),
        ("ORDER#{orderId}#{timestamp}", (), ("orderId", "timestamp"), (True, True)),
        ("{timestamp:day}#{orderId}", (), NEWEST_FIRST, (False, False)),
        ("{orderId}", (), (), (True, True)),
        ("{orderId}", (), ("userId",), (True, True)),
    ],
)
def test_a_read_stops_early_only_where_the_key_has_its_order(sort, by, order, expected):
    design = Design("d", partition="{userId}", sort=sort)

    path = path_of(design, by=("userId", *by), order=order, items=5)

    assert (path.is_in_order, path.has_limit) == expected


def test_an_index_in_the_right_order_is_better_than_a_table_in_another():
    index = Index("newest", partition="{userId}", sort="{timestamp}")
    design = Design("d", partition="{userId}", sort="{orderId}", indexes=[index])

    assert path_of(design, by=("userId",), order=NEWEST_FIRST, items=5).index.name == "newest"
    assert path_of(design, by=("userId",), items=5).index is None


@pytest.mark.parametrize(
    ("projection", "reads", "then"),
    [
        ("KEYS_ONLY", None, None),
        ("KEYS_ONLY", ("orderId", "status", "timestamp"), None),
        ("KEYS_ONLY", ("userId",), "p: items"),
        (("userId",), ("userId", "orderId"), None),
        (("userId",), "all", "p: items"),
        ("ALL", "all", None),
    ],
)
def test_entries_that_lack_what_is_read_take_a_read_of_their_items(projection, reads, then):
    index = Index("byStatus", partition="{status}", projection=projection, sort="{timestamp}")
    design = Design("d", partition="{orderId}", indexes=[index])

    path = path_of(design, by=("status",), reads=reads, items=7)

    assert (path.then and path.then.name) == then
    if path.then is not None:
        assert (path.then.operation, path.then.actions) == ("BatchGetItem", 7)


def test_a_local_index_fetches_items_only_for_what_its_entries_lack():
    index = Index("l", partition="{userId}", sort="{status}", projection="KEYS_ONLY", local=True)
    design = Design("d", partition="{userId}", sort="{orderId}", indexes=[index])
    known = {"by": ("userId", "status")}

    assert path_of(design, **known).fetches_items
    assert path_of(design, **known, reads="all").fetches_items
    assert not path_of(design, **known, reads=("orderId",)).fetches_items
    assert path_of(design, **known, reads="all").then is None


def test_a_write_that_does_not_know_its_key_looks_for_it_first():
    index = Index("byOrder", partition="{orderId}", projection="KEYS_ONLY")
    design = Design("d", partition="{userId}", sort="{timestamp}", indexes=[index])
    update = {"operation": "UpdateItem", "by": ("orderId",)}

    assert path_of(design, **update).then is None
    path = path_of(design, **update, reads="all")
    assert (path.kind, path.then.operation, path.then.items) == ("write", "Query", 1)
    assert path_of(Design("d", partition="{orderId}"), **update, reads="all").then is None


def test_whoever_says_what_it_reads_knows_no_moment_that_it_does_not_name():
    design = Design("d", partition="{userId}", sort="{timestamp}")
    get = {"operation": "GetItem", "by": ("userId",)}

    assert path_of(design, **get).kind == "get"
    assert path_of(design, **get, reads="all").kind == "query"
    assert path_of(design, operation="GetItem", by=("userId", "timestamp"), reads="all").kind == (
        "get"
    )


def test_further_reads_are_patterns_of_the_layout_and_are_added_once():
    design = Design("d", partition="{orderId}", indexes=[BY_STATUS])
    patterns = [
        Pattern("put", "PutItem", rate=2),
        Pattern("open", "Query", by=("status",), reads="all", rate=3),
    ]
    workload = Workload(fields=FIELDS, patterns=patterns, duration=60, warm_up=40)
    layout = Layout(design, workload)

    names = [pattern.name for pattern in layout.workload.patterns]
    read = layout.workload.pattern("open: items")
    assert names == ["put", "open", "open: items"]
    assert (read.pace.highest, read.actions) == (3, (2 * 40 + 2 * 30) // 2)
    assert [own.name for own in layout.repeated(2).workload.patterns] == names
