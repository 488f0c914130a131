"""Proposals: designs that answer what is asked, played on the tables that they are written as."""

import json
from itertools import product

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from emulator import Emulator
from emulator.designs import create_table_requests, written
from emulator.lab import Field, Pattern, Workload
from emulator.lab.inputs.key_templates import KeyTemplate
from emulator.lab.planning.access_paths import find_path
from emulator.lab.searches.needs import completed, entities_of
from emulator.lab.searches.proposals import proposals
from tests.lab.searches import workloads

FIELDS = ["a", "b", "c"]
NAMES = st.lists(st.sampled_from(FIELDS), min_size=1, max_size=3, unique=True).map(tuple)
READS = st.one_of(st.none(), st.just(("b", "id")))


@st.composite
def asked(draw):
    """Return a workload of one kind of item: written, read by its id, and read by fields."""
    patterns = [
        Pattern("put", "PutItem", rate=draw(st.sampled_from([5, 2_000]))),
        Pattern("get", "GetItem", rate=3, by=("id",)),
    ]
    for number in range(draw(st.integers(1, 3))):
        order = draw(st.sampled_from([(), ("-timestamp",), ("c",), ("timestamp",)]))
        items = draw(st.sampled_from([None, 2]))
        options = {"by": draw(NAMES), "order": order, "items": items, "reads": draw(READS)}
        patterns.append(Pattern(f"read {number}", "Query", rate=2, **options))
    if draw(st.booleans()):
        patterns.append(Pattern("change", "UpdateItem", rate=1, by=("id",), changes=("b",)))
    fields = [Field("id", unique="random"), *(Field(name, count=2) for name in FIELDS)]
    return completed(Workload(fields=fields, patterns=patterns, duration=5, warm_up=0))


ROWS = [
    {"id": f"id-{number:02}", "a": f"a-{a}", "b": f"b-{b}", "c": f"c-{c}"}
    | {"timestamp": f"{1_767_225_600 + number * 7 % 16}"}
    for number, (a, b, c, _) in enumerate(product((0, 1), repeat=4))
]


class Played:
    """A design's tables, as text declares them, with items in them."""

    def __init__(self, layout, path):
        self.layout = layout
        emulator = Emulator(capacity="off")
        for request in create_table_requests(path):
            emulator.call("CreateTable", request)
        [self.table] = layout.tables
        self.handle = emulator.table(self.table.name)
        self.items = {row["id"]: self.item(row) for row in ROWS}
        for item in self.items.values():
            self.handle.put_item(Item=item)

    def item(self, row):
        key = self.table.key(None)
        item = dict(row)
        item[self.table.partition_name] = text(key.partition[0], row)
        if self.table.sort_name is not None:
            item[self.table.sort_name] = text(key.sort[0], row)
        attributes = self.table.index_attributes.items()
        return item | {name: text(template, row) for name, template in attributes}

    def answer(self, pattern, row):
        """Return what a design's way to a pattern's items brings, in its order."""
        path = find_path(self.layout, pattern)
        found = [] if path.kind != "get" else [self.get(path, row)]
        if path.kind == "query":
            labels = [part.label for part in path.shards]
            for numbers in product(*(range(part.count) for part in path.shards)):
                suffixes = dict(zip(labels, map(str, numbers), strict=True))
                found += self.query(path, row | suffixes)
        found = [own for own in found if all(own[name] == row[name] for name in path.filters)]
        for name in reversed(pattern.ordered_by):
            found.sort(key=lambda own: own[name], reverse=pattern.order[0].startswith("-"))
        found = found[: pattern.items]
        if path.then is None:
            return found
        names = [own for own in (self.table.partition_name, self.table.sort_name) if own]
        keys = [{name: own[name] for name in names} for own in found]
        return [self.handle.get_item(Key=key)["Item"] for key in keys]

    def get(self, path, row):
        key = {self.table.partition_name: text(path.key.partition[0], row)}
        if self.table.sort_name is not None:
            key[self.table.sort_name] = text(path.key.sort[0], row)
        return self.handle.get_item(Key=key)["Item"]

    def query(self, path, row):
        index, table = path.index, self.table
        partition = (table.partition_name,) if index is None else index.partition_names
        sort = (table.sort_name,) if index is None else index.sort_names
        values, conditions = {}, []
        for name, template in zip(partition, path.key.partition, strict=True):
            values[f":v{len(values)}"] = text(template, row)
            conditions.append((name, "{} = {}"))
        for name, parts, whole in zip(sort, path.sort_parts, path.key.sort, strict=False):
            values[f":v{len(values)}"] = text(KeyTemplate("", parts), row)
            is_whole = len(parts) == len(whole.parts)
            conditions.append((name, "{} = {}" if is_whole else "begins_with({}, {})"))
        names = {f"#n{number}": name for number, (name, _) in enumerate(conditions)}
        condition = " AND ".join(
            form.format(name, value)
            for name, value, (_, form) in zip(names, values, conditions, strict=True)
        )
        request = {
            "KeyConditionExpression": condition,
            "ExpressionAttributeNames": names,
            "ExpressionAttributeValues": values,
            "ScanIndexForward": not (path.pattern.order and path.pattern.order[0][0] == "-"),
        }
        if index is not None:
            request["IndexName"] = index.name
        if path.has_limit:
            request["Limit"] = path.pattern.items
        return self.handle.query(**request)["Items"]


def text(template, row):
    columns = {name: number for number, name in enumerate(row)}
    values = list(row.values())
    parts = []
    for part in template.parts:
        if getattr(part, "name", None) == "timestamp":
            parts.append(row["timestamp"])
        else:
            parts.append(KeyTemplate("", (part,)).bind(columns)(values, 0.0))
    return "".join(parts)


@settings(max_examples=12)
@given(workload=asked())
def test_every_pattern_gets_its_items_attributes_and_order(workload, tmp_path_factory):
    folder = tmp_path_factory.mktemp("design")
    found = proposals(workload)
    assert found.candidates
    assert not found.unanswered
    for number, candidate in enumerate(found.candidates[:3]):
        requests = [table.create_request() for table in candidate.layout.tables]
        path = folder / ("main.tf" if number % 2 else "template.json")
        path.write_text(
            written.terraform(requests)
            if number % 2
            else json.dumps(written.cloudformation(requests))
        )
        played = Played(candidate.layout, path)
        for pattern in workload.patterns:
            if not pattern.is_write:
                check(played, pattern, ROWS[5])


def check(played, pattern, row):
    """Compare an answer with that of a filter and a sort."""
    wanted = [own for own in ROWS if all(own[name] == row[name] for name in pattern.by)]
    for name in reversed(pattern.ordered_by):
        wanted.sort(key=lambda own: own[name], reverse=pattern.order[0].startswith("-"))
    known = {name: row[name] for name in pattern.by}

    got = played.answer(pattern, known)

    ordered = [[own[name] for name in pattern.ordered_by] for own in wanted][: pattern.items]
    brought = [[played.items[identity(own)][name] for name in pattern.ordered_by] for own in got]
    assert brought == ordered
    assert {identity(own) for own in got} <= {own["id"] for own in wanted}
    assert len({identity(own) for own in got}) == len(ordered)
    for item in got:
        whole = played.items[identity(item)]
        if pattern.reads == "all":
            assert item == whole
        assert all(item[name] == whole[name] for name in pattern.reads if pattern.reads != "all")


def identity(item):
    return item["id"]


def test_items_of_several_kinds_lie_in_one_table_only_where_no_index_mixes_them():
    workload = completed(workloads.eleven_patterns())

    tables = {len(own.design.tables) for own in proposals(workload).candidates}

    assert tables == {1}
    assert [own.name for own in entities_of(workload)] == ["user", "device", "event", None]


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ({"operation": "Scan"}, "it reads the whole table"),
        ({"operation": "Query", "by": ("a",), "consistent": True, "order": ("b",)}, None),
    ],
)
def test_what_nothing_answers_has_a_reason(pattern, reason):
    workload = completed(
        Workload(
            fields=[Field("a", count=5), Field("b", count=5)],
            patterns=[
                Pattern("put", "PutItem", rate=1, by=("a", "b")),
                Pattern("read", rate=1, **pattern),
            ],
            duration=5,
        )
    )
    unanswered = proposals(workload).unanswered
    assert ("read" in unanswered) is (reason is not None)
    assert (unanswered.get("read") or "").startswith(reason or "")
