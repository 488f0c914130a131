"""Wrong arguments of the lab's classes are answered with what to write instead."""

import inspect
import pickle
from dataclasses import replace

import pytest

from emulator.lab import Capacity, Clients, Design, Field, History, Index, Pattern, Table, Workload


@pytest.mark.parametrize(
    ("described", "given", "answer"),
    [
        (Design, {"read": 5}, "Design takes no 'read'; write capacity=Capacity(read=...)"),
        (Design, {"partitions": 4}, "Design takes no 'partitions'; write history=History("),
        (Table, {"warm_write": 5}, "Table takes no 'warm_write'; write capacity=Capacity("),
        (Index, {"write": 5}, "Index takes no 'write'; write capacity=Capacity(write=...)"),
        (Workload, {"timeout": 4}, "Workload takes no 'timeout'; write clients=Clients("),
        (Capacity, {"autoscaling": 1}, "Capacity takes no 'autoscaling'; did you mean 'scaling'?"),
        (Pattern, {"rats": 5}, "Pattern takes no 'rats'; did you mean 'rate'? It takes: name, "),
        (Field, {"zzz": 5}, "Field takes no 'zzz'; it takes: name, count"),
        (Clients, {"zzz": 5}, "Clients takes no 'zzz'; it takes: "),
        (History, {"zzz": 5}, "History takes no 'zzz'; it takes: "),
    ],
)
def test_a_wrong_argument_says_what_to_write(described, given, answer):
    with pytest.raises(TypeError) as raised:
        described("name", **given)
    assert str(raised.value).startswith(answer)


def test_several_tables_do_not_hide_a_wrong_argument():
    with pytest.raises(TypeError, match="Design takes no 'read'"):
        Design("d", tables=[Table(partition="{a}")], read=5)


def test_the_classes_are_otherwise_as_they_were():
    capacity = Capacity(read=5)
    assert replace(capacity, write=7) == Capacity(read=5, write=7)
    assert pickle.loads(pickle.dumps(capacity)) == capacity
    assert "read" in inspect.signature(Capacity).parameters
