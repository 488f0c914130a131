"""Files: what is wrong is said with file, line, field and what was expected."""

from dataclasses import replace
from pathlib import Path

import pytest

from emulator.lab import DocumentError, Weights, compare, load
from emulator.lab.files import loads
from emulator.lab.outcome.expectations import Expectation

GOOD = """\
title: Orders
about: An example.
seeds: [0, 1]
engine: exact
settings: {heat_threshold: 0.7}
parameters: {shards: 4}
workload:
  duration: 10s
  fields:
    userId: {count: 20}
    status: {weights: {open: 3, done: 1}}
  patterns:
    - name: save
      operation: PutItem
      rate: 5
      size: 1.5 KB
    - {name: list, operation: Query, by: [userId], rate: 1, span: 1h}
designs:
  - name: by user
    partition: "{userId}#{random(shards)}"
    sort: "{timestamp}"
    read: 10
    write: 20
    indexes:
      - {name: byStatus, partition: ["{status}"], sort: "{timestamp}", projection: KEYS_ONLY}
"""


def played(file):
    """Return the comparison that a file asks for, without the minutes of its warm-up."""
    arguments = file.arguments()
    arguments["workload"] = replace(arguments["workload"], warm_up=0)
    return compare(**arguments, headroom=False, sensitivity=False, fix=False)


def test_a_file_says_everything():
    file = loads(GOOD)

    assert (file.title, file.about, file.seeds, file.engine) == (
        "Orders",
        "An example.",
        (0, 1),
        "exact",
    )
    assert file.settings.heat_threshold == 0.7
    assert file.workload.pattern("save").sizes.sizes == (1536,)
    assert file.workload.pattern("list").span == 3600
    assert file.workload.field("status").distribution == Weights((3, 1))
    assert file.designs[0].parameters == {"shards": 4}
    result = played(file)
    assert result.design("by user").grade == "fine"
    assert len(result.design("by user").confidence[0].values) == 2


@pytest.mark.parametrize("billing", ["provisioned", "PROVISIONED"])
def test_a_design_may_name_the_billing_mode_that_it_has(billing):
    named = GOOD.replace("    read: 10\n", f"    billing: {billing}\n    read: 10\n")

    assert loads(named).designs == loads(GOOD).designs


def test_a_file_with_promises_is_read_whole_and_says_which_are_not_kept():
    promises = "expect: {all: {throttled: 0.5}, by user: {grade: fine, monthly_cost: 0}}\n"
    file = loads(GOOD + promises)

    assert file.expected == (
        Expectation(design="all", throttled=0.5),
        Expectation(design="by user", grade="fine", monthly_cost=0.0),
    )
    result = played(file)
    assert [one.split(" $")[0] for one in file.failures(result)] == ["by user costs"]
    assert loads(GOOD).failures(result) == []


# Each is one edit of the good file: what is replaced, by what, and what is said.
BROKEN = [
    ("workload:", "wrkload:", "lab.yaml:8: wrkload: unknown field; did you mean 'workload'?"),
    (
        "title:",
        "duration: 60\ntitle:",
        "duration: unknown field; did you mean 'workload.duration'?",
    ),
    ("designs:\n", "designs: []\nx:\n", "lab.yaml:20: x: unknown field"),
    (
        '"{userId}#{random(shards)}"',
        "{userId}",
        "expected a template, found a mapping, which is what braces mean in YAML: quote it, as in "
        '"{userId}"',
    ),
    ("duration: 10s", "duration: ten", "lab.yaml:8: workload.duration: expected a duration"),
    ("duration: 10s", "duration: -5", "workload.duration: expected a number above 0, found -5"),
    ("{count: 20}", "{count: 0}", "lab.yaml:10: workload.fields.userId.count: expected a whole"),
    ("{count: 20}", "{cuont: 20}", "fields.userId.cuont: unknown field; did you mean 'count'?"),
    ("{count: 20}", "{count: 20, unique: true}", "needs exactly one of count, values, unique"),
    ("{open: 3, done: 1}", "{open: x}", "status.weights.open: expected a number, found 'x'"),
    ("operation: PutItem", "operation: Put", "lab.yaml:14: workload.patterns[0].operation: expec"),
    ("rate: 5\n", "rate: fast\n", "lab.yaml:15: workload.patterns[0].rate: expected a number per"),
    ("rate: 5\n", "rate: {ramp: {start: 1}}\n", "rate.ramp: the field 'end' is missing"),
    ("rate: 5\n", "rate: true\n", "patterns[0].rate: expected a number, found True"),
    ("rate: 5\n", "rate: .nan\n", "patterns[0].rate: expected a number, found nan"),
    ("rate: 5\n", "rate: .inf\n", "patterns[0].rate: expected a number, found inf"),
    ("size: 1.5 KB", "size: 500 KB", "Pattern 'save': an item has at most 409,600 bytes, not 512"),
    ("size: 1.5 KB", "size: {median: 1 KB, p99: 1 MB}", "size.p99: expected more than the median"),
    (
        "size: 1.5 KB",
        f"size: {'9' * 400} MB",
        "patterns[0].size: expected a size that a number can tell",
    ),
    ("engine: exact", f"duration: {'9' * 400}", "lab.yaml:4: duration: "),
    ("size: 1.5 KB", "size: huge", "patterns[0].size: expected a size such as 300, 1.5 KB"),
    ("by: [userId]", "by: [userid]", "patterns[1].by[0]: expected one of the fields status, time"),
    ("by: [userId]", "by: userId", "workload.patterns[1].by: expected a list, found 'userId'"),
    ("name: list,", "", "lab.yaml:17: workload.patterns[1]: the field 'name' is missing"),
    ('"{userId}#{random(shards)}"', '"{userId"', "lab.yaml:20: designs[0].partition: '{userId':"),
    ("random(shards)", "random(n)", "no parameter 'n' in the design, which has shards"),
    ("{userId}#", "{user}#", "lab.yaml:20: designs[0].partition: no field 'user' in the workload"),
    ('sort: "{timestamp}",', 'sort: "{at}",', "lab.yaml:25: designs[0].indexes[0].sort: no field"),
    ("projection: KEYS_ONLY", "projection: KEYS", "indexes[0].projection: expected ALL, KEYS_ONLY"),
    ("read: 10", "read: 0", "lab.yaml:22: designs[0].read: expected a whole number of at least 1"),
    (
        "read: 10",
        "read: 10000001",
        "lab.yaml:22: designs[0].read: expected a whole number of at most 10,000,000",
    ),
    ("write: 20", "write: 50000", "designs[0]: design 'by user': "),
    ("read: 10\n", "read: 10\n    max_read: 5\n", "an on-demand maximum next to provisioned"),
    ("read: 10\n", "read: 10\n    billing: on-demand\n", "read and write are provisioned capacity"),
    ("    read: 10\n    write: 20\n", "    billing: PROVISIONED\n", "give read and write"),
    ("name: byStatus", "name: by", "Member must have length greater than or equal to 3"),
    ("engine: exact", "engine: quick", "lab.yaml:4: engine: expected one of auto, exact, aggre"),
    ("heat_threshold: 0.7", "heat_threshold: hot", "Settings.heat_threshold must be a number"),
    ("title: Orders", "title: [", "lab.yaml:"),
    ("title: Orders", "title: a\ntitle: b", "lab.yaml:2: title: the field is given twice"),
    ("title: Orders", "expect: {nobody: {}}", "lab.yaml:1: expect.nobody: no design is called"),
    ("title: Orders", "expect: {all: {headroom: 65}}", "headroom: expected a number of at most 64"),
    # An unknown name is reported where it stands, with the known one that it resembles.
    (
        "{userId}#",
        "{userid}#",
        "lab.yaml:20: designs[0].partition: no field 'userid' in the workload, which has status, "
        "timestamp, userId; did you mean 'userId'?",
    ),
    ("random(shards)", "hash(order) % shards", "lab.yaml:20: designs[0].partition: no field 'ord"),
    ("{shards: 4}", "{shard: 4}", "in the design, which has shard; did you mean 'shard'?"),
    ('"{userId}#{random(shards)}"', "userId", 'for the field of that name write "{userId}"'),
    ("{userId}#", "{userId:hour}#", "only timestamp is a time; write the field as {userId}"),
    (
        "{count: 20}",
        "{count: 20, per: staus}",
        "lab.yaml:10: workload.fields.userId.per: expected another field (status), found 'staus'; "
        "did you mean 'status'?",
    ),
    (
        "rate: 5\n",
        "rate: 5\n      fields: [usrId]\n",
        "lab.yaml:16: workload.patterns[0].fields[0]",
    ),
    ("rate: 5\n", "rate: 5\n      changes: [Status]\n", "found 'Status'; did you mean 'status'?"),
    (
        "duration: 10s",
        "duration: 10s\n  preload:\n    - items: 5\n      pattern: sav",
        "lab.yaml:11: workload.preload[0].pattern: expected a pattern that puts items (save), "
        "found 'sav'; did you mean 'save'?",
    ),
    (
        "write: 20\n",
        "write: 20\n    answers: {lst: table}\n",
        "lab.yaml:24: designs[0].answers.lst: no pattern is called 'lst'; did you mean 'list'?",
    ),
    (
        "write: 20\n",
        "write: 20\n    answers: {list: byStat}\n",
        "lab.yaml:24: designs[0].answers.list: expected one of byStatus, table, scan, found "
        "'byStat'; did you mean 'byStatus'?",
    ),
    (
        "write: 20\n",
        "write: 20\n    answers: {list: byStatus}\n",
        "lab.yaml:24: designs[0].answers.list: 'byStatus' cannot answer pattern 'list', which "
        "knows userId",
    ),
    (
        "projection: KEYS_ONLY",
        "projection: [userid]",
        "lab.yaml:25: designs[0].indexes[0].projection[0]: expected one of the items' attributes "
        "status, timestamp, userId, found 'userid'; did you mean 'userId'?",
    ),
    (
        "write: 20\n",
        "write: 20\n    previous_peak: 9\n",
        "lab.yaml:24: designs[0].previous_peak: unknown field; did you mean "
        "'history.previous_peak'?",
    ),
    (
        "read: 10\n    write: 20\n",
        "extras:\n      reserved: {read: 100}\n",
        "lab.yaml:23: designs[0].extras.reserved: covers provisioned capacity only; give read and",
    ),
    (
        "write: 20\n",
        "write: 20\n    extras: {replicas: 1, reserved: {write: 100}}\n",
        "lab.yaml:24: designs[0].extras.reserved: covers tables in one region only",
    ),
    (
        "write: 20\n",
        "write: 20\n    extras: {reserved: {years: 1}}\n",
        "lab.yaml:24: designs[0].extras.reserved: expected read or write units to reserve",
    ),
    (
        "duration: 10s",
        "every: mont\n  duration: 10s",
        "lab.yaml:8: workload.every: expected one of",
    ),
    (
        "rate: 5\n",
        "rate: 5\n      consistent: 1\n",
        "lab.yaml:16: workload.patterns[0].consistent: expected true or false, found 1",
    ),
    ("  - name: by user", "  - name: [by]", "lab.yaml:19: designs[0].name: expected a text, found"),
]


@pytest.mark.parametrize(("good", "bad", "complaint"), BROKEN, ids=[bad for _, bad, _ in BROKEN])
def test_a_broken_file_gets_one_clear_sentence(good, bad, complaint):
    assert good in GOOD

    with pytest.raises(DocumentError) as error:
        loads(GOOD.replace(good, bad, 1), "lab.yaml")

    assert complaint in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "lab.yaml: the file is empty; expected workload and designs"),
        ("5", "lab.yaml:1: expected a mapping, found 5"),
        ("a: &x [*x]", "lab.yaml"),
        ("a: \x00", "lab.yaml: not YAML"),
        (f"a: {'9' * 5000}", "lab.yaml: not YAML: Exceeds the limit"),
        (
            "a0: &a0 [x, x, x]\n"
            + "".join(f"a{n}: &a{n} [{f'*a{n - 1}, ' * 8}]\n" for n in range(1, 12)),
            "lab.yaml: its aliases unfold too far",
        ),
    ],
    ids=lambda written: written[:20],
)
def test_a_file_that_is_something_else_gets_one_too(text, complaint):
    with pytest.raises(DocumentError) as error:
        loads(text, "lab.yaml")

    assert str(error.value).startswith(complaint)


def test_a_design_may_begin_with_another_one():
    """A merge key of YAML: what stands beside it goes before, and the first of several too."""
    merged = GOOD.replace(
        "designs:\n",
        "designs:\n"
        '  - &base {name: base, partition: "{userId}", read: 10, write: 20}\n'
        "  - {<<: *base, name: more, write: 40}\n"
        "  - {name: two, <<: [{read: 30}, *base]}\n",
    )

    base, more, two, *_ = (design.tables[0] for design in loads(merged).designs)

    assert (more.partition, more.capacity.read, more.capacity.write) == (base.partition, 10, 40)
    assert (two.partition, two.capacity.read, two.capacity.write) == (base.partition, 30, 20)
    with pytest.raises(DocumentError, match="expected a mapping, found 5"):
        loads(GOOD.replace("designs:\n", "designs:\n  - {<<: 5, name: two}\n"))


def test_a_file_that_is_not_there_gets_one_too(tmp_path):
    with pytest.raises(DocumentError, match="cannot be read: No such file"):
        load(tmp_path / "none.yaml")


def test_keys_come_from_a_csv_beside_the_file(tmp_path):
    (tmp_path / "keys.csv").write_text("device\na\na\nb\n")
    path = tmp_path / "lab.yaml"
    text = GOOD.replace("{count: 20}", "{csv: keys.csv, column: device}")
    path.write_text(text)

    assert load(path).workload.field("userId").values == ("a", "b")
    path.write_text(text.replace("keys.csv", "none.csv"))
    with pytest.raises(
        DocumentError,
        match=r":10: workload\.fields\.userId\.csv: \S+none\.csv: cannot be read: No",
    ):
        load(str(path))


@pytest.mark.parametrize(
    "path", sorted(Path("benchmarks/key_schemes").glob("*.yaml")), ids=lambda path: path.stem
)
def test_every_scenario_can_be_read(path):
    assert load(path).about


def test_what_is_nested_too_deeply_is_told_in_a_sentence():
    """ICH-6."""
    with pytest.raises(DocumentError, match=r"^deep\.yaml:1: nested too deeply: at most 100"):
        loads("a: " + "[" * 20_000, "deep.yaml")
    with pytest.raises(DocumentError, match=r"^deep\.yaml:1: the field 'workload' is missing$"):
        loads("{designs: " + "[" * 99 + "]" * 99 + "}", "deep.yaml")


def test_a_lab_file_has_a_largest_size(tmp_path):
    """ICH-6."""
    path = tmp_path / "lab.yaml"
    path.write_text(GOOD + "#" * 10_000_000)
    with pytest.raises(DocumentError, match="a design or lab file has at most 10,000,000 bytes"):
        load(path)


def test_an_index_includes_fields_and_other_attributes_of_the_items():
    text = GOOD.replace("projection: KEYS_ONLY", "projection: [userId, note]", 1)

    [design] = loads(
        text.replace("duration: 10s", "duration: 10s\n  attributes: {note: 9}")
    ).designs

    assert design.tables[0].indexes[0].projection == ("userId", "note")
