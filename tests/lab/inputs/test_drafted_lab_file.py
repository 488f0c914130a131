"""A lab file drafted from declared tables: it is read, and says what is not known."""

import pytest

from emulator.designs.declared import DeclaredTable, key_schema
from emulator.lab.files import loads
from emulator.lab.inputs.distributions import Hotspot
from emulator.lab.inputs.drafted_lab_file import drafted, judged_by_name
from emulator.lab.inputs.stated_load import read_load

ALL = {"ProjectionType": "ALL"}


def index(name, partition, *sort, **members):
    """Return an index of a CreateTable request."""
    partition = [partition] if isinstance(partition, str) else partition
    return {
        "IndexName": name,
        "KeySchema": key_schema(partition, sort),
        "Projection": ALL,
        **members,
    }


def table(name, partition, *sort, **members):
    """Return a declared table, on demand unless members say otherwise."""
    request = {"TableName": name, "KeySchema": key_schema([partition], sort), **members}
    return DeclaredTable(resource=name, request=request)


def read(*tables, **flags):
    """Return the drafted file of tables under flags, as the lab reads it."""
    indexes = {
        own.request["TableName"]: [
            each["IndexName"] for each in own.request.get("GlobalSecondaryIndexes", ())
        ]
        for own in tables
    }
    texts = {name: values if isinstance(values, list) else [values] for name, values in
             flags.items()}  # fmt: skip
    return loads(drafted(tables, read_load(texts, indexes), path="infra", age="lived"))


def test_a_sort_key_of_unknown_order_is_played_both_ways():
    file = read(table("app", "pk", "sk"))
    assert [design.name for design in file.designs] == [
        "sort keys in no order",
        "sort keys ascend",
    ]
    fields = {field.name: field.unique for field in file.workload.fields}
    sorts = [design.tables[0].sort.strip("{}") for design in file.designs]
    assert [fields[name] for name in sorts] == ["random", "sequential"]


def test_a_sort_key_that_follows_the_clock_ascends():
    file = read(table("app", "pk", "createdAt"))
    [design] = file.designs
    assert (design.name, design.tables[0].sort) == ("as declared", "{timestamp}")


def test_the_load_is_what_is_stated():
    file = read(table("app", "pk", "sk"), rate="100", writes="0.2", mean="0.5", item_size="3 KB")
    workload = file.workload
    rates = {pattern.operation: pattern.pace.rate for pattern in workload.patterns}
    assert rates == {"PutItem": 20, "GetItem": 80}
    assert (workload.mean, workload.age) == (0.5, "lived")
    assert {pattern.sizes.mean for pattern in workload.patterns} == {3072}


def test_an_index_has_the_values_that_are_stated_of_it_and_no_others():
    declared = table("app", "pk", "sk", GlobalSecondaryIndexes=[index("byStatus", "status")])
    unknown = read(declared, keys="700").workload
    assert unknown.field("pk").count == 700
    assert unknown.field("status").unique == "random"
    known = read(declared, keys="app.byStatus=5", skew="one-tenant")
    assert known.workload.field("status").count == 5
    assert known.workload.field("status").distribution == Hotspot(1e-9, 0.5)
    assert known.designs[0].answers == {"read app by byStatus": "byStatus"}
    assert [pattern.pace.rate for pattern in known.workload.patterns] == [150, 175, 175]


def test_a_table_without_a_stated_rate_is_left_out():
    file = read(table("app", "pk"), table("other", "id"), rate="other=5")
    assert [own.name for own in file.designs[0].tables] == ["other"]


def test_tables_with_the_same_attribute_have_values_of_their_own():
    file = read(table("app", "pk"), table("other", "pk"), keys=["app=3", "other=9"])
    counts = {field.name: field.count for field in file.workload.fields}
    assert counts == {"app_pk": 3, "other_pk": 9}


def test_a_partition_key_that_follows_the_clock_is_cut_to_its_step():
    [design] = read(table("app", "eventHour", "id"), keys="8").designs[:1]
    assert design.tables[0].partition == "{timestamp:hour}"
    [design] = read(table("app", "eventHour", "id"), keys="app=8").designs[:1]
    assert design.tables[0].partition == "{eventHour}"


def test_a_key_of_few_values_by_its_name_has_few_unless_it_is_stated():
    """The default of all tables would make a false fine."""
    declared = table("app", "orderStatus", "id")
    assert read(declared).workload.field("orderStatus").count == 5
    assert read(declared, keys="900").workload.field("orderStatus").count == 5
    assert read(declared, keys="app=900").workload.field("orderStatus").count == 900
    assert list(judged_by_name([declared], read_load({}, {"app": ()}))) == [
        "orderStatus of app has 5 values, judged by its name (--keys app=N)"
    ]


def test_what_is_taken_from_names_is_said():
    declared = [table("app", "eventHour", "id"), table("other", "userId")]
    load = read_load({}, {"app": (), "other": ()})
    assert list(judged_by_name(declared, load)) == [
        "eventHour of app is the hour of the write, judged by its name (--keys app=N)"
    ]


ODD = {
    "names that YAML reads otherwise": table("null", "true", "no"),
    "a field that the lab has": table("app", "id", "timestamps"),
    "an attribute called timestamp": table("app", "timestamp_", "timestamp"),
    "a joined name": table("a.b-c", "tenant#status", "1st"),
    "local index": table("app", "pk", "sk", LocalSecondaryIndexes=[index("lsi", "pk", "status")]),
    "inverted index": table("app", "pk", "sk", GlobalSecondaryIndexes=[index("gsi", "sk", "pk")]),
    "several attributes": table(
        "app", "pk", GlobalSecondaryIndexes=[index("gsi", ["a", "day"], "b", "pk")]
    ),
    "included": table(
        "app",
        "pk",
        GlobalSecondaryIndexes=[
            index("gsi", "a", Projection={"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x"]}),
            index("gsi2", "b", Projection={"ProjectionType": "INCLUDE", "NonKeyAttributes": ["a"]}),
        ],
    ),
    "provisioned": table(
        "app",
        "pk",
        ProvisionedThroughput={"ReadCapacityUnits": 7, "WriteCapacityUnits": 3},
        TableClass="STANDARD_INFREQUENT_ACCESS",
    ),
    "own limits": table("app", "pk", OnDemandThroughput={"MaxWriteRequestUnits": 50}),
}


@pytest.mark.parametrize("declared", ODD.values(), ids=ODD)
@pytest.mark.parametrize("writes", ["0", "0.3", "1"])
def test_every_declared_table_becomes_a_file_that_the_lab_reads(declared, writes):
    name = declared.request["TableName"]
    indexes = [own["IndexName"] for own in declared.request.get("GlobalSecondaryIndexes", ())]
    keys = [f"{name}.{own}=4" for own in indexes]
    file = read(declared, keys=keys, writes=writes)
    own = file.designs[0].tables[0]
    assert own.name == name
    assert {each.name for each in own.indexes} >= set(indexes)
    throughput = declared.request.get("ProvisionedThroughput", {})
    assert own.capacity.write == throughput.get("WriteCapacityUnits")
