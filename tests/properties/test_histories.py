"""Many threads on one emulator: their answers have a serial order, and the checker would notice."""

import random

import pytest

from benchmarks.reliability.histories import (
    EMPTY,
    KEYS,
    MODEL,
    REFUSED,
    Caller,
    Register,
    Value,
    check,
    some_operation,
    step,
    within_this_process,
)
from benchmarks.reliability.serial_order import Operation, Violation, possible_states

START = Register((None,) * len(KEYS), 0)
ONE, TWO, THREE = Value(1), Value(2), Value(3)


def history(*lines):
    """Return operations from lines of ``called, returned, name, arguments, answer``."""
    return [
        Operation(name, arguments, answer, called, returned)
        for called, returned, name, arguments, answer in lines
    ]


WRONG = {
    "a read of the past": [
        (0, 1, "put", ("a", ONE), None),
        (2, 3, "put", ("a", TWO), ONE),
        (4, 5, "get", ("a",), ONE),
    ],
    "a read of the future": [
        (0, 1, "get", ("a",), ONE),
        (2, 3, "put", ("a", ONE), None),
    ],
    "a write that is lost": [
        (0, 1, "put", ("a", ONE), None),
        (2, 5, "add", ("a", 1), TWO),
        (3, 4, "add", ("a", 1), TWO),
    ],
    "a write that comes back": [
        (0, 1, "put", ("a", ONE), None),
        (2, 3, "delete", ("a",), ONE),
        (4, 5, "get", ("a",), None),
        (6, 7, "get", ("a",), ONE),
    ],
    "a refusal that had an effect": [
        (0, 1, "put", ("a", ONE), REFUSED),
        (2, 3, "get", ("a",), ONE),
    ],
    "two who both came first": [
        (0, 1, "put", ("a", ONE), None),
        (2, 5, "compare_and_set", ("a", 1, TWO), True),
        (3, 4, "compare_and_set", ("a", 1, THREE), True),
    ],
    "half a transaction": [
        (0, 1, "put", ("a", TWO), None),
        (2, 3, "put", ("b", TWO), None),
        (4, 9, "transfer", ("a", "b", 1), True),
        (5, 6, "read_together", (("a", "b"),), (ONE, TWO)),
    ],
    "a transaction seen and gone": [
        (0, 1, "put", ("a", TWO), None),
        (2, 3, "put", ("b", TWO), None),
        (4, 9, "transfer", ("a", "b", 1), True),
        (5, 6, "get", ("b",), THREE),
        (7, 8, "get", ("a",), TWO),
    ],
    "an index that lost an entry": [
        (0, 1, "put", ("a", Value(1, "x")), None),
        (2, 3, "read_group", ("x",), frozenset()),
    ],
    "an index with an entry too many": [
        (0, 1, "put", ("a", Value(1, "x")), None),
        (2, 3, "put", ("a", Value(1, "y")), Value(1, "x")),
        (4, 5, "read_group", ("x",), frozenset({("a", Value(1, "x"))})),
    ],
    "an item that outlives its time": [
        (0, 1, "put", ("a", Value(1, None, 30)), None),
        (2, 3, "advance", (), None),
        (4, 5, "scan", (), frozenset({("a", Value(1, None, 30))})),
    ],
    "two readers who disagree about the order": [
        (0, 20, "put", ("a", ONE), None),
        (1, 21, "put", ("b", ONE), None),
        (2, 3, "get", ("a",), ONE),
        (4, 5, "get", ("b",), None),
        (6, 7, "get", ("b",), ONE),
        (8, 9, "get", ("a",), None),
    ],
}


@pytest.mark.parametrize("lines", WRONG.values(), ids=WRONG.keys())
def test_a_wrong_history_has_no_serial_order(lines):
    with pytest.raises(Violation, match="no serial order gives"):
        possible_states(history(*lines), {START}, step)


@pytest.mark.parametrize(
    ("lines", "numbers"),
    [
        # Whichever came last.
        ([(0, 3, "put", ("a", ONE), None), (1, 2, "put", ("a", TWO), ONE)], {2}),
        ([(0, 3, "put", ("a", ONE), TWO), (1, 2, "put", ("a", TWO), None)], {1}),
        # Nobody has looked: a refused put and a put under way.
        ([(0, 1, "put", ("a", ONE), REFUSED)], {None}),
        # A reader in the middle may see either, and then everybody knows.
        ([(0, 3, "add", ("a", 1), ONE), (1, 2, "get", ("a",), None)], {1}),
        ([(0, 3, "add", ("a", 1), ONE), (1, 2, "get", ("a",), ONE)], {1}),
    ],
)
def test_a_right_history_tells_where_it_ends(lines, numbers):
    states = possible_states(history(*lines), {START}, step)
    assert {state.of("a") and state.of("a").number for state in states} == numbers


def test_all_orders_are_kept_until_somebody_looks():
    blind = [(0, 9, "add", ("a", 1), ONE), (1, 9.5, "transfer", ("a", "b", 1), False)]
    states = possible_states(history(*blind), {START}, step)
    assert {state.of("a") for state in states} == {ONE}
    unknown = {START, START.put("a", ONE)}
    assert possible_states(history((0, 1, "get", ("b",), None)), unknown, step) == unknown
    assert possible_states(history((0, 1, "get", ("a",), ONE)), unknown, step) == {
        START.put("a", ONE)
    }


@pytest.mark.parametrize("seed", range(3))
def test_what_was_serial_is_found_serial_and_a_changed_sum_is_not(seed):
    """Operations take effect one by one, at moments within intervals that overlap."""
    chance = random.Random(seed)
    state, lines = START, []
    for moment in range(0, 3_000, 10):
        name, arguments = some_operation(chance, state.now)
        answer, state = MODEL[name](state, *arguments)
        spread = [chance.randrange(1, 40), chance.randrange(1, 40)]
        lines.append((moment - spread[0], moment + spread[1], name, arguments, answer))
    assert state in possible_states(history(*lines), {START}, step)
    number = next(at for at in reversed(range(len(lines))) if lines[at][2] == "add")
    called, returned, name, arguments, answer = lines[number]
    lines[number] = (called, returned, name, arguments, answer._replace(number=1_000))
    with pytest.raises(Violation):
        possible_states(history(*lines), {START}, step)


@pytest.mark.parametrize("faults", [False, True])
def test_threads_see_a_serial_order(faults):
    """Items, transactions, index reads and scans, with faults, expiry and clock advances."""
    with within_this_process(threads=6, seed=1, faults=faults) as (recorder, emulator):
        counts, states = check(recorder, EMPTY, iter(range(4)), calls=25)
    assert counts.total() == 600
    assert (counts[REFUSED] > 0) is faults
    emulator.faults.clear()
    caller = Caller(emulator.call, emulator.clock.advance)
    last = Operation("scan", (), caller("scan", ()), 0, 1)
    assert len(possible_states([last], states, step)) == 1
