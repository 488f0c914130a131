"""Sweeps: a grid, any executor, a result file that is gone on from."""

import importlib.util
import json
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor

import pytest

from emulator.lab import Capacity, Design, Field, Pattern, RayExecutor, Workload, Zipf
from emulator.lab import sweep as sweep_with
from emulator.lab.analysis.sweeps import SweepPart

WORKLOAD = Workload(
    fields=[Field("userId", count=50, distribution=Zipf(1.5)), Field("orderId", unique="random")],
    patterns=[Pattern("put", "PutItem", rate=12_000)],
    duration=20,
    warm_up=0,
)
SHARDED = Design(
    "sharded",
    partition="{userId}#{hash(orderId) % shards}",
    sort="{orderId}",
    parameters={"shards": 1},
    capacity=Capacity(read=1, write=20_000),
)


def sweep(*arguments, **options):
    return sweep_with(*arguments, engine="aggregate", **({"worlds": 1} | options))


class Here:
    """Runs at once, and counts."""

    def __init__(self):
        self.ran = 0

    def submit(self, function, /, *arguments):
        self.ran += 1
        future = Future()
        future.set_result(function(*arguments))
        return future


def shares(results):
    return [one.comparison.designs[0].throttled_share for one in results]


def test_more_suffixes_throttle_less():
    found = sweep(WORKLOAD, [SHARDED], over={"shards": [1, 4, 64]}, executor=Here())

    assert [one.point for one in found] == [{"shards": 1}, {"shards": 4}, {"shards": 64}]
    assert shares(found)[0] > shares(found)[1] > shares(found)[2] == 0


def test_a_grid_is_every_combination():
    over = {"shards": [1, 8], "skew": [0.5, 1.5], "load": [0.5]}

    found = sweep(WORKLOAD, [SHARDED], over=over, executor=Here())

    assert [tuple(one.point.values()) for one in found] == [
        (1, 0.5, 0.5),
        (1, 1.5, 0.5),
        (8, 0.5, 0.5),
        (8, 1.5, 0.5),
    ]
    assert shares(found)[0] < shares(found)[1]


def test_designs_and_workload_may_be_functions_of_the_point():
    found = sweep(
        WORKLOAD,
        lambda point: [
            Design("d", partition="{userId}", capacity=Capacity(write=int(point["wcu"])))
        ],
        over={"wcu": [1000, 4000]},
        executor=Here(),
    )

    written = [one.comparison.designs[0].table.write.per_minute.provisioned[0] for one in found]
    assert written == [1000, 4000]


def test_an_unknown_parameter_is_refused():
    with pytest.raises(
        ValueError, match="'sherds' is not a parameter of this sweep; it has duration"
    ):
        sweep(WORKLOAD, [SHARDED], over={"sherds": [1]}, executor=Here())


@pytest.mark.parametrize(
    ("first", "second", "given"),
    [
        (WORKLOAD, SHARDED, "not Workload and Design"),
        (SHARDED, WORKLOAD, "not Design and Workload"),
    ],
)
def test_the_workload_comes_first_and_designs_in_a_list(first, second, given):
    with pytest.raises(TypeError, match=f"takes a workload first .* {given}"):
        sweep(first, second, over={"shards": [1]}, executor=Here())


def test_the_order_of_before_is_still_taken_and_warned_about():
    with pytest.warns(DeprecationWarning, match="the workload first"):
        found = sweep([SHARDED], WORKLOAD, over={"shards": [1]}, executor=Here())
    assert len(found) == 1


def test_a_sweep_is_a_sequence_that_prints_its_table():
    found = sweep(WORKLOAD, [SHARDED], over={"shards": [1, 64]}, executor=Here())

    assert repr(found) == "Sweep(2 points)"
    head, *lines = str(found).splitlines()
    assert head.split() == [
        "shards",
        "design",
        "grade",
        "throttles",
        "in",
        "refused",
        "headroom",
        "a",
        "month",
    ]
    assert [line.split()[0] for line in lines] == ["1", "64"]
    assert max(map(len, [head, *lines])) <= 80
    assert found[1:][0] == found[1]
    assert list(found.to_frame()["shards"]) == [1, 64]
    assert "<table>" in found._repr_html_()
    best = found.best()
    assert best is None or best[1].grade in ("fine", "tight")


def test_a_sweep_goes_on_from_its_file(tmp_path):
    path = tmp_path / "sweep.jsonl"
    told = []
    first, second = Here(), Here()

    sweep(WORKLOAD, [SHARDED], over={"shards": [1, 4]}, executor=first, results=path)
    with path.open("a") as file:
        file.write('{"key": "torn')
    again = sweep(
        WORKLOAD,
        [SHARDED],
        over={"shards": [1, 4, 16]},
        executor=second,
        results=path,
        progress=lambda done, total: told.append((done, total)),
    )

    assert (first.ran, second.ran) == (2, 1)
    assert told == [(2, 3), (3, 3)]
    assert len(again) == 3
    assert shares(again) == shares(
        sweep(WORKLOAD, [SHARDED], over={"shards": [1, 4, 16]}, executor=Here())
    )


def test_another_question_is_not_answered_from_the_file(tmp_path):
    path = tmp_path / "sweep.jsonl"
    over = {"shards": [4]}
    one, other = Here(), Here()

    sweep(WORKLOAD, [SHARDED], over=over, executor=one, results=path)
    sweep(WORKLOAD, [SHARDED], over=over, executor=other, results=path, seeds=(5,), worlds=None)

    assert other.ran == 1
    assert len([json.loads(line) for line in path.read_text().splitlines()]) == 2


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_any_executor_gives_the_same_answer(pool):
    over = {"shards": [1, 8]}

    with pool(max_workers=2) as executor:
        found = sweep(WORKLOAD, [SHARDED], over=over, executor=executor)

    assert shares(found) == shares(sweep(WORKLOAD, [SHARDED], over=over, executor=Here()))


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray is not installed")
def test_ray_gives_the_same_answer():
    over = {"shards": [1, 8]}

    found = sweep(WORKLOAD, [SHARDED], over=over, executor=RayExecutor())

    assert shares(found) == shares(sweep(WORKLOAD, [SHARDED], over=over, executor=Here()))


def test_dask_gives_the_same_answer():
    """Dask's client has an executor of the standard library's kind."""
    distributed = pytest.importorskip("distributed")
    over = {"shards": [1, 8]}

    with distributed.Client(processes=False, dashboard_address=None) as client:
        found = sweep(WORKLOAD, [SHARDED], over=over, executor=client.get_executor())

    assert shares(found) == shares(sweep(WORKLOAD, [SHARDED], over=over, executor=Here()))


def test_a_part_is_every_so_many_th_point():
    over = {"shards": [1, 2, 4, 8]}

    found = sweep(WORKLOAD, [SHARDED], over=over, executor=Here(), part=SweepPart(2, 2))

    assert [one.point["shards"] for one in found] == [2, 8]
    with pytest.raises(ValueError, match="a part is one of 1 to 2, not 3"):
        SweepPart(3, 2)
