"""asyncio on virtual time."""

import asyncio
import threading

import pytest

from emulator import ManualClock, SystemClock
from emulator.clock import loop


def run(clock, coroutine):
    with asyncio.Runner(loop_factory=lambda: loop(clock)) as runner:
        return runner.run(coroutine)


def test_tasks_wake_in_the_order_of_their_times_and_no_time_is_lost():
    clock, woken = ManualClock(start=0), []

    async def sleeper(seconds):
        await asyncio.sleep(seconds)
        woken.append((seconds, clock.now()))

    async def main():
        await asyncio.gather(*(sleeper(seconds) for seconds in (3, 0.5, 86_400 * 3, 1)))

    run(clock, main())
    assert [seconds for seconds, _ in woken] == [0.5, 1, 3, 259_200]
    assert [now for _, now in woken] == pytest.approx([0.5, 1, 3, 259_200], abs=1e-6)


def test_a_timeout_passes_at_its_time():
    clock = ManualClock(start=0)

    async def main():
        async with asyncio.timeout(60):
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        run(clock, main())
    assert clock.now() == pytest.approx(60, abs=1e-6)


def test_an_advance_by_others_moves_the_loop():
    clock = ManualClock(start=0)

    async def main():
        waiting = asyncio.ensure_future(asyncio.sleep(10, "done"))
        await asyncio.sleep(0)
        clock.advance(10)
        return await waiting

    assert run(clock, main()) == "done"
    assert clock.now() == 10


def test_a_thread_is_waited_for_where_there_is_nothing_else_to_do():
    release = threading.Event()

    async def main():
        waiting = asyncio.ensure_future(asyncio.to_thread(release.wait, 10))
        await asyncio.sleep(0)
        release.set()
        return await waiting

    assert run(ManualClock(), main()) is True


def test_on_other_clocks_it_is_a_loop_of_real_time():
    made, usual = loop(SystemClock()), asyncio.new_event_loop()
    assert type(made) is type(usual)
    made.close()
    usual.close()


def test_a_consumer_written_with_aiobotocore_takes_no_time():
    import aiobotocore.session

    from emulator import Emulator, mock_dynamodb
    from tests.tables import table

    emu, seen = Emulator(clock=ManualClock(start=0)), []
    stream = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    emu.call("CreateTable", table(StreamSpecification=stream))
    credentials = {"aws_access_key_id": "any", "aws_secret_access_key": "any"}

    async def consume(client, arn):
        [shard] = (await client.describe_stream(StreamArn=arn))["StreamDescription"]["Shards"]
        answer = await client.get_shard_iterator(
            StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )
        iterator = answer["ShardIterator"]
        while len(seen) < 3:
            answer = await client.get_records(ShardIterator=iterator)
            iterator = answer["NextShardIterator"]
            seen.extend((emu.clock.now(), record["eventName"]) for record in answer["Records"])
            await asyncio.sleep(60)

    async def produce():
        for number in range(3):
            await asyncio.sleep(95)
            emu.table("tab").put_item(Item={"pk": str(number)})

    async def main():
        session = aiobotocore.session.get_session()
        async with session.create_client(
            "dynamodbstreams", region_name="us-east-1", **credentials
        ) as client:
            await asyncio.gather(consume(client, emu.table("tab").latest_stream_arn), produce())

    with mock_dynamodb(emu):
        run(emu.clock, main())
    assert [event for _, event in seen] == ["INSERT"] * 3
    assert [now for now, _ in seen] == pytest.approx([120, 240, 300], abs=0.01)
