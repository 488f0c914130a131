"""The tools of the MCP server, as plain methods."""

import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest

from emulator.lab import DocumentError
from emulator.mcp import sources
from emulator.mcp.tools import MOST_CHARACTERS, Tools

TABLE = """
resource "aws_dynamodb_table" "events" {
  name           = "events"
  billing_mode   = "PROVISIONED"
  read_capacity  = 10
  write_capacity = 250
  hash_key       = "eventDate"
  attribute {
    name = "eventDate"
    type = "S"
  }
}
"""
WORKLOAD = {
    "duration": 10,
    "warm_up": 0,
    "fields": {"userId": {"count": 50}},
    "patterns": [{"name": "save", "operation": "PutItem", "rate": 40}],
}
SMALL = {"name": "small", "partition": "{userId}", "read": 5, "write": 1}
LARGE = {"name": "large", "partition": "{userId}", "read": 5, "write": 60}
CREATE = {
    "TableName": "orders",
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
}


@pytest.fixture
def tools(tmp_path):
    return Tools(tmp_path)


# check_design


def test_a_design_is_checked_as_text_and_as_a_file(tools, tmp_path):
    """ICH-102, ICH-103."""
    (tmp_path / "main.tf").write_text(TABLE)

    answer = tools.check_design(text=TABLE)

    assert answer.tables == ["events"]
    assert answer.counts["warning"] >= 1
    first = answer.findings[0]
    assert (first.rule, first.severity) == ("time-key", "warning")
    assert first.message
    assert first.fix
    assert "time-key" in answer.paragraph
    assert (first.file, first.line) == (None, 7)
    of_file = tools.check_design(path="main.tf").findings
    assert [finding.rule for finding in of_file] == [finding.rule for finding in answer.findings]
    assert (of_file[0].file, of_file[0].line) == ("main.tf", 7)


def test_a_clean_design_has_nothing_to_object_to(tools):
    request = {name: value for name, value in CREATE.items() if name != "ProvisionedThroughput"}
    answer = tools.check_design(text=json.dumps(request | {"BillingMode": "PAY_PER_REQUEST"}))
    assert answer.findings == []
    assert answer.paragraph == "Nothing to object to in orders."


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ({}, "give exactly one of text and path"),
        ({"text": "a", "path": "b"}, "give exactly one of text and path"),
        ({"path": "../secret.tf"}, "is not below the folder"),
        ({"path": "/etc/passwd"}, "is not below the folder"),
        ({"path": "none.tf"}, "none.tf: cannot be read: No such file or directory"),
        ({"text": "x" * 1_000_001}, "a source has at most 1,000,000 bytes"),
        ({"text": "x", "format": "cobol"}, "format is one of auto, terraform"),
        ({"text": "workload: {}\ndesigns: []\n"}, "this is a lab file, which has a workload"),
    ],
)
def test_a_source_that_cannot_be_used_is_told_in_a_sentence(tools, source, complaint):
    with pytest.raises(DocumentError, match=complaint):
        tools.check_design(**source)


def test_a_folder_is_bounded_by_what_could_be_a_design(tools, tmp_path, monkeypatch):
    (tmp_path / "infra").mkdir()
    (tmp_path / "infra" / "main.tf").write_text(TABLE)
    (tmp_path / "infra" / "picture.png").write_bytes(bytes(sources.MOST_BYTES + 1))
    assert tools.check_design(path="infra").tables
    monkeypatch.setattr(sources, "MOST_FOLDER_BYTES", 10)
    with pytest.raises(DocumentError, match=r"infra: a folder has at most 2,000 files and 10 "):
        tools.check_design(path="infra")


def test_a_design_has_only_so_many_tables(tools, monkeypatch):
    monkeypatch.setattr("emulator.mcp.tools.MOST_TABLES", 0)
    with pytest.raises(DocumentError, match="a design has at most 0 tables, this one 1"):
        tools.check_design(text=TABLE)


def test_a_simulation_without_a_source_says_what_it_takes(tools):
    with pytest.raises(DocumentError, match="give exactly one of model, text and path"):
        tools.simulate()


def test_an_answer_stays_small(tools):
    many = "".join(TABLE.replace("events", f"events{n}") for n in range(60))
    answer = tools.check_design(text=many)
    assert len(json.dumps(asdict(answer))) <= MOST_CHARACTERS
    assert answer.left_out == sum(answer.counts.values()) - len(answer.findings) > 0


# simulate and compare


def test_a_model_is_simulated(tools):
    """ICH-102."""
    answer = tools.simulate(model={"workload": WORKLOAD, "designs": [SMALL]}, worlds=3)

    assert (answer.name, answer.grade, answer.risk.chance) == ("small", "throttles", 1.0)
    assert answer.risk.worlds == 3
    assert answer.fix == "provision 46 write units on the table"
    assert answer.patterns[0].reasons
    assert answer.monthly_cost > 0
    assert "3 worlds" in answer.assumptions[0]
    assert answer.paragraph.startswith("small throttles after")


def test_a_lab_file_below_the_folder_is_simulated_by_the_name_of_a_design(tools, tmp_path):
    (tmp_path / "lab.yaml").write_text(
        json.dumps({"workload": WORKLOAD, "designs": [SMALL, LARGE]})
    )
    answer = tools.simulate(path="lab.yaml", design="large", worlds=2)
    assert (answer.name, answer.grade) == ("large", "fine")
    with pytest.raises(DocumentError, match="there is no design 'huge'; there are small, large"):
        tools.simulate(path="lab.yaml", design="huge")


def test_a_data_model_of_the_agent_toolkit_is_simulated(tools):
    """ICH-10, ICH-102."""
    model = {
        "tables": [
            {
                "table_name": "Orders",
                "key_schema": {"partition_key": "order_id"},
                "entities": [{"entity_name": "Order", "estimated_item_count": 100}],
            }
        ],
        "access_patterns": [
            {"pattern_id": "W1", "operation": "PutItem", "table": "Orders", "peak_rps": 5}
        ],
    }
    answer = tools.simulate(model=model, worlds=1, seconds=2, skew="uniform")
    assert answer.grade in ("fine", "tight")
    assert [pattern.name for pattern in answer.patterns] == ["W1"]
    assert len(answer.assumptions) > 3


def test_load_skew_and_length_can_be_set_and_are_stated(tools):
    model = {"workload": WORKLOAD, "designs": [SMALL]}
    answer = tools.simulate(model=model, load=2, skew="zipf:1.1", seconds=5, worlds=2)
    assert answer.grade == "throttles"
    assert answer.assumptions[1:4] == [
        "Only 5 of 10 seconds were played.",
        "Every field's values are used as zipf:1.1 says.",
        "The load is 2 times the workload's.",
    ]


def test_a_peak_that_is_not_played_is_stated(tools):
    [pattern] = WORKLOAD["patterns"]
    ramp = {"ramp": {"start": 1, "end": 40, "over": 1000}}
    workload = WORKLOAD | {"patterns": [pattern | {"rate": ramp}]}
    answer = tools.simulate(model={"workload": workload, "designs": [LARGE]}, worlds=1)
    assert "and never its peak of 40" in answer.assumptions[-1]


def test_designs_are_compared_and_the_best_comes_first(tools):
    answer = tools.compare(workload=WORKLOAD, designs=[SMALL, LARGE], worlds=2)
    assert (answer.best, [design.name for design in answer.designs]) == (
        "large",
        ["large", "small"],
    )
    assert answer.paragraph.startswith("Best: large.")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"worlds": 0}, "worlds is a number from 1 to 200, not 0"),
        ({"seconds": 100_000}, "seconds is a number from 1 to 3600"),
        (
            {"skew": "pareto"},
            "a skew is uniform, 80/20, zipf:S, hotspot:KEYS,SHARE or one-tenant, such as "
            "zipf:1.1, not 'pareto'",
        ),
        ({"skew": "zipf:x"}, "a skew is uniform"),
        ({"text": "a"}, "give exactly one of model, text and path"),
    ],
)
def test_what_is_out_of_bounds_is_told(tools, arguments, complaint):
    with pytest.raises(DocumentError, match=complaint):
        tools.simulate(model={"workload": WORKLOAD, "designs": [SMALL]}, **arguments)


def test_a_workload_that_is_too_large_or_takes_too_long_is_refused(tmp_path):
    huge = WORKLOAD | {"fields": {"userId": {"count": 2_000_000}}}
    with pytest.raises(DocumentError, match="at most 1,000,000 field values"):
        Tools(tmp_path).simulate(model={"workload": huge, "designs": [SMALL]})
    with pytest.raises(DocumentError, match="was stopped after 0 seconds"):
        Tools(tmp_path, time_limit=0).simulate(model={"workload": WORKLOAD, "designs": [SMALL]})


def test_patterns_are_bounded_alone_and_with_their_values(tools):
    [pattern] = WORKLOAD["patterns"]
    many = WORKLOAD | {"patterns": [pattern | {"name": f"p{n}"} for n in range(101)]}
    with pytest.raises(DocumentError, match="the number of patterns is a number from 1 to 100"):
        tools.simulate(model={"workload": many, "designs": [SMALL]})
    wide = {"fields": {"userId": {"count": 600_000}}, "patterns": many["patterns"][:2]}
    with pytest.raises(DocumentError, match="this one 600,000 times 2: simulate a smaller"):
        tools.simulate(model={"workload": WORKLOAD | wide, "designs": [SMALL]})


def test_two_to_eight_designs_are_compared(tools):
    with pytest.raises(DocumentError, match="compare takes 2 to 8 designs, not 1"):
        tools.compare(workload=WORKLOAD, designs=[SMALL])


def test_a_broken_model_names_the_field(tools):
    with pytest.raises(DocumentError, match=r"model: designs\[0\]\.partition: no field 'user'"):
        tools.simulate(model={"workload": WORKLOAD, "designs": [SMALL | {"partition": "{user}"}]})


# execute


def test_requests_are_served_and_time_is_virtual(tools):
    """ICH-102: a refusal is a result."""
    assert tools.execute(operation="CreateTable", request=CREATE).ok
    put = {"TableName": "orders", "Item": {"id": {"S": "a"}}}

    served = tools.execute(operation="PutItem", request=put)
    refused = [tools.execute(operation="PutItem", request=put) for _ in range(3)][-1]
    later = tools.execute(operation="PutItem", request=put, advance_seconds=60)

    assert (served.ok, served.write, served.read) == (True, 1.0, 0.0)
    assert refused.error.code == "ProvisionedThroughputExceededException"
    assert refused.error.reasons == ["TableWriteProvisionedThroughputExceeded"]
    assert refused.paragraph.startswith("Refused: ProvisionedThroughputExceededException")
    assert later.ok


def test_a_wrong_request_is_refused_as_the_service_does(tools):
    answer = tools.execute(operation="GetItem", request={"TableName": "none"})
    assert (answer.ok, answer.error.code) == (False, "ValidationException")
    assert tools.execute(operation="Guess", request={}).error.code == "UnknownOperationException"


def test_reset_begins_anew_and_time_is_bounded(tools):
    tools.execute(operation="CreateTable", request=CREATE)
    assert tools.execute(operation="ListTables", request={}, reset=True).response == {
        "TableNames": []
    }
    with pytest.raises(DocumentError, match="advance_seconds is a number from 0 to 86400, not -1"):
        tools.execute(operation="ListTables", request={}, advance_seconds=-1)


def test_a_long_response_is_cut(tools):
    tools.execute(operation="CreateTable", request=CREATE | {"BillingMode": "PROVISIONED"})
    large = {"S": "x" * 900}
    for number in range(12):
        item = {"id": {"S": str(number)}, "text": large}
        put = {"TableName": "orders", "Item": item}
        assert tools.execute(operation="PutItem", request=put, advance_seconds=5).ok
    answer = tools.execute(operation="Scan", request={"TableName": "orders"}, advance_seconds=60)
    assert answer.response["Count"] == 12
    assert len(answer.response["Items"]) + answer.left_out == 12
    assert len(json.dumps(asdict(answer))) < MOST_CHARACTERS + 1000


# explain_throttle


def test_a_reason_is_explained_with_its_cures(tools):
    error = {
        "Error": {"Code": "ThrottlingException"},
        "ThrottlingReasons": [
            {
                "reason": "TableWriteKeyRangeThroughputExceeded",
                "resource": "arn:aws:dynamodb:us-east-1:1:table/events",
            }
        ],
    }
    answer = tools.explain_throttle(error=error)
    assert (answer.reason, answer.resource, answer.axis, answer.limit) == (
        "TableWriteKeyRangeThroughputExceeded",
        "events",
        "write",
        1000,
    )
    assert "One partition of events" in answer.meaning
    assert "suffix" in answer.cures[0].change
    assert "What helps:" in answer.paragraph


def test_the_design_tells_the_provisioned_limit(tools):
    answer = tools.explain_throttle(
        error="TableWriteProvisionedThroughputExceeded", table="events", text=TABLE
    )
    assert answer.limit == 250
    assert "than are provisioned (250)" in answer.meaning


def test_an_index_that_cannot_keep_up_is_named_first(tools):
    answer = tools.explain_throttle(error="IndexWriteProvisionedThroughputExceeded")
    assert "its index cannot take them" in answer.meaning
    assert "to what its table's writes ask of it" in answer.cures[0].change


def test_an_error_without_reasons_says_what_it_may_be(tools):
    answer = tools.explain_throttle(error="ProvisionedThroughputExceededException: ...", table="t")
    assert (answer.reason, answer.limit, answer.resource) == (None, None, "t")
    assert "does not say which limit" in answer.meaning


def test_the_sentence_of_an_on_demand_maximum_is_known(tools):
    text = (
        "ThrottlingException: Throughput exceeds the maximum OnDemandThroughput configured on "
        "table or index"
    )
    assert "OnDemandThroughput" in tools.explain_throttle(error=text).cures[0].change


def test_what_is_no_throttling_error_is_told(tools):
    with pytest.raises(DocumentError, match="this is no throttling error"):
        tools.explain_throttle(error="ValidationException: no")


def test_the_page_on_agents_can_be_followed():
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "agents.md").read_text()
    [block] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(compile(block, "agents.md", "exec"), {})


def test_a_text_that_cannot_be_read_is_called_a_text(tools):
    with pytest.raises(DocumentError, match=r"^text:1: not Terraform: expected a value"):
        tools.check_design(text="a = ", format="terraform")


@pytest.mark.parametrize(
    ("error", "beginning"),
    [
        ("TableWriteKeyRangeThroughputExceeded", "One partition of the table was asked for more"),
        ("IndexReadProvisionedThroughputExceeded", "The index used more read units in a second"),
        (
            "ThrottlingException: Throughput exceeds the maximum OnDemandThroughput configured on "
            "table or index",
            "The table reached the on-demand maximum that its owner set for read or write units.",
        ),
        (
            "RequestLimitExceeded: Throughput exceeds the current throughput limit for your "
            "account. Please contact AWS Support",
            "The account's quota of read or write units in this region",
        ),
    ],
)
def test_a_meaning_is_a_sentence(tools, error, beginning):
    assert tools.explain_throttle(error=error).meaning.startswith(beginning)
