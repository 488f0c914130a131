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


@pytest.mark.parametrize(
    ("described", "given", "answer"),
    [
        (Pattern, {"operation": "PutItem", "rate": "5"}, "Pattern takes Constant or Daily or "),
        (Pattern, {"rate": 5, "size": "1 KB"}, "Pattern takes Sizes or a number as size, not '1 K"),
        (Pattern, {"rate": 5, "by": "user"}, "Pattern takes a list of texts as by, not 'user'"),
        (Field, {"count": "5"}, "Field takes a number or None as count, not '5'"),
        (Field, {"unique": 5.5}, "Field takes 'sequential' or 'random' or True or None as uniqu"),
        (Design, {"indexes": Index("i", partition="{a}")}, "Design takes a list of Index as ind"),
        (Design, {"tables": [5]}, "Design takes a list of Table as tables, not [5]"),
        (Workload, {"patterns": Pattern("p", "PutItem", rate=1)}, "Workload takes a list of Patt"),
        (Workload, {"patterns": [], "duration": "10m"}, "Workload takes a number as duration, no"),
        (Capacity, {"read": "5"}, "Capacity takes a number or None as read, not '5'"),
    ],
)
def test_a_wrong_value_says_what_to_give(described, given, answer):
    arguments = () if described in (Workload, Capacity) else ("name",)
    with pytest.raises(TypeError) as raised:
        described(*arguments, **given)
    assert str(raised.value).startswith(answer)


def test_a_value_that_is_none_of_the_choices_is_refused():
    with pytest.raises(ValueError, match="Field takes 'sequential' or 'random' or True or None a"):
        Field("id", unique="yes")
    with pytest.raises(ValueError, match="Pattern takes 'even' or 'poisson' as arrivals, not 'x'"):
        Pattern("p", "PutItem", rate=1, arrivals="x")


def test_a_field_takes_what_a_file_may_say():
    assert Field("id", unique=True) == Field("id", unique="sequential")
    assert Field("hour", values=[1, 2]) == Field("hour", values=("1", "2"))


def test_several_tables_do_not_hide_a_wrong_argument():
    with pytest.raises(TypeError, match="Design takes no 'read'"):
        Design("d", tables=[Table(partition="{a}")], read=5)


def test_the_classes_are_otherwise_as_they_were():
    capacity = Capacity(read=5)
    assert replace(capacity, write=7) == Capacity(read=5, write=7)
    assert pickle.loads(pickle.dumps(capacity)) == capacity
    assert "read" in inspect.signature(Capacity).parameters
