"""The ordered store against a naive one: a dictionary that is sorted when read."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from emulator.model import Item
from emulator.storage import OrderedStore, ordered

positions = st.tuples(st.integers(0, 9), st.sampled_from("abc"))
items = st.builds(lambda text: Item.of({"v": text}), st.text("xy", max_size=5))


class StoreMachine(RuleBasedStateMachine):
    """Stores and their twins drift apart from the moment they are shared."""

    def __init__(self):
        super().__init__()
        self.pairs = [(OrderedStore(), {})]

    def pick(self, number):
        return self.pairs[number % len(self.pairs)]

    @rule(which=st.integers(0, 9), position=positions, item=items)
    def put(self, which, position, item):
        store, model = self.pick(which)
        store.put(position, item)
        model[position] = item

    @rule(which=st.integers(0, 9), position=positions)
    def remove(self, which, position):
        store, model = self.pick(which)
        if position in model:
            store.remove(position)
            del model[position]

    @rule(which=st.integers(0, 9))
    def share(self, which):
        store, model = self.pick(which)
        if len(self.pairs) < 5:
            self.pairs.append((store.share(), dict(model)))

    @rule(which=st.integers(0, 9), low=positions, high=positions, reverse=st.booleans())
    def walk(self, which, low, high, reverse):
        store, model = self.pick(which)
        wanted = sorted(at for at in model if low <= at < high)
        if reverse:
            wanted.reverse()
        assert list(store.walk(low, high, reverse=reverse)) == [(at, model[at]) for at in wanted]
        found = list(store.positions(low, high, reverse=reverse))
        assert found == wanted
        assert store.items_at(found) == [model[at] for at in wanted]

    @invariant()
    def stores_equal_their_models(self):
        for store, model in self.pairs:
            store.check()
            assert len(store) == len(model)
            assert {at: store.get(at) for at in model} == model
            assert [store.rank(at) for at in sorted(model)] == list(range(len(store)))


TestOrderedStore = StoreMachine.TestCase


def test_a_store_is_copied_once_and_only_if_it_was_shared(monkeypatch):
    """The first write after sharing pays for a copy; all others cost O(log n)."""
    copies = []
    copied = ordered.copied
    monkeypatch.setattr(ordered, "copied", lambda order: copies.append(order) or copied(order))
    store = OrderedStore()
    counts = []
    for number, is_shared in enumerate([False, False, True, False, False]):
        if is_shared:
            store.share()
        store.put((number,), Item.of({"v": "x"}))
        counts.append(len(copies))
    store.remove((0,))
    assert (counts, len(copies)) == ([0, 0, 1, 1, 1], 1)


def test_a_range_has_its_low_end_and_not_its_high_one():
    store = OrderedStore()
    for number in range(4):
        store.put((number,), Item.of({"v": "x"}))
    assert list(store.positions((1,), (3,), reverse=False)) == [(1,), (2,)]
    assert list(store.positions((1,), (3,), reverse=True)) == [(2,), (1,)]
