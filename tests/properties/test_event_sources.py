"""Event sources against a naive model: a list of records and a pointer for each shard.

The records of each shard are read through the Streams API, which the source does not use. A call
of the handler has to take its records from the list, in order, from where the pointer stands; what
the call has settled moves the pointer. At the end every record was delivered, filtered out, or
lies in the range of a failure document.
"""

from typing import NamedTuple

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from emulator.streams import InvocationRefused
from tests.streams.sources import put, streamed

KEYS = [f"k{number}" for number in range(8)]
#: What handlers do with a record, by its attribute ``fate``.
FATES = st.sampled_from(["good", "good", "good", "flaky", "bad"])
SETTINGS = st.fixed_dictionaries(
    {
        "batch_size": st.integers(1, 5),
        "batch_window": st.sampled_from([0, 0, 7]),
        "parallelization_factor": st.sampled_from([1, 1, 3]),
        "retries": st.integers(0, 2),
        "max_record_age": st.sampled_from([-1, -1, 60]),
        "bisect_on_error": st.booleans(),
        "report_item_failures": st.booleans(),
        "filters": st.sampled_from([(), ({"eventName": ["INSERT", "MODIFY"]},)]),
        "at_least_once": st.sampled_from([None, None, 5]),
        "tumbling_window": st.sampled_from([0, 0, 0, 20]),
    }
)


class Record(NamedTuple):
    """A record of the naive model."""

    number: str
    key: str
    version: str
    is_wanted: bool


def version_of(change):
    image = change.get("NewImage") or change["OldImage"]
    return image["version"]["N"] + ("" if "NewImage" in change else " removed")


class EventSources(RuleBasedStateMachine):
    """Writes, time, splits and faults; whenever a handler is called, the model is asked."""

    @initialize(chosen=SETTINGS, splits=st.booleans())
    def begin(self, chosen, splits):
        shards = {"stream_shards": "partitions", "partition_bytes": 800, "on_demand_partitions": 1}
        self.emu = streamed(**(shards if splits else {}))
        self.chosen = chosen
        self.source = self.emu.event_source(
            "tab", self.handle, on_failure=self.documents_append, **chosen
        )
        self.version = 0
        self.tried: dict[str, int] = {}
        self.delivered: list[str] = []
        self.dropped: set[str] = set()
        self.broken: list[str] = []
        self.has_faults = chosen["at_least_once"] is not None
        self.source.__enter__()

    # The handler

    def handle(self, event, context):
        changes = [record["dynamodb"] for record in event["Records"]]
        ids = [version_of(change) for change in changes]
        self.judge_order(changes, ids)
        answer = self.answer(changes, ids)
        if self.chosen["tumbling_window"]:
            answer = {"state": {}} | (answer or {})
        return answer

    def answer(self, changes, ids):
        fates = [(c.get("NewImage") or c["OldImage"])["fate"]["S"] for c in changes]
        for place, (fate, known) in enumerate(zip(fates, ids, strict=True)):
            if fate == "good":
                continue
            self.tried[known] = tries = self.tried.get(known, 0) + 1
            if fate == "flaky" and tries > 1:
                continue
            self.has_faults = True
            if self.chosen["report_item_failures"]:
                self.delivered += ids[:place]
                number = changes[place]["SequenceNumber"]
                return {"batchItemFailures": [{"itemIdentifier": number}]}
            if tries == 1 and fate == "flaky":
                raise InvocationRefused
            raise ValueError(known)
        self.delivered += ids
        return None

    def judge_order(self, changes, ids):
        """Note a record that comes before earlier ones: an error of a handler would be sent again.

        Earlier are those before it in its shard, and all of the shard's ancestors; under
        parallelization only those of its item.
        """
        shards = self.shards()
        place_of = {
            record.version: (shard, at)
            for shard, records in shards.items()
            for at, record in enumerate(records)
        }
        settled = {*self.delivered, *self.dropped}
        in_parts = self.chosen["parallelization_factor"] > 1
        for count, known in enumerate(ids):
            shard, pointer = place_of[known]
            record = shards[shard][pointer]
            # The range of a document may have records of other parts of the shard in it.
            was_given_up = known in self.dropped and not in_parts
            if was_given_up or not record.is_wanted:
                self.broken.append(f"{known} was given up, or should have been filtered out")
            earlier = shards[shard][:pointer]
            if in_parts:
                earlier = [other for other in earlier if other.key == record.key]
            while shard in self.parents:
                shard = self.parents[shard]
                earlier += shards[shard]
            before = {other.version for other in earlier if other.is_wanted}
            if not before <= settled | set(ids[:count]):
                self.broken.append(f"{known} came before {before - settled}")

    def documents_append(self, document):
        self.has_faults = True
        info = document["DDBStreamBatchInfo"]
        first, last = int(info["startSequenceNumber"]), int(info["endSequenceNumber"])
        self.dropped |= {
            record.version
            for record in self.shards()[info["shardId"]]
            if first <= int(record.number) <= last
        }

    # The naive model: the records of each shard

    def shards(self):
        client = self.emu.client()
        arn = self.emu.table("tab").latest_stream_arn
        described = client.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
        wanted = ("INSERT", "MODIFY") if self.chosen["filters"] else ("INSERT", "MODIFY", "REMOVE")
        self.parents = {s["ShardId"]: s["ParentShardId"] for s in described if "ParentShardId" in s}
        lists = {}
        for shard in described:
            iterator = client.get_shard_iterator(
                StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
            )["ShardIterator"]
            lists[shard["ShardId"]] = [
                Record(
                    record["dynamodb"]["SequenceNumber"],
                    record["dynamodb"]["Keys"]["pk"]["S"],
                    version_of(record["dynamodb"]),
                    record["eventName"] in wanted,
                )
                for record in client.get_records(ShardIterator=iterator)["Records"]
            ]
        return lists

    # What happens

    @rule(writes=st.lists(st.tuples(st.sampled_from(KEYS), FATES), min_size=1, max_size=8))
    def write(self, writes):
        for key, fate in writes:
            self.version += 1
            put(self.emu, key, version=self.version, fate=fate, pad="x" * 200)

    @rule(key=st.sampled_from(KEYS))
    def delete(self, key):
        self.emu.table("tab").delete_item(Key={"pk": key})

    @rule(seconds=st.sampled_from([0, 0.5, 3, 30, 90]))
    def advance(self, seconds):
        self.emu.clock.advance(seconds)

    @rule()
    def drain(self):
        self.source.drain()
        assert self.source.drain() == []

    @precondition(lambda self: hasattr(self, "source"))
    @invariant()
    def holds(self):
        self.source.check()
        assert self.broken == []

    def teardown(self):
        if not hasattr(self, "source"):
            return
        self.source.drain()
        self.holds()
        self.source.__exit__(None, None, None)
        records = [record for records in self.shards().values() for record in records]
        wanted = {record.version for record in records if record.is_wanted}
        assert {*self.delivered, *self.dropped} - wanted <= {
            record.version for record in records if not record.is_wanted
        }
        assert wanted <= {*self.delivered, *self.dropped}
        if not self.has_faults:
            assert sorted(self.delivered) == sorted(wanted)


def test_event_sources_keep_the_laws_of_a_list_and_a_pointer_for_each_shard():
    """EVS-9, EVS-15 to EVS-19, EVS-21, EVS-23 to EVS-27."""
    run_state_machine_as_test(
        EventSources, settings=settings(max_examples=40, stateful_step_count=25, deadline=None)
    )
