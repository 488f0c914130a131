"""Changes of throughput and indexes as they take effect. CAP-618, CAP-1106."""

from tests.engine.conftest import Bench, gsi


def provision(bench, read, write):
    units = {"ReadCapacityUnits": read, "WriteCapacityUnits": write}
    return bench.attempt("UpdateTable", TableName="tab", ProvisionedThroughput=units)


def test_only_a_rate_that_falls_is_a_decrease():
    """CAP-618: raising one and leaving the other is none, however often."""
    bench = Bench()
    bench.table(read=50, write=50)
    raises = [provision(bench, 50 + step, 50) for step in range(1, 15)]
    raises += [provision(bench, 64, 50 + step) for step in range(1, 15)]
    assert raises == [None] * 28
    lowered = [provision(bench, 64, 63 - step) for step in range(1, 6)]
    assert [error is None for error in lowered] == [True] * 4 + [False]


def test_a_simulated_backfill_is_counted_and_owed():
    """CAP-1106, CAP-801: every entry at its price, and the index is ACTIVE when that is repaid."""
    bench = Bench(simulate_backfill=True)
    bench.table(read=5, write=50)
    for number in range(10):
        bench.put(pk=f"{number}", g="g", v="x" * 1500)
    late = gsi("late", "g", read=5, write=2)
    bench.emu.call(
        "UpdateTable",
        {
            "TableName": "tab",
            "AttributeDefinitions": [{"AttributeName": "g", "AttributeType": "S"}],
            "GlobalSecondaryIndexUpdates": [{"Create": late}],
        },
    )
    name = "OnlineIndexConsumedWriteCapacity"
    assert bench.emu.metrics.sum(name, table="tab", index="late") == 10 * 2

    def status():
        table = bench.emu.call("DescribeTable", {"TableName": "tab"})["Table"]
        return table["GlobalSecondaryIndexes"][0]["IndexStatus"]

    # Two units are there, and the other eighteen come in at two a second.
    seen = [status()]
    for _ in range(2):
        bench.clock.advance(8.5 if len(seen) == 1 else 0.5)
        seen.append(status())
    assert seen == ["CREATING", "CREATING", "ACTIVE"]
