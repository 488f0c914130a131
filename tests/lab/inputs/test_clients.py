"""Clients as a person states them."""

import pytest

from emulator.lab import Clients, Pattern, Workload
from emulator.lab.files import loads
from emulator.service.errors import DocumentError

PUT = Pattern("put", "PutItem", rate=1)
FILE = """\
workload:
  fields: {{userId: {{count: 5}}}}
  patterns: [{{name: put, operation: PutItem, rate: 1}}]
{lines}
designs: [{{name: d, partition: "{{userId}}"}}]
"""


def workload_of(*lines):
    text = FILE.format(lines="\n".join(f"  {line}" for line in lines))
    return loads(text, "lab.yaml").workload


def test_a_number_of_clients_means_what_it_always_meant():
    workload = workload_of("clients: 7")

    assert workload.callers == Clients(count=7)
    assert workload == Workload(
        fields=workload.fields, patterns=workload.patterns, clients=Clients(count=7)
    )
    assert workload.to_document()["clients"] == 7
    assert workload.retry == "legacy"


def test_clients_are_read_from_a_mapping_and_written_as_one():
    """CAP2-9."""
    workload = workload_of(
        "clients: {count: 20, concurrency: 4, timeout: 2s, retries: adaptive, jitter: false, "
        "batch_retry: backoff}"
    )

    expected = Clients(count=20, concurrency=4, timeout=2.0, jitter=False, batch_retry="backoff")
    assert workload.callers == expected
    assert workload.retry == "adaptive"
    assert Workload.from_document(workload.to_document()) == workload


def test_the_clients_decide_on_jitter_and_the_mode_if_they_do_not():
    assert not Workload(patterns=[PUT]).policy(PUT).jitter
    jittered = Workload(patterns=[PUT], clients=Clients(jitter=True))
    assert jittered.policy(PUT).jitter
    steady = Workload(patterns=[PUT], clients=Clients(jitter=False), retry="standard")
    assert not steady.policy(PUT).jitter


def test_nothing_is_an_open_loop():
    workload = workload_of("clients: {concurrency: null, timeout: null}")

    assert workload.callers == Clients()


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("clients: 0", "lab.yaml:4: workload.clients: expected a whole number of at least 1"),
        ("clients: {counts: 1}", "workload.clients.counts: unknown field; did you mean 'count'"),
        ("clients: {concurrency: 0}", "workload.clients.concurrency: expected a whole number of"),
        ("clients: {timeout: 0}", "workload.clients.timeout: expected a number above 0"),
        ("clients: {batch_retry: x}", "expected one of none, requeue, backoff, found 'x'"),
        (
            "clients: {retries: x}",
            "lab.yaml:4: workload.clients.retries: expected one of none, legacy, standard, "
            "adaptive, standard-2026, found 'x'",
        ),
    ],
)
def test_what_clients_cannot_be_is_said_with_its_line(line, complaint):
    with pytest.raises(DocumentError, match=complaint):
        workload_of(line)


def test_the_retry_mode_stands_in_one_place():
    with pytest.raises(
        DocumentError, match=r"lab.yaml:5: workload.retry: 'retries' of the clients"
    ):
        workload_of("clients: {retries: none}", "retry: legacy")


@pytest.mark.parametrize(
    "options",
    [{"count": 0}, {"concurrency": 0}, {"timeout": 0.0}, {"batch_retry": "always"}],
)
def test_clients_that_make_no_sense_are_refused(options):
    with pytest.raises(ValueError, match=r"Clients(\.| takes )"):
        Clients(**options)
