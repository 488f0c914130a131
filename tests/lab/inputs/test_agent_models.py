"""Data models of AWS's agent tools as workloads."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from emulator.designs.findings import Finding
from emulator.lab import Capacity, compare
from emulator.lab.analysis import agent_results
from emulator.lab.files import load
from emulator.lab.inputs.agent_models import is_model, read_model, read_skew
from emulator.lab.inputs.distributions import Hotspot, Uniform, Zipf
from emulator.service.errors import DocumentError

#: The model of ICH-15.
MODEL = {
    "tables": [
        {
            "table_name": "Orders",
            "key_schema": {"partition_key": "customer_id", "sort_key": "order_id"},
            "entities": [
                {
                    "entity_name": "Order",
                    "estimated_item_size_bytes": 1800,
                    "estimated_item_count": 200000,
                    "attributes": [
                        {"name": "status", "type": "S"},
                        {"name": "created_at", "type": "N"},
                        {"name": "total", "type": "N"},
                    ],
                }
            ],
            "gsis": [
                {
                    "index_name": "ByStatus",
                    "partition_key": "status",
                    "sort_key": "created_at",
                    "projection": {"type": "INCLUDE", "attributes": ["total"]},
                }
            ],
        }
    ],
    "access_patterns": [
        {
            "pattern_id": "W1",
            "operation": "PutItem",
            "table": "Orders",
            "peak_rps": 150,
            "avg_rps": 20,
            "estimated_item_size_bytes": 1800,
            "retention_days": 90,
        },
        {
            "pattern_id": "R1",
            "operation": "GetItem",
            "table": "Orders",
            "peak_rps": 300,
            "consistency": "strong",
        },
        {
            "pattern_id": "R2",
            "operation": "Query",
            "table": "Orders",
            "index": "ByStatus",
            "peak_rps": 40,
            "estimated_item_size_bytes": 1800,
            "items_per_request": 25,
        },
        {
            "pattern_id": "U1",
            "operation": "UpdateItem",
            "table": "Orders",
            "peak_rps": 60,
            "estimated_item_size_bytes": 1800,
            "attributes_written": ["status"],
        },
    ],
}
SERVER_INPUT = {
    "access_pattern_list": [
        {
            "operation": "Query",
            "pattern": "R2",
            "description": "Open orders",
            "table": "Orders",
            "gsi": "ByStatus",
            "rps": 40,
            "item_size_bytes": 400,
            "item_count": 25,
        }
    ],
    "table_list": [{"name": "Orders", "item_count": 200000, "item_size_bytes": 1800}],
}


def written(directory, document=MODEL, name="dynamodb_data_model.json"):
    path = directory / name
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def changed(**members):
    """Return the model with another member in its first pattern."""
    model = json.loads(json.dumps(MODEL))
    model["access_patterns"][0] |= members
    return model


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    small = json.loads(json.dumps(MODEL).replace("200000", "400"))
    run = read_model(written(tmp_path_factory.mktemp("model"), small), skew="uniform")
    return compare(
        replace(run.workload, duration=20, warm_up=0),
        [run.design],
        worlds=1,
        engine="aggregate",
        quick=True,
        headroom=False,
        fix=False,
        sensitivity=False,
    )


def test_units_per_call_are_those_of_the_acceptance(comparison):
    """ICH-15: table and index of each pattern."""
    [design] = comparison.designs
    units = {
        result.name: [(one.read + one.write) / result.calls for one in result.units]
        for result in design.patterns
    }
    expected = {"W1": [2, 1], "R1": [1], "R2": [0.5], "U1": [2, 2]}
    assert {name: pytest.approx(one, rel=0.08) for name, one in units.items()} == expected


def test_fields_are_those_of_the_keys(tmp_path):
    """ICH-11, ICH-13, ICH-14."""
    run = read_model(written(tmp_path))
    fields = {field.name: field for field in run.workload.fields}
    assert set(fields) == {"customer_id", "order_id", "status"}
    assert (fields["customer_id"].count, fields["customer_id"].distribution) == (200_000, Zipf(1.1))
    assert fields["order_id"].unique == "random"
    assert fields["status"].count == 5
    assert (run.workload.duration, run.workload.retention) == (600, 90 * 86_400)
    assert [(one.pattern, one.items) for one in run.workload.preload] == [("W1", 20_000)]
    [table] = run.design.tables
    assert table.indexes[0].sort == ("{timestamp}",)
    assert run.design.answers == {"R2": "ByStatus"}
    assert run.averages["W1"] == 20


def test_what_is_assumed_is_said(tmp_path):
    """ICH-12."""
    assert load(written(tmp_path)).about.splitlines() == [
        "assumed: status has 5 values, judged by its name",
        "assumed: total, which ByStatus includes, has 16 bytes",
        "assumed: partition keys are used by zipf:1.1; --skew says otherwise",
    ]


def test_a_model_that_only_reads_gets_its_items(tmp_path):
    """ICH-14."""
    model = json.loads(json.dumps(MODEL))
    model["access_patterns"] = model["access_patterns"][1:3]
    run = read_model(written(tmp_path, model))
    assert [pattern.name for pattern in run.workload.patterns] == ["R1", "R2", "items of Orders"]
    assert run.workload.preload[0].items == 20_000


def test_several_entities_written_are_a_pattern_each(tmp_path):
    """ICH-10: rate times count."""
    written_entities = ["Order", {"entity": "Line", "count": 3}]
    run = read_model(written(tmp_path, changed(entities_written=written_entities)))
    rates = {pattern.name: pattern.rate.rate for pattern in run.workload.patterns}
    assert (rates["W1 Order"], rates["W1 Line"]) == (150, 450)


def test_a_benchmark_beside_it_sets_skew_and_items(tmp_path):
    """ICH-20."""
    written(tmp_path, {"mode": "representative", "zipf_s": 1.3}, "benchmark_config.json")
    run = read_model(written(tmp_path))
    assert run.workload.field("customer_id").distribution == Zipf(1.3)
    assert run.workload.field("customer_id").count == 5_000
    written(tmp_path, {"read_pattern_key_sampling": "uniform"}, "benchmark_config.json")
    assert read_model(written(tmp_path)).workload.field("status").distribution == Uniform()


def test_rates_of_the_server_are_joined_with_tables_by_name(tmp_path):
    """ICH-32."""
    tables = written(tmp_path)
    path = written(tmp_path, SERVER_INPUT, "costs.json")
    run = read_model(path, tables=tables)
    [query, _] = run.workload.patterns
    assert (query.name, query.rate.rate, query.items) == ("R2", 40, 25)


@pytest.mark.parametrize(
    ("text", "skew"),
    [("uniform", Uniform()), ("zipf:0.9", Zipf(0.9)), ("hotspot:0.1,0.5", Hotspot(0.1, 0.5))],
)
def test_a_skew_is_read(text, skew):
    assert read_skew(text) == skew


BROKEN = {
    "no keys": (SERVER_INPUT, {}, "it states rates and no keys; name the tables with --tables"),
    "no rates": (
        {"tables": [{"TableName": "t", "KeySchema": []}]},
        {},
        "it states no rates; the lab needs what compute_performances_and_costs takes",
    ),
    "no rate at all": (
        MODEL | {"access_patterns": [{"pattern_id": "a", "operation": "Scan", "table": "Orders"}]},
        {},
        "no access pattern of it has a rate above 0",
    ),
    "no such table": (changed(table="x"), {}, "an access pattern names the table 'x'; there are"),
    "no such index": (
        changed(operation="Query", index="x"),
        {},
        "W1: Orders has no index 'x'",
    ),
    "no key": (
        MODEL | {"tables": [{"table_name": "Orders"}]},
        {},
        "Orders: It cannot be read: expected a table with table_name and key_schema: 'key_schema'",
    ),
    "huge item": (changed(estimated_item_size_bytes=10**7), {}, "Pattern 'W1': an item has at"),
    "bad skew": (MODEL, {"skew": "zipf"[:3]}, "a skew is uniform, 80/20, zipf:S, "),
}


@pytest.mark.parametrize(("document", "options", "complaint"), BROKEN.values(), ids=BROKEN)
def test_a_model_that_cannot_be_run_is_one_sentence(tmp_path, document, options, complaint):
    path = written(tmp_path, document)
    assert is_model(path)
    with pytest.raises(DocumentError) as caught:
        read_model(path, **options)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_mode_of_the_benchmark_that_is_not_known_is_refused(tmp_path):
    written(tmp_path, {"mode": "chaos"}, "benchmark_config.json")
    with pytest.raises(DocumentError, match="mode: expected one of standard, quick"):
        read_model(written(tmp_path))


def test_other_json_is_no_model(tmp_path):
    assert not is_model(written(tmp_path, {"a": 1}))
    assert not is_model(Path("none.json"))


# Results


def test_a_run_is_written_as_the_toolkit_has_it(comparison):
    """ICH-21, ICH-22."""
    summary = agent_results.perf_summary(comparison)
    assert summary["coverage"]["measured_patterns"] == ["W1", "R1", "R2", "U1"]
    assert summary["manifest"] == {
        name: summary[name] for name in ("run_id", "account", "region", "prefix")
    }
    [put, get, *_] = summary["patterns"]
    assert put["steady_state"]["amplification_ratio"] == pytest.approx(0.5)
    assert put["steady_state"]["mean_observed_cu"] == pytest.approx(2)
    assert get["steady_state"]["gsi_cu_by_index"] == {}
    assert get["steady_state"]["p99_ms"] is None
    json.dumps(summary, allow_nan=False)


def test_findings_are_written_as_the_toolkit_has_them(comparison):
    """ICH-23."""
    findings = agent_results.design_findings(comparison, {"W1": 20, "R1": 300})
    signals = {one["signal"] for one in findings["classified_findings"]}
    assert "key_skew_patterns" in signals
    drivers = findings["top_cost_drivers"]
    assert {one["pattern_id"] for one in drivers[:2]} == {"W1", "R1"}
    assert sum(one["share"] for one in drivers) == pytest.approx(1)


def test_a_finding_about_a_pattern_names_it(comparison):
    """ICH-23: one about a table names no pattern."""
    design = comparison.designs[0]
    found = tuple(
        Finding("rule", "warning", subject, "A sentence.", "") for subject in ("R1", "Orders")
    )
    changed = replace(comparison, designs=(replace(design, findings=found),))
    told = agent_results.design_findings(changed, {})["classified_findings"][-2:]
    assert [one["pattern_ids"] for one in told] == [["R1"], []]


#: A single table of customers and their orders; only orders have a status.
ENTITIES = {
    "tables": [
        {
            "table_name": "Shop",
            "key_schema": {"partition_key": "pk", "sort_key": "sk"},
            "entities": [
                {
                    "entity_name": "Customer",
                    "estimated_item_size_bytes": 400,
                    "estimated_item_count": 1000,
                    "attributes": [{"name": "name", "type": "S"}],
                },
                {
                    "entity_name": "Order",
                    "estimated_item_size_bytes": 1800,
                    "estimated_item_count": 9000,
                    "attributes": [{"name": "status", "type": "S"}],
                },
            ],
            "gsis": [{"index_name": "ByStatus", "partition_key": "status", "sort_key": "sk"}],
        }
    ],
    "access_patterns": [
        {
            "pattern_id": "W1",
            "operation": "PutItem",
            "table": "Shop",
            "peak_rps": 10,
            "estimated_item_size_bytes": 1800,
            "entities_written": ["Order"],
        },
        {
            "pattern_id": "W2",
            "operation": "PutItem",
            "table": "Shop",
            "peak_rps": 10,
            "estimated_item_size_bytes": 400,
            "entities_written": ["Customer"],
        },
        {
            "pattern_id": "R1",
            "operation": "GetItem",
            "table": "Shop",
            "peak_rps": 10,
            "estimated_item_size_bytes": 400,
        },
        {
            "pattern_id": "R2",
            "operation": "Query",
            "table": "Shop",
            "peak_rps": 5,
            "items_per_request": 9,
            "estimated_item_size_bytes": 777,
        },
    ],
}


def units_of(run):
    """Return the units of each call, of table and index, under one world."""
    found = compare(
        replace(run.workload, duration=5, warm_up=0),
        [run.design],
        worlds=1,
        engine="aggregate",
        quick=True,
        headroom=False,
        fix=False,
        sensitivity=False,
    )
    return {
        result.name: [round((each.read + each.write) / result.calls, 2) for each in result.units]
        for result in found.designs[0].patterns
    }


def test_entities_have_keys_of_their_own(tmp_path):
    """ICH-11: fields prefixed with the entity; what an index is keyed by is shared."""
    run = read_model(written(tmp_path, ENTITIES), skew="uniform")
    [table] = run.design.tables
    assert {name: (key.partition, key.sort) for name, key in table.entities.items()} == {
        "Shop Customer": ("Customer#{Customer_pk}", "{sk}"),
        "Shop Order": ("Order#{Order_pk}", "{sk}"),
    }
    counts = {field.name: field.count for field in run.workload.fields}
    assert (counts["Customer_pk"], counts["Order_pk"]) == (1000 // 9, 1000)
    assert [(each.pattern, each.items) for each in run.workload.preload] == [
        ("W2", 1000),
        ("W1", 9000),
    ]
    patterns = {pattern.name: pattern for pattern in run.workload.patterns}
    assert {name: pattern.entity for name, pattern in patterns.items()} == {
        "W1": "Shop Order",
        "W2": "Shop Customer",
        "R1": "Shop Customer",
        "R2": "Shop Order",
    }
    assert patterns["R2"].by == ("Order_pk",)
    assert "the entities of Shop have keys of their own" in run.assumptions
    assert "R1 is about Customer, judged by the size of its items" in run.assumptions
    assert "R2 is about Order, judged by the number of items" in run.assumptions


def test_an_entity_without_an_index_key_is_not_in_the_index(tmp_path):
    units = units_of(read_model(written(tmp_path, ENTITIES), skew="uniform"))
    assert units["W1"] == [2, 2]
    assert units["W2"] == [1]


def with_gsi(**members):
    """Return rates of the server, of a put to a table with an index."""
    put = {
        "operation": "PutItem",
        "pattern": "W1",
        "description": "Save",
        "table": "Orders",
        "rps": 100,
        "item_size_bytes": 1800,
    }
    index = {"name": "ByStatus", "item_size_bytes": 400, "item_count": 500}
    table = {"name": "Orders", "item_count": 2_000, "item_size_bytes": 1800, "gsi_list": [index]}
    return {"access_pattern_list": [put | members], "table_list": [table], "workspace_dir": "x"}


def test_an_index_with_fewer_items_is_sparse(tmp_path):
    """ICH-32: of a hundred puts twenty-five are written to the index."""
    path = written(tmp_path, with_gsi(), "costs.json")
    run = read_model(path, tables=written(tmp_path))
    rates = {pattern.name: pattern.rate.rate for pattern in run.workload.patterns}
    assert rates == {"W1 not in ByStatus": 75, "W1": 25}
    assert [(each.pattern, each.items) for each in run.workload.preload] == [
        ("W1 not in ByStatus", 1_500),
        ("W1", 500),
    ]
    units = units_of(run)
    assert units == {"W1 not in ByStatus": [2], "W1": [2, 1]}


def test_only_writes_of_new_items_are_split_by_a_sparse_index(tmp_path):
    """ICH-32: a read of the table is the same whatever an index holds."""
    path = written(tmp_path, with_gsi(operation="GetItem"), "costs.json")
    run = read_model(path, tables=written(tmp_path))
    assert "W1" in {pattern.name for pattern in run.workload.patterns}
    assert "W1 not in ByStatus" not in {pattern.name for pattern in run.workload.patterns}


@pytest.mark.parametrize(
    ("units", "capacity"),
    [
        ({"read": 7}, Capacity(read=7, write=1)),
        ({"write": 7}, Capacity(read=1, write=7)),
        ({"ReadCapacityUnits": 3, "WriteCapacityUnits": 4}, Capacity(read=3, write=4)),
    ],
)
def test_units_that_are_not_stated_are_one(tmp_path, units, capacity):
    written(tmp_path, {"provisioned_capacity": units}, "benchmark_config.json")
    run = read_model(written(tmp_path))
    assert run.design.tables[0].capacity == capacity


def test_a_write_that_names_its_indexes_is_in_those(tmp_path):
    """ICH-31: gsi_list of a write."""
    path = written(tmp_path, with_gsi(gsi_list=["ByStatus"]), "costs.json")
    run = read_model(path, tables=written(tmp_path))
    assert [pattern.name for pattern in run.workload.patterns] == ["W1"]


@pytest.mark.parametrize(
    "table", [{"name": "Orders"}, {"item_count": 5}, {"name": "Orders", "item_count": "many"}]
)
def test_a_table_list_without_counts_is_one_sentence(tmp_path, table):
    path = written(tmp_path, with_gsi() | {"table_list": [table]}, "costs.json")
    with pytest.raises(DocumentError, match="table_list: expected tables with name and item_count"):
        read_model(path, tables=written(tmp_path))
