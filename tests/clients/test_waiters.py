from __future__ import annotations

import pytest

from emulator import ManualClock, errors
from emulator.clients import Client, WaiterError
from emulator.clients.waiters import WAITERS


def client_that_answers(*answers):
    """A client whose calls are answered one by one; an ApiError is raised."""
    clock = ManualClock(start=0)
    pending = iter(answers)

    def call(_operation, _request, *, region=None):
        answer = next(pending)
        if isinstance(answer, errors.ApiError):
            raise answer
        return answer

    return Client(call, clock=clock), clock


NOT_FOUND = errors.ResourceNotFoundException("gone")
CREATING = {"Table": {"TableStatus": "CREATING"}}
ACTIVE = {"Table": {"TableStatus": "ACTIVE"}}


def test_waiting_for_a_table_sleeps_on_the_clock():
    client, clock = client_that_answers(NOT_FOUND, CREATING, ACTIVE)
    assert client.get_waiter("table_exists").wait(TableName="t") is None
    assert clock.now() == 40


def test_waiting_for_a_table_to_go():
    client, clock = client_that_answers(ACTIVE, NOT_FOUND)
    client.get_waiter("table_not_exists").wait(TableName="t", WaiterConfig={"Delay": 3})
    assert clock.now() == 3


def test_the_attempts_end():
    client, clock = client_that_answers(CREATING, CREATING)
    with pytest.raises(
        WaiterError, match=r"^Waiter TableExists failed: Max attempts exceeded$"
    ) as end:
        client.get_waiter("table_exists").wait(TableName="t", WaiterConfig={"MaxAttempts": 2})
    assert end.value.last_response["Table"] == {"TableStatus": "CREATING"}
    assert clock.now() == 20


def test_it_asks_at_least_once():
    client, _ = client_that_answers(CREATING)
    with pytest.raises(WaiterError, match="Max attempts exceeded"):
        client.get_waiter("table_exists").wait(TableName="t", WaiterConfig={"MaxAttempts": 0})


def test_an_unexpected_error_ends_the_wait():
    client, _ = client_that_answers(errors.ValidationException("wrong"))
    with pytest.raises(WaiterError, match=r"An error occurred \(ValidationException\): wrong"):
        client.get_waiter("table_exists").wait(TableName="t")


STATES = [
    ("contributor_insights_enabled", {"ContributorInsightsStatus": "ENABLED"}, None),
    ("contributor_insights_enabled", {"ContributorInsightsStatus": "FAILED"}, "failed"),
    ("export_completed", {"ExportDescription": {"ExportStatus": "COMPLETED"}}, None),
    ("export_completed", {"ExportDescription": {"ExportStatus": "FAILED"}}, "failed"),
    ("import_completed", {"ImportTableDescription": {"ImportStatus": "COMPLETED"}}, None),
    ("import_completed", {"ImportTableDescription": {"ImportStatus": "CANCELLED"}}, "failed"),
    (
        "kinesis_streaming_destination_active",
        {
            "KinesisDataStreamDestinations": [
                {"DestinationStatus": "DISABLED"},
                {"DestinationStatus": "ACTIVE"},
            ]
        },
        None,
    ),
    (
        "kinesis_streaming_destination_active",
        {"KinesisDataStreamDestinations": [{"DestinationStatus": "ENABLE_FAILED"}]},
        "failed",
    ),
    (
        "kinesis_streaming_destination_active",
        {"KinesisDataStreamDestinations": []},
        "exhausted",
    ),
    ("export_completed", {}, "exhausted"),
]


@pytest.mark.parametrize(("name", "response", "end"), STATES)
def test_states_are_read_as_the_sdk_reads_them(name, response, end):
    config = {"MaxAttempts": 1}
    assert _ours(name, response, config) == end
    assert _theirs(name, response, config) == end


def _ours(name, response, config):
    client, _ = client_that_answers(response)
    return _end(WaiterError, lambda: client.get_waiter(name).wait(WaiterConfig=config))


def _theirs(name, response, config):
    """The same question to botocore's waiter model."""
    botocore_waiter = pytest.importorskip("botocore.waiter")
    session = pytest.importorskip("botocore.session").get_session()
    model = botocore_waiter.WaiterModel(
        session.get_component("data_loader").load_service_model("dynamodb", "waiters-2")
    )
    waiter_name = WAITERS[name].name
    waiter = botocore_waiter.Waiter(
        waiter_name, model.get_waiter(waiter_name), lambda **_: response
    )
    error = pytest.importorskip("botocore.exceptions").WaiterError
    return _end(error, lambda: waiter.wait(WaiterConfig=config))


def _end(error, wait):
    try:
        wait()
    except error as failure:
        return "exhausted" if "Max attempts" in str(failure) else "failed"
    return None


def test_the_waiters_are_those_of_the_sdk():
    session = pytest.importorskip("botocore.session").get_session()
    xform_name = pytest.importorskip("botocore").xform_name
    model = session.get_component("data_loader").load_service_model("dynamodb", "waiters-2")
    theirs = {
        xform_name(name): (
            name,
            xform_name(waiter["operation"]),
            waiter["delay"],
            waiter["maxAttempts"],
        )
        for name, waiter in model["waiters"].items()
    }
    # An older SDK than ours lacks that of bulk puts.
    newer = {"bulk_operation_completed"} - theirs.keys()
    assert {
        name: (waiting.name, waiting.operation, waiting.delay_seconds, waiting.max_attempts)
        for name, waiting in WAITERS.items()
        if name not in newer
    } == theirs
