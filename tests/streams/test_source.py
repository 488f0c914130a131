"""Event sources through the one way in: batches, errors, reports, windows, time."""

import asyncio
import json
import threading

import pytest

from emulator import Emulator, EmulatorError, ManualClock, SystemClock
from emulator.clock import loop
from emulator.service.errors import EventSourceWarning
from emulator.strategies import create_request
from emulator.streams import InvocationRefused
from tests.streams.sources import Handler, failing, keys_of, numbers_of, put, streamed
from tests.tables import table


def drained(emu, handler, **settings):
    """Return the deliveries of one source over everything in the stream."""
    with emu.event_source("tab", handler, **settings) as source:
        deliveries = source.drain()
        source.check()
    return deliveries


# Batches


def test_a_batch_ends_by_count():
    """EVS-9."""
    emu, handler = streamed(), Handler()
    put(emu, *"abcde")
    deliveries = drained(emu, handler, batch_size=2)
    assert handler.keys == [["a", "b"], ["c", "d"], ["e"]]
    assert [delivery.records for delivery in deliveries] == [2, 2, 1]
    assert deliveries[0].sequence_numbers == tuple(numbers_of(handler.events[0]))


def test_a_batch_that_is_not_full_waits_for_its_window():
    """EVS-9: it begins with the first record."""
    emu, handler = streamed(), Handler()
    with emu.event_source("tab", handler, batch_size=3, batch_window=300):
        put(emu, "a")
        emu.clock.advance(200)
        put(emu, "b")
        emu.clock.advance(99)
        assert handler.keys == []
        emu.clock.advance(1)
        assert handler.keys == [["a", "b"]]
        put(emu, *"cde")
        emu.clock.advance(0)
    assert handler.keys == [["a", "b"], ["c", "d", "e"]]


def test_a_batch_ends_at_six_megabytes():
    """EVS-9."""
    emu, handler = streamed(), Handler()
    put(emu, *range(18), pad="x" * 390_000)
    drained(emu, handler, batch_size=10_000)
    assert [len(keys) for keys in handler.keys] == [16, 2]
    assert len(json.dumps(handler.events[0]["Records"])) <= 6 * 2**20


def test_filtered_records_are_passed_over_and_do_not_fill_a_batch():
    """EVS-15."""
    emu, handler = streamed(), Handler()
    for key, status in zip("abcdef", ["new", "paid"] * 3, strict=True):
        put(emu, key, status=status)
    emu.table("tab").delete_item(Key={"pk": "b"})
    paid = {"eventName": ["INSERT"], "dynamodb": {"NewImage": {"status": {"S": ["paid"]}}}}
    with emu.event_source("tab", handler, batch_size=2, filters=[json.dumps(paid)]) as source:
        source.drain()
        assert handler.keys == [["b", "d"], ["f"]]
        assert (source.metrics.polled, source.metrics.filtered) == (7, 4)


def test_latest_begins_when_its_creation_has_taken_effect():
    """EVS-3."""
    emu, handler = streamed(), Handler()
    put(emu, "before")
    with emu.event_source(
        "tab", handler, starting_position="LATEST", activation_delay=120
    ) as source:
        put(emu, "missed")
        emu.clock.advance(120)
        put(emu, "seen")
        source.drain()
    assert handler.keys == [["seen"]]


def test_at_trim_horizon_nothing_is_missed():
    """EVS-3."""
    emu, handler = streamed(), Handler()
    put(emu, "before")
    with emu.event_source("tab", handler, activation_delay=120) as source:
        put(emu, "early")
        [delivery] = source.drain()
    assert handler.keys == [["before", "early"]]
    assert delivery.at == emu.clock.now()
    assert delivery.iterator_age_ms == 120_000


# Errors


def test_a_batch_that_fails_blocks_its_shard_until_its_retries_are_used():
    """EVS-17, EVS-18."""
    emu, handler, documents = streamed(), Handler(bad="b"), []
    put(emu, *"abcd")
    deliveries = drained(emu, handler, batch_size=2, retries=2, on_failure=documents.append)
    assert handler.keys == [["a", "b"]] * 3 + [["c", "d"]]
    assert [delivery.at - deliveries[0].at for delivery in deliveries] == [0, 1, 3, 3]
    assert [repr(delivery.error) for delivery in deliveries[2:]] == ["ValueError('bad')", "None"]
    assert documents[0]["DDBStreamBatchInfo"]["batchSize"] == 2


def test_bisecting_uses_no_retry_and_isolates_the_bad_record():
    """EVS-17."""
    emu, handler, documents = streamed(), Handler(bad="c"), []
    put(emu, *"abcd")
    drained(emu, handler, retries=0, bisect_on_error=True, on_failure=documents.append)
    assert handler.keys == [list("abcd"), ["a", "b"], ["c", "d"], ["c"], ["d"]]
    [info] = [document["DDBStreamBatchInfo"] for document in documents]
    assert info["startSequenceNumber"] == info["endSequenceNumber"] == "100000000000000000003"


def test_records_that_are_too_old_are_dropped_and_the_others_sent():
    """EVS-18."""
    emu, handler, documents = streamed(), Handler(), []
    put(emu, "old")
    emu.clock.advance(100)
    put(emu, "young")
    drained(emu, handler, max_record_age=60, on_failure=documents.append)
    assert handler.keys == [["young"]]
    [document] = documents
    assert document["requestContext"]["condition"] == "RecordAgeExceeded"
    assert document["requestContext"]["approximateInvokeCount"] == 0
    assert "responseContext" not in document
    assert document["DDBStreamBatchInfo"]["batchSize"] == 1


def test_retries_end_at_the_age_of_records():
    """EVS-18."""
    emu, handler, documents = streamed(), Handler(bad="a"), []
    put(emu, "a")
    drained(emu, handler, max_record_age=60, on_failure=documents.append)
    assert len(handler.keys) == 6  # after 0, 1, 3, 7, 15 and 31 seconds
    assert documents[0]["requestContext"]["condition"] == "RecordAgeExceeded"
    assert documents[0]["responseContext"]["functionError"] == "Unhandled"


def test_with_the_defaults_one_bad_record_blocks_its_shard_for_a_day_and_is_named():
    """EVS-18."""
    emu, handler, documents = streamed(), Handler(bad="a"), []
    put(emu, "a")
    before = emu.clock.now()
    with (
        pytest.warns(EventSourceWarning, match=r"Handler has failed 3 times .*'pk': {'S': 'a'}"),
        emu.event_source("tab", handler, on_failure=documents.append) as source,
    ):
        source.drain()
    assert 24 * 3600 <= emu.clock.now() - before < 24 * 3600 + 61
    assert len(handler.keys) > 1400
    assert documents[0]["requestContext"]["condition"] == "RecordAgeExceeded"


def test_on_real_time_a_blocked_shard_is_an_error_of_drain():
    """EVS-18."""

    class Quick(SystemClock):
        def sleep(self, seconds):
            """Take no time: only the order of events counts."""
            self._latest += round(seconds * 1e9)

        def now_ns(self):
            self._latest = max(self._latest, 1_767_225_600_000_000_000)
            return self._latest

    emu = streamed(clock=Quick())
    put(emu, "a")
    with emu.event_source("tab", Handler(bad="a")) as source:
        source._closing.set()  # the thread polls no more: drain alone delivers
        source._poller.join()
        with pytest.raises(EmulatorError, match="Handler has failed 3 times on the batch"):
            source.drain()


def test_a_refused_call_uses_no_retry():
    """EVS-19."""
    emu, calls = streamed(), []

    def handler(event, context):
        calls.append(keys_of(event))
        if len(calls) < 4:
            raise InvocationRefused

    put(emu, "a")
    with emu.event_source("tab", handler, retries=0) as source:
        source.drain()
        assert calls == [["a"]] * 4
        assert (source.metrics.delivered, source.metrics.dropped) == (1, 0)


def test_a_call_that_is_always_refused_ends_by_age():
    """EVS-19."""
    emu, documents = streamed(), []

    def handler(event, context):
        raise InvocationRefused

    put(emu, "a")
    drained(emu, handler, retries=0, max_record_age=60, on_failure=documents.append)
    assert documents[0]["requestContext"]["condition"] == "RecordAgeExceeded"


def test_a_retry_gets_the_event_as_it_was():
    emu, seen = streamed(), []

    def handler(event, context):
        seen.append(keys_of(event))
        event["Records"][0]["dynamodb"].clear()
        event["Records"].pop()
        if len(seen) < 3:
            raise ValueError

    put(emu, "a", "b")
    drained(emu, handler)
    assert seen == [["a", "b"]] * 3


def test_an_interrupted_handler_gets_its_batch_again():
    emu, calls = streamed(), []

    def handler(event, context):
        calls.append(keys_of(event))
        if len(calls) == 1:
            raise KeyboardInterrupt

    put(emu, "a")
    with emu.event_source("tab", handler) as source:
        with pytest.raises(KeyboardInterrupt):
            source.drain()
        source.check()
        source.drain()
    assert calls == [["a"], ["a"]]


def test_an_answer_that_is_no_json_is_a_function_error():
    emu = streamed()
    put(emu, "a")
    [delivery] = drained(emu, Handler(answer={1, 2}), retries=0)
    assert "Unable to marshal response" in str(delivery.error)


def test_what_breaks_on_the_way_to_a_call_loses_no_record():
    emu, handler = streamed(), Handler()

    def on_failure(document):
        raise RuntimeError("the queue is full")

    put(emu, "old")
    emu.clock.advance(100)
    put(emu, "young")
    settings = {"max_record_age": 60, "on_failure": on_failure}
    with emu.event_source("tab", handler, **settings) as source:
        with pytest.raises(RuntimeError, match="the queue is full"):
            source.drain()
        source.drain()
        source.check()
    assert handler.keys == [["young"]]


def test_a_warning_that_is_an_error_loses_no_record():
    """EVS-23."""
    emu, handler = streamed(), Handler(answer=failing("a"))
    put(emu, "a", "b")
    with emu.event_source("tab", handler, batch_size=1) as source:
        with pytest.raises(EventSourceWarning):
            source.drain()
        source.drain()
        source.check()
    assert handler.keys == [["a"], ["b"]]


# Reports of failed items


def test_what_comes_after_the_first_failed_item_is_sent_again():
    """EVS-21."""
    emu, handler, documents = streamed(), Handler(answer=failing("b", "d")), []
    put(emu, *"abcde")
    drained(emu, handler, retries=1, report_item_failures=True, on_failure=documents.append)
    assert handler.keys == [list("abcde"), list("bcde")]
    assert "functionError" not in documents[0]["responseContext"]
    assert documents[0]["DDBStreamBatchInfo"]["batchSize"] == 4


def test_with_bisecting_a_report_splits_the_batch_and_uses_no_retry():
    """EVS-23."""
    emu, handler, documents = streamed(), Handler(answer=failing("c")), []
    put(emu, *"abcde")
    settings = {"retries": 0, "bisect_on_error": True, "report_item_failures": True}
    drained(emu, handler, on_failure=documents.append, **settings)
    assert handler.keys == [list("abcde"), list("cde"), ["c"], ["d", "e"]]
    assert documents[0]["DDBStreamBatchInfo"]["batchSize"] == 1


def test_an_error_bisects_whatever_is_reported():
    """EVS-23."""
    emu, handler = streamed(), Handler(bad="a")
    put(emu, "a", "b")
    drained(emu, handler, retries=0, bisect_on_error=True, report_item_failures=True)
    assert handler.keys == [["a", "b"], ["a"], ["b"]]


def test_a_report_without_the_setting_is_ignored_and_warned_about_once():
    """EVS-23."""
    emu, handler = streamed(), Handler(answer=failing("a"))
    put(emu, "a", "b")
    with (
        pytest.warns(EventSourceWarning, match="the records that it names are lost") as caught,
        emu.event_source("tab", handler, batch_size=1) as source,
    ):
        source.drain()
    assert len(caught) == 1
    assert source.metrics.delivered == 2


# Order


def test_under_parallelization_the_order_is_kept_for_each_item():
    """EVS-16."""
    emu, handler = streamed(), Handler()
    for version in range(3):
        put(emu, *"abcdefgh", version=version)
    with emu.event_source("tab", handler, parallelization_factor=4, batch_size=4) as source:
        source.drain()
    sent = [record["dynamodb"] for event in handler.events for record in event["Records"]]
    assert len(sent) == 24
    assert [change["SequenceNumber"] for change in sent] != sorted(
        change["SequenceNumber"] for change in sent
    )
    for key in "abcdefgh":
        versions = [c["NewImage"]["version"]["N"] for c in sent if c["Keys"]["pk"]["S"] == key]
        assert versions == ["0", "1", "2"]


def test_a_failing_item_holds_up_its_part_of_the_shard_only():
    """EVS-16."""
    emu, handler = streamed(), Handler(bad="a")
    put(emu, *"abcdefgh")
    drained(emu, handler, parallelization_factor=10, retries=1, batch_size=1)
    first = handler.keys.index(["a"])
    again = handler.keys.index(["a"], first + 1)
    assert again >= 7  # another item may share its part
    assert len({key for keys in handler.keys[:again] for key in keys}) == again


def test_parents_come_before_their_children():
    """EVS-27."""
    emu = streamed(stream_shards="partitions", partition_bytes=4 * 1024, on_demand_partitions=1)
    for version in range(4):
        put(emu, *range(20), version=version, pad="x" * 400)
    stream = emu.account().tables["tab"].stream
    parents = {shard.id: shard.parent for shard in stream.shards}
    ids = {shard.number: shard.id for shard in stream.shards}
    assert any(parent is not None for parent in parents.values())
    handler = Handler(bad=["7"])
    deliveries = drained(emu, handler, batch_size=5, retries=2)
    last = {delivery.shard_id: place for place, delivery in enumerate(deliveries)}
    first = {delivery.shard_id: place for place, delivery in reversed(list(enumerate(deliveries)))}
    for shard_id, parent in parents.items():
        if parent is not None and shard_id in first and ids[parent] in last:
            assert last[ids[parent]] < first[shard_id]


# Duplicates


def test_batches_are_sent_twice_on_request_the_same_in_every_run():
    """EVS-26."""

    def run(seed):
        emu, handler = streamed(), Handler()
        put(emu, *range(40))
        drained(emu, handler, batch_size=1, at_least_once=seed)
        return handler.sent

    once, twice = run(None), run(7)
    assert len(once) == 40
    assert set(twice) == set(once)
    assert len(once) < len(twice) < 80
    assert twice == run(7) != run(8)


# Windows


def counting(event, context):
    """Count the records of a window."""
    return {"state": {"count": event["state"].get("count", 0) + len(event["Records"])}}


def test_a_window_keeps_a_state_and_its_last_call_says_so():
    """EVS-24."""
    emu, events = streamed(), []

    def handler(event, context):
        events.append(event)
        return counting(event, context)

    put(emu, *"abc")
    emu.clock.advance(61)
    put(emu, "d")
    deliveries = drained(emu, handler, tumbling_window=60, batch_size=2)
    assert [
        (len(e["Records"]), e["state"], e["isFinalInvokeForWindow"], e["window"]["start"][11:])
        for e in events
    ] == [
        (2, {}, False, "00:00:00Z"),
        (1, {"count": 2}, False, "00:00:00Z"),
        (0, {"count": 3}, True, "00:00:00Z"),
        (1, {}, False, "00:01:00Z"),
        (0, {"count": 1}, True, "00:01:00Z"),
    ]
    assert events[0]["window"]["end"] == "2026-01-01T00:01:00Z"
    assert events[0]["shardId"] == deliveries[0].shard_id
    assert events[0]["eventSourceARN"] == events[0]["Records"][0]["eventSourceARN"]
    assert not any(event["isWindowTerminatedEarly"] for event in events)
    assert deliveries[2].sequence_numbers == ()
    assert emu.clock.now() == 1_767_225_600 + 120


def test_a_state_that_is_too_large_ends_its_window_early():
    """EVS-24."""
    emu, events = streamed(), []

    def handler(event, context):
        events.append(event)
        return {"state": {"pad": "x" * 2**20} if event["Records"] else {}}

    put(emu, "a", "b")
    drained(emu, handler, tumbling_window=60, batch_size=1)
    finals = [
        (event["isFinalInvokeForWindow"], event["isWindowTerminatedEarly"]) for event in events
    ]
    assert finals == [(False, False), (True, True), (False, False), (True, True), (True, False)]
    assert events[2]["state"] == {}


def test_an_answer_without_a_state_has_failed():
    """EVS-24."""
    emu, documents = streamed(), []
    put(emu, "a")
    deliveries = drained(emu, Handler(), tumbling_window=60, retries=1, on_failure=documents.append)
    assert "has to return its state" in str(deliveries[0].error)
    assert documents[0]["requestContext"]["condition"] == "RetryAttemptsExhausted"


def test_a_call_that_failed_has_changed_no_state():
    """EVS-24."""
    emu, states = streamed(), []

    def handler(event, context):
        states.append(dict(event["state"]))
        event["state"]["calls"] = len(states)
        if len(states) == 2:
            raise ValueError
        return {"state": event["state"]}

    put(emu, "a", "b")
    drained(emu, handler, tumbling_window=60, batch_size=1)
    assert states == [{}, {"calls": 1}, {"calls": 1}, {"calls": 3}]


def test_a_last_call_that_is_given_up_drops_its_state():
    """EVS-24."""
    emu, calls = streamed(), []

    def handler(event, context):
        calls.append(event["isFinalInvokeForWindow"])
        if event["isFinalInvokeForWindow"]:
            raise ValueError
        return {"state": {}}

    put(emu, "a")
    with emu.event_source("tab", handler, tumbling_window=60, retries=2) as source:
        source.drain()
        assert calls == [False, True, True, True]
        assert source.drain() == []


def test_a_last_call_that_always_fails_ends_a_day_after_its_window():
    """EVS-24."""
    emu = streamed()
    put(emu, "a")
    before = emu.clock.now()
    with emu.event_source("tab", Handler(), tumbling_window=60) as source:
        with pytest.warns(EventSourceWarning, match="has failed 3 times"):
            source.drain()
        source.check()
    assert 24 * 3600 < emu.clock.now() - before < 24 * 3600 + 60 + 61


# Time


def test_nothing_runs_by_itself_on_a_manual_clock():
    """EVS-28."""
    emu, handler = streamed(), Handler()
    with emu.event_source("tab", handler):
        put(emu, "a")
        assert handler.keys == []
        emu.clock.advance(0)
        assert handler.keys == [["a"]]


def test_an_advance_stops_at_each_due_time_and_ends_where_it_was_to_end():
    emu, times = streamed(), []
    before = emu.clock.now()

    def handler(event, context):
        times.append(emu.clock.now() - before)
        raise ValueError

    with emu.event_source("tab", handler, retries=3):
        put(emu, "a")
        emu.clock.advance(5.5)
        assert times == [0, 1, 3]
        assert emu.clock.now() - before == 5.5
        emu.clock.advance(2)
    assert times == [0, 1, 3, 7]


def test_sources_deliver_in_the_order_of_due_times():
    emu, calls = streamed(), []
    emu.call(
        "CreateTable",
        table(StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
        | {"TableName": "other"},
    )
    with (
        emu.event_source("tab", lambda e, c: calls.append("tab"), batch_window=3),
        emu.event_source("other", lambda e, c: calls.append("other"), batch_window=1),
    ):
        put(emu, "a")
        emu.table("other").put_item(Item={"pk": "a"})
        emu.clock.advance(10)
    assert calls == ["other", "tab"]


def test_a_drain_does_not_pass_over_what_another_source_writes():
    emu, handler = streamed(), Handler()
    stream = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    emu.call("CreateTable", table(StreamSpecification=stream) | {"TableName": "other"})
    with (
        emu.event_source("tab", handler, batch_size=2, batch_window=60) as source,
        emu.event_source("other", lambda e, c: put(emu, "b"), batch_window=5),
    ):
        put(emu, "a")
        emu.table("other").put_item(Item={"pk": "a"})
        before = emu.clock.now()
        [delivery] = source.drain()
    assert (handler.keys, delivery.at - before) == ([["a", "b"]], 5)


def test_a_handler_spends_time_by_sleeping_on_the_clock():
    """EVS-4, EVS-29."""
    emu, left = streamed(), []

    def handler(event, context):
        left.append(context.get_remaining_time_in_millis())
        emu.clock.sleep(2.5)
        left.append(context.get_remaining_time_in_millis())

    put(emu, "a", "b")
    with emu.event_source("tab", handler, batch_size=1) as source:
        first, second = source.drain()
        assert left == [3000, 500] * 2
        assert (first.iterator_age_ms, second.iterator_age_ms) == (0, 2500)
        assert source.metrics.most_iterator_age_ms == 2500


def test_a_handler_that_takes_longer_than_its_timeout_has_failed():
    """EVS-4."""
    emu = streamed()
    put(emu, "a")
    [delivery] = drained(emu, lambda e, c: emu.clock.sleep(3.5), retries=0)
    assert str(delivery.error) == "Task timed out after 3.00 seconds"
    [delivery] = drained(emu, lambda e, c: emu.clock.sleep(3.5), timeout=4)
    assert delivery.error is None


def test_a_handler_may_call_the_emulator_from_another_thread():
    """It is called outside every lock."""
    emu, answers = streamed(), []

    def handler(event, context):
        def work():
            emu.clock.advance(1)
            answers.append(emu.table("tab").get_item(Key={"pk": "a"})["Item"])

        thread = threading.Thread(target=work)
        thread.start()
        thread.join(5)

    put(emu, "a")
    with emu.event_source("tab", handler):
        emu.clock.advance(10)
    assert answers == [{"pk": "a"}]


def test_a_handler_that_writes_to_its_own_table_is_named_and_not_endless():
    """EVS-31."""
    emu, calls = streamed(), []

    def busy(event, context):
        calls.append(event)
        put(emu, "a", count=len(calls))

    put(emu, "a")
    with (
        emu.event_source("tab", busy) as source,
        pytest.raises(EmulatorError, match=r"busy of table 'tab' writes to its own table: .* 16"),
    ):
        source.drain()
    assert len(calls) == 17


def test_a_handler_that_answers_a_write_with_another_is_no_loop():
    """EVS-31."""
    emu = streamed()

    def handler(event, context):
        for key in keys_of(event):
            if not key.startswith("copy"):
                put(emu, f"copy of {key}")

    with emu.event_source("tab", handler, batch_size=1) as source:
        for number in range(40):
            put(emu, number)
        source.drain()
        assert source.metrics.delivered == 80


def test_a_handler_cannot_drain_itself():
    emu = streamed()
    put(emu, "a")
    with emu.event_source("tab", lambda e, c: source.drain(), retries=0) as source:
        [delivery] = source.drain()
    assert "cannot drain its own event source" in str(delivery.error)


def test_a_source_reads_while_it_is_entered_only():
    emu, handler = streamed(), Handler()
    source = emu.event_source("tab", handler)
    with pytest.raises(EmulatorError, match="reads nothing: enter it"):
        source.drain()
    with source:
        put(emu, "a")
    emu.clock.advance(10)
    assert handler.keys == []


@pytest.mark.parametrize("is_read", [True, False])
def test_after_a_restore_a_source_goes_on_where_it_was_or_where_the_stream_ends(is_read):
    emu, handler = streamed(), Handler()
    put(emu, "a")
    saved = emu.snapshot()
    with emu.event_source("tab", handler, batch_size=1) as source:
        put(emu, "b")
        if is_read:
            source.drain()
        emu.restore(saved)
        put(emu, "c")
        source.drain()
        source.check()
        emu.reset()
        assert source.drain() == []
    assert handler.sent == (["a", "b", "c"] if is_read else ["a", "c"])


def test_what_waits_when_an_emulator_is_restored_is_dropped():
    emu, handler = streamed(), Handler()
    saved = emu.snapshot()
    with emu.event_source("tab", handler, batch_window=60) as source:
        put(emu, "a")
        emu.clock.advance(1)
        emu.restore(saved)
        emu.clock.advance(60)
        source.check()
        assert (source.metrics.dropped, handler.keys) == (1, [])


def test_on_real_time_a_thread_delivers():
    """EVS-28."""
    emu, called = streamed(clock=SystemClock()), threading.Event()
    with emu.event_source("tab", lambda e, c: called.set()):
        put(emu, "a")
        assert called.wait(10)


def test_what_breaks_the_thread_is_raised_where_it_is_seen():
    emu = streamed(clock=SystemClock())
    broken = threading.Event()

    def on_failure(document):
        broken.set()
        raise RuntimeError("the queue is full")

    with emu.event_source("tab", Handler(bad="a"), retries=0, on_failure=on_failure) as source:
        put(emu, "a")
        assert broken.wait(10)
        source._poller.join()
        with pytest.raises(RuntimeError, match="the queue is full"):
            source.drain()


# asyncio


def test_an_async_handler_sleeps_on_the_clock():
    emu, times = streamed(), []
    before = emu.clock.now()

    async def handler(event, context):
        await asyncio.sleep(2)
        times.append(emu.clock.now() - before)

    put(emu, "a", "b")
    drained(emu, handler, batch_size=1)
    assert times == [2, 4]


def test_adrain_awaits_the_handler_in_the_running_loop():
    emu, seen = streamed(), []

    async def handler(event, context):
        await asyncio.sleep(1)
        seen.append((asyncio.get_running_loop(), keys_of(event)))

    async def main():
        put(emu, "a", "b")
        with emu.event_source("tab", handler, batch_size=1, batch_window=5) as source:
            return await source.adrain(), asyncio.get_running_loop()

    with asyncio.Runner(loop_factory=lambda: loop(emu.clock)) as runner:
        deliveries, running = runner.run(main())
    assert len(deliveries) == 2
    assert seen == [(running, ["a"]), (running, ["b"])]


def test_drain_may_be_called_where_a_loop_runs():
    emu, seen = streamed(), []

    async def handler(event, context):
        await asyncio.sleep(1)
        seen.append(keys_of(event))
        raise ValueError

    async def main():
        put(emu, "a")
        with emu.event_source("tab", handler, retries=1) as source:
            return source.drain()

    with asyncio.Runner(loop_factory=lambda: loop(emu.clock)) as runner:
        deliveries = runner.run(main())
    assert [repr(delivery.error) for delivery in deliveries] == ["ValueError()"] * 2
    assert seen == [["a"]] * 2


# Cost, and who reads


def test_reads_cost_nothing():
    """EVS-5."""
    emu = streamed()
    emu.set_capacity("observe")
    put(emu, "a")
    before = emu.spending()
    drained(emu, Handler())
    assert emu.spending() == before


def test_more_than_two_readers_of_a_stream_are_warned_about():
    """EVS-30."""
    emu, handler = streamed(), Handler()
    with (
        emu.event_source("tab", handler),
        emu.event_source("tab", handler),
        pytest.warns(EventSourceWarning, match="'tab' has 3 readers: with more than 2"),
        emu.event_source("tab", handler),
    ):
        pass


def test_more_than_one_reader_of_a_global_table_is_warned_about():
    """EVS-30."""
    emu = streamed()
    emu.call(
        "UpdateTable",
        {"TableName": "tab", "ReplicaUpdates": [{"Create": {"RegionName": "eu-west-1"}}]},
    )
    with (
        emu.event_source("tab", Handler()),
        pytest.warns(EventSourceWarning, match="has 2 readers: with more than 1"),
        emu.event_source("tab", Handler()),
    ):
        pass


# Bad input


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        (("none", Handler()), EmulatorError, "there is no table 'none'"),
        (("plain", Handler()), EmulatorError, "table 'plain' has no stream: create it with"),
        (("tab", 5), TypeError, "a handler is a callable of (event, context)"),
        (("tab",), TypeError, "an event source has a handler, or kinesis=..., and not both"),
        (("tab", "no.such.handler"), EmulatorError, "'no.such.handler' cannot be imported"),
        (("tab", "nothing"), EmulatorError, "'nothing' cannot be imported"),
    ],
)
def test_bad_input_is_refused_when_the_source_is_made(arguments, error, sentence):
    """EVS-6."""
    emu = streamed()
    emu.call("CreateTable", table() | {"TableName": "plain"})
    with pytest.raises(error) as caught:
        emu.event_source(*arguments)
    assert sentence in str(caught.value)


def test_at_timestamp_is_refused_as_by_the_service():
    """EVS-3."""
    emu = streamed()
    arn = emu.table("tab").latest_stream_arn
    with pytest.raises(ValueError) as caught:
        emu.event_source("tab", Handler(), starting_position="AT_TIMESTAMP")
    assert str(caught.value) == f"Unsupported starting position for arn type: {arn}"


def test_records_that_left_the_stream_unread_are_warned_about(monkeypatch):
    from emulator.engine import streams

    monkeypatch.setattr(streams, "MOST_RECORDS", 3)
    emu, handler = streamed(), Handler()
    with emu.event_source("tab", handler) as source:
        put(emu, *"abcde")
        with pytest.warns(EventSourceWarning, match="2 records of table 'tab' had left its stream"):
            source.drain()
    assert handler.keys == [["c", "d", "e"]]


def test_a_stream_that_was_switched_off_is_delivered_to_its_end():
    emu, handler = streamed(), Handler()
    with emu.event_source("tab", handler) as source:
        put(emu, "a")
        emu.call(
            "UpdateTable", {"TableName": "tab", "StreamSpecification": {"StreamEnabled": False}}
        )
        put(emu, "b")
        source.drain()
    assert handler.keys == [["a"]]


def test_a_clock_does_not_stop_for_a_source_that_has_left():
    emu, handler = streamed(), Handler()
    with emu.event_source("tab", handler):
        pass
    put(emu, "a")
    emu.clock.advance(1)
    assert handler.keys == []


def test_while_adrain_awaits_nobody_else_drains():
    emu, errors = streamed(), []

    async def handler(event, context):
        try:
            source.drain()
        except EmulatorError as error:
            errors.append(str(error))
        await asyncio.sleep(1)

    put(emu, "a")
    with emu.event_source("tab", handler) as source:
        asyncio.run(source.adrain())
    assert errors == ["a handler cannot drain its own event source: it is being drained"]


def test_threads_that_advance_together_deliver_each_record_once():
    emu, handler = streamed(), Handler()
    with emu.event_source("tab", handler, batch_size=1):
        put(emu, *range(50))
        threads = [threading.Thread(target=emu.clock.advance, args=(1,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(handler.sent) == sorted(map(str, range(50)))


def test_what_is_delivered_in_a_trial_is_undone():
    """EVS-2: a run of every_crash sees its own records, and the source stands where it stood."""
    emu = Emulator(clock=ManualClock())
    request = create_request("orders", "id")
    stream = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    emu.call("CreateTable", request | {"StreamSpecification": stream})
    seen = []

    def handler(event, context):
        seen.extend(record["dynamodb"]["Keys"]["id"]["S"] for record in event["Records"])

    orders = emu.table("orders")
    with emu.event_source("orders", handler) as source:
        orders.put_item(Item={"id": "before"})
        source.drain()
        orders.put_item(Item={"id": "waits"})
        for _ in range(2):
            seen.clear()
            with emu.trial():
                orders.put_item(Item={"id": "tried"})
                source.drain()
            assert seen == ["waits", "tried"]
        assert source.metrics.delivered == 1
        source.drain()
        assert seen == ["waits", "tried", "waits"]
        source.check()
