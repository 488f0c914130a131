"""``dynamometer sweep``: parts of a grid, on any machine, merged into one file."""

import json
import socket
import sys
from concurrent.futures import Future

import pytest

from emulator.__main__ import main

SHOP = """\
parameters: {shards: 1}
workload:
  duration: 2s
  warm_up: 0
  fields: {orderId: {unique: random}, status: {values: [open]}}
  patterns: [{name: save, operation: PutItem, rate: 5}]
designs:
  - {name: sharded, partition: "{status}#{hash(orderId) % shards}", sort: "{orderId}", write: 10}
"""
OVER = ("--over", "shards=1,2,3", "--over", "load=1", "--worlds", "1", "--jobs", "1")


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.yaml").write_text(SHOP)
    return tmp_path


def run(*words):
    return main(["sweep", *words])


def points(path):
    return [json.loads(line)["point"]["shards"] for line in path.read_text().splitlines()]


def test_parts_are_run_apart_and_merged(place, capsys):
    assert run("shop.yaml", *OVER, "--part", "1/2", "--out", "a.jsonl") == 0
    assert run("shop.yaml", *OVER, "--part", "2/2", "--out", "b.jsonl") == 0
    assert sorted(points(place / "a.jsonl")) == [1, 3]
    assert points(place / "b.jsonl") == [2]
    capsys.readouterr()

    assert run("--merge", "all.jsonl", "b.jsonl", "a.jsonl") == 0

    assert points(place / "all.jsonl") == [1, 2, 3]
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].split() == [
        *("point", "design", "grade", "worlds", "that", "throttle", "calls", "throttled", "month"),
    ]
    assert [line.split()[0] for line in shown[1:4]] == ["shards=1", "shards=2", "shards=3"]
    assert shown[-1] == "wrote all.jsonl"


def test_missing_points_are_named_and_the_merged_file_is_gone_on_from(place, capsys):
    assert run("shop.yaml", *OVER, "--part", "1/2", "--out", "a.jsonl") == 0
    assert run("--merge", "all.jsonl", "a.jsonl") == 1
    assert capsys.readouterr().err == (
        "dynamometer: 1 of 3 points are missing: 2; run their parts, then merge again\n"
    )

    assert run("shop.yaml", *OVER, "--out", "all.jsonl") == 0

    assert sorted(points(place / "all.jsonl")) == [1, 2, 3]
    assert run("--merge", "all.jsonl", "all.jsonl") == 0
    assert points(place / "all.jsonl") == [1, 2, 3]


def test_a_torn_line_does_not_tear_the_next(place):
    assert run("shop.yaml", *OVER, "--part", "1/3", "--out", "a.jsonl") == 0
    with (place / "a.jsonl").open("a") as file:
        file.write('{"id": "tor')
    assert run("shop.yaml", *OVER, "--out", "a.jsonl") == 0
    assert sorted(points(place / "a.jsonl")) == [1, 2, 3]  # every line is JSON again
    assert run("--merge", "all.jsonl", "a.jsonl") == 0


def test_ids_are_those_of_the_question(place):
    assert run("shop.yaml", *OVER, "--out", "a.jsonl") == 0
    assert run("shop.yaml", *OVER, "--out", "b.jsonl") == 0
    assert run("shop.yaml", *OVER[:4], "--worlds", "2", "--jobs", "1", "--out", "c.jsonl") == 0
    first, again, other = (
        {json.loads(line)["id"] for line in (place / name).read_text().splitlines()}
        for name in ("a.jsonl", "b.jsonl", "c.jsonl")
    )
    assert first == again
    assert len(first) == 3
    assert not first & other


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((), "name a lab file and --over; or --merge OUT PART..."),
        (("shop.yaml",), "name a lab file and --over"),
        (("shop.yaml", "--over", "shards"), "--over shards: a parameter is written as NAME=V1,V2"),
        (
            ("shop.yaml", "--over", "shards=1", "--over", "shards=2"),
            "--over shards=2: a parameter is given twice",
        ),
        (("shop.yaml", "--over", "shards=x"), "--over shards: expected numbers, found 'x'"),
        (("shop.yaml", "--over", "shards=1.5"), "--over shards: expected numbers, found '1.5'"),
        (("shop.yaml", "--over", "sherds=1"), "'sherds' is not a parameter of this sweep"),
        (("shop.yaml", "--over", "shards=1", "--part", "3/2"), "a part is one of 1 to 2, not 3"),
        (("shop.yaml", "--over", "shards=1", "--part", "x"), "a part is written as 3/16, not 'x'"),
        (("none.yaml", "--over", "shards=1"), "none.yaml: cannot be read"),
        (("--merge", "all.jsonl"), "name a lab file and --over; or --merge"),
        (("--merge", "all.jsonl", "shop.yaml"), "shop.yaml: has no results of a sweep"),
        (("--merge", "all.jsonl", "none.jsonl"), "none.jsonl: No such file or directory"),
    ],
)
def test_wrong_usage_is_one_sentence(place, capsys, words, complaint):
    assert run(*words) == 2
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1


def test_parts_of_two_sweeps_are_not_merged(place, capsys):
    assert run("shop.yaml", *OVER, "--out", "a.jsonl") == 0
    assert run("shop.yaml", "--over", "shards=9", *OVER[4:], "--out", "b.jsonl") == 0
    assert run("--merge", "all.jsonl", "a.jsonl", "b.jsonl") == 2
    assert "b.jsonl: belongs to a different sweep than a.jsonl" in capsys.readouterr().err


GRID = ("--over", "shards=1,2", "--worlds", "1")


@pytest.mark.parametrize(
    ("executor", "module"), [("ray", "ray"), ("dask", "distributed")], ids=["ray", "dask"]
)
def test_a_cluster_gives_the_answer_of_this_machine(place, capsys, executor, module):
    pytest.importorskip(module)
    assert run("shop.yaml", *GRID, "--jobs", "1", "--executor", executor) == 0
    there = capsys.readouterr().out
    assert run("shop.yaml", *GRID, "--jobs", "1") == 0
    assert there == capsys.readouterr().out


class Here:
    """Stands for a cluster: what is submitted is done at once, and written down."""

    def __init__(self, *arguments, **options):
        self.told = [(arguments, options)]

    def init(self, **options):
        self.told.append(options)

    def is_initialized(self):
        return False

    def shutdown(self):
        self.told.append("shutdown")

    def close(self):
        self.told.append("close")

    def remote(self, function):
        return type("Task", (), {"remote": lambda _, *words: self.submit(function, *words)})()

    def get_executor(self):
        return self

    def submit(self, function, *words):
        future = Future()
        future.set_result(function(*words))
        future.future = lambda: future
        return future


def test_ray_is_joined_and_left(place, monkeypatch):
    ray = Here()
    monkeypatch.setitem(sys.modules, "ray", ray)
    assert run("shop.yaml", *GRID, "--executor", "ray", "--address", "auto") == 0
    options = {"ignore_reinit_error": True, "logging_level": 30, "address": "auto"}
    assert ray.told[1:] == [options, "shutdown"]


def test_dask_is_joined_and_left(place, monkeypatch):
    made = []

    class Distributed:
        @staticmethod
        def Client(*arguments, **options):
            made.append(Here(*arguments, **options))
            return made[0]

    monkeypatch.setitem(sys.modules, "distributed", Distributed)
    assert run("shop.yaml", *GRID, "--executor", "dask", "--jobs", "1") == 0
    here = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    assert made[0].told == [((), here), "close"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--executor", "ray"), "--executor ray needs the module ray: pip install ray"),
        (
            ("--executor", "dask"),
            "--executor dask needs the module distributed: pip install distributed",
        ),
        (("--address", "auto"), "--address goes with --executor ray or dask"),
        (
            ("--executor", "ray", "--address", "auto", "--jobs", "2"),
            "--jobs is for this machine; a cluster at --address has its own size",
        ),
    ],
)
def test_a_cluster_that_is_not_there_is_one_sentence(place, capsys, monkeypatch, words, complaint):
    for module in ("ray", "distributed"):
        monkeypatch.setitem(sys.modules, module, None)
    assert run("shop.yaml", *GRID, *words) == 2
    assert capsys.readouterr().err == f"dynamometer: {complaint}\n"


def test_a_cluster_that_does_not_answer_is_one_sentence(place, capsys, monkeypatch):
    def refuse(*_, **__):
        raise OSError("Timed out trying to connect\nand more")

    module = type("Module", (), {"Client": staticmethod(refuse)})
    monkeypatch.setitem(sys.modules, "distributed", module)
    assert run("shop.yaml", *GRID, "--executor", "dask", "--address", "tcp://x:1") == 2
    assert capsys.readouterr().err == (
        "dynamometer: --executor dask: Timed out trying to connect\n"
    )


@pytest.mark.parametrize("address", ["127.0.0.1:{port}", "ray://127.0.0.1:{port}"])
def test_a_port_at_which_nothing_listens_is_one_sentence(place, capsys, monkeypatch, address):
    """Ray itself waits for minutes."""
    monkeypatch.setitem(sys.modules, "ray", Here())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        words = ("--executor", "ray", "--address", address.format(port=free.getsockname()[1]))
        assert run("shop.yaml", *GRID, *words) == 2
    error = capsys.readouterr().err
    assert error.startswith("dynamometer: --executor ray: nothing answers at 127.0.0.1:")
    assert error.count("\n") == 1
