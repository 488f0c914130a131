"""The store of vectors against a naive one, and its search against sums of fractions."""

import math
import random
from array import array
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from emulator.model import Item
from emulator.model.vectors import LARGEST_FLOAT, VectorEntry, single
from emulator.storage import vectors
from emulator.storage.vectors import VectorSearch, VectorStore

SIZE = 3
FUNCTIONS = ("COSINE", "DOT_PRODUCT", "EUCLIDEAN")
singles = st.floats(allow_nan=False, allow_infinity=False, width=32)
near = st.sampled_from([0.0, 1.0, -1.0, 0.5, single(1 + 2**-23), single(1 + 2**-22), 3e38, 1e-45])
numbers = st.lists(st.one_of(near, singles), min_size=SIZE, max_size=SIZE).map(
    lambda listed: array("f", listed)
)
positions = st.tuples(st.integers(0, 5), st.sampled_from("abc"))
partitions = st.sampled_from(["t", "u", None])


def entry(vector, partition=None, name="a"):
    return VectorEntry(Item.of({"pk": name}), vector, 4 * SIZE + 6, partition)


class StoreMachine(RuleBasedStateMachine):
    """Stores and their twins drift apart from the moment they are shared."""

    def __init__(self):
        super().__init__()
        self.pairs = [(VectorStore(SIZE), {})]

    @rule(which=st.integers(0, 4), position=positions, vector=numbers, partition=partitions)
    def put(self, which, position, vector, partition):
        store, model = self.pairs[which % len(self.pairs)]
        store.put(position, entry(vector, partition))
        model[position] = entry(vector, partition)

    @rule(which=st.integers(0, 4), position=positions)
    def remove(self, which, position):
        store, model = self.pairs[which % len(self.pairs)]
        if model.pop(position, None) is not None:
            store.remove(position)

    @rule(which=st.integers(0, 4))
    def share(self, which):
        store, model = self.pairs[which % len(self.pairs)]
        if len(self.pairs) < 4:
            self.pairs.append((store.share(), dict(model)))

    @invariant()
    def each_store_is_its_model(self):
        for store, model in self.pairs:
            store.check()
            held = dict(store)
            assert held.keys() == model.keys()
            assert all(held[position].same_as(model[position]) for position in model)
            assert len(store) == len(model)


TestStore = StoreMachine.TestCase
TestStore.settings = settings(max_examples=settings().max_examples // 8, stateful_step_count=20)


def exact(function, query, vector):
    """Return a score by fractions, rounded as late as can be (VIX-42)."""
    pairs = [(Fraction(left), Fraction(right)) for left, right in zip(query, vector, strict=True)]
    dot = sum(left * right for left, right in pairs)
    if function == "DOT_PRODUCT":
        return single(float(dot))
    if function == "EUCLIDEAN":
        return single(math.sqrt(sum((left - right) ** 2 for left, right in pairs)))
    norms = float(sum(left**2 for left, _ in pairs)) * float(sum(right**2 for _, right in pairs))
    if not norms:
        return 1.0
    return single(min(2.0, max(0.0, 1.0 - float(dot) / math.sqrt(norms))))


def filled(listed):
    store = VectorStore(SIZE)
    for number, vector in enumerate(listed):
        store.put((number % 7, str(number)), entry(vector, name=str(number)))
    return store


@pytest.mark.parametrize("function", FUNCTIONS)
@settings(max_examples=settings().max_examples // 2)
@given(query=numbers, listed=st.lists(numbers, max_size=12), most=st.integers(1, 4))
@example(query=array("f", [1, 0, 0]), listed=[array("f", [0, 0, 0])] * 3, most=2)
@example(
    query=array("f", [3e38] * 3), listed=[array("f", [3e38] * 3), array("f", [-3e38] * 3)], most=1
)
def test_search_is_a_sort_of_exact_scores_with_numpy_and_without(function, query, listed, most):
    """VIX-42: ties come in the order of the table, whichever way was taken."""
    pytest.importorskip("numpy")
    store = filled(listed)
    wanted = VectorSearch(query, most, function)
    sign = -1 if function == "DOT_PRODUCT" else 1
    scores = [(exact(function, query, vector), n) for n, vector in enumerate(listed)]
    expected = sorted((sign * score, (n % 7, str(n))) for score, n in scores)[:most]
    with pytest.MonkeyPatch.context() as patch:
        for worth in (0, math.inf):
            patch.setattr(vectors, "WORTH_NUMPY", worth)
            hits = store.search(wanted)
            found = [(sign * hit.score, hit.position) for hit in hits]
            if function == "EUCLIDEAN":  # its squares are rounded before they are summed
                assert [score for score, _ in found] == pytest.approx(
                    [score for score, _ in expected], rel=1e-6, abs=1e-44
                )
            else:
                assert found == expected
            if worth == 0:
                with_numpy = hits
    assert hits == with_numpy


def without_numpy(store, wanted, monkeypatch):
    """Return what a search finds with numpy, after comparing it with what it finds without."""
    pytest.importorskip("numpy")
    monkeypatch.setattr(vectors, "WORTH_NUMPY", 0)
    with_numpy = store.search(wanted)
    monkeypatch.setattr(vectors, "find_numpy", lambda: None)
    assert store.search(wanted) == with_numpy
    return with_numpy


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("scale", [1e-2, 1.0, -1e2, 1e12])
def test_vectors_of_any_length_are_told_apart(function, scale, monkeypatch):
    """VIX-42: short ones and long ones beside each other, and a query of any length."""
    draw = random.Random(scale)
    listed = [
        array("f", [draw.uniform(-1, 1) * 10 ** draw.uniform(-3, 3) for _ in range(SIZE)])
        for _ in range(200)
    ]
    query = array("f", [scale * draw.uniform(0.1, 1) for _ in range(SIZE)])
    assert len(without_numpy(filled(listed), VectorSearch(query, 5, function), monkeypatch)) == 5


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("size", [2, 200])
def test_sums_that_32_bits_cannot_hold_are_not_made_of_32_bits(sign, size, monkeypatch):
    """VIX-42: half of the products are as large as the others are small; together they are 0."""
    large = {2: 3e38, 200: 1e19}[size]
    half = [large] * (size // 2)
    store = VectorStore(size)
    for number, vector in enumerate(
        ([*half, *(-x for x in half)], [large] * size, [-large] * size)
    ):
        store.put((number,), entry(array("f", vector), name=str(number)))
    query = array("f", [sign * large] * size)
    hits = without_numpy(store, VectorSearch(query, 2, "DOT_PRODUCT"), monkeypatch)
    assert [hit.position for hit in hits] == [(1 if sign > 0 else 2,), (0,)]


def test_a_query_is_as_large_as_its_lowest_number(monkeypatch):
    """VIX-42: the sums of 32 bits would be infinite in both directions at once."""
    store = filled([array("f", [3e38, -3e38, 0]), array("f", [1, 1, 0]), array("f", [0, 0, 1])])
    query = array("f", [-3e38, -3e38, 0])
    hits = without_numpy(store, VectorSearch(query, 2, "DOT_PRODUCT"), monkeypatch)
    assert [hit.position[1] for hit in hits] == ["0", "2"]


@pytest.mark.parametrize("length", [1.0, 2.0**20])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_thousands_of_ties_and_near_ties_give_one_order(function, length, monkeypatch):
    """VIX-42: sums of 32 bits cannot tell these apart, exact ones can."""
    pytest.importorskip("numpy")
    steps = [single(1 + (number % 50) * 2**-23) for number in range(600)]
    store = filled([array("f", [length * step, length, -2.0 * length]) for step in steps])
    wanted = VectorSearch(array("f", [length, length, -2.0 * length]), 20, function)
    monkeypatch.setattr(vectors, "WORTH_NUMPY", 0)
    with_numpy = store.search(wanted)
    monkeypatch.setattr(vectors, "find_numpy", lambda: None)
    assert store.search(wanted) == with_numpy


@pytest.mark.parametrize(
    ("function", "scores"),
    [
        ("COSINE", [0, 0.4, 1, 2]),
        ("EUCLIDEAN", [0, 0.8944272, 1.4142135, 2]),
        ("DOT_PRODUCT", [1, 0.6, 0, -1]),
    ],
)
def test_scores_are_those_that_were_seen(function, scores):
    """VIX-42."""
    seen = [(1, 0, 0), (0.6, 0.8, 0), (0, 1, 0), (-1, 0, 0)]
    store = filled([array("f", vector) for vector in seen])
    hits = store.search(VectorSearch(array("f", (1, 0, 0)), 4, function))
    assert [hit.score for hit in hits] == pytest.approx(scores, rel=1e-6)
    assert all(hit.score == single(hit.score) for hit in hits)


def test_a_score_beyond_32_bits_is_the_largest_number():
    """VIX-42."""
    store = filled([array("f", [3e38, 3e38, 0]), array("f", [-3e38, -3e38, 0])])
    hits = store.search(VectorSearch(array("f", [3e38, 1, 0]), 2, "DOT_PRODUCT"))
    assert [hit.score for hit in hits] == [LARGEST_FLOAT, -LARGEST_FLOAT]


def test_equal_vectors_are_at_no_cosine_distance():
    """VIX-42."""
    vector = array("f", [0.1, 0.7, 1e-3])
    (hit,) = filled([vector]).search(VectorSearch(vector, 1, "COSINE"))
    assert hit.score == 0.0


def test_a_search_stays_in_its_partition_and_keeps_what_passes():
    """VIX-43."""
    store = VectorStore(SIZE)
    for name in "abcd":
        partition = "t" if name in "abc" else "u"
        store.put((1, name), entry(array("f", [1, 1, 1]), partition, name))
    query = array("f", [1, 1, 1])
    wanted = VectorSearch(query, 9, "COSINE", "t", lambda item: item.attributes["pk"] != "b")
    assert [hit.item.attributes["pk"] for hit in store.search(wanted)] == ["a", "c"]
    assert store.search(wanted._replace(partition="nobody")) == []


def test_numpy_is_not_asked_for_little_work(monkeypatch):
    monkeypatch.setattr(vectors, "find_numpy", lambda: pytest.fail("it was"))
    store = filled([array("f", [1, 1, 1])] * 20)
    assert len(store.search(VectorSearch(array("f", [1, 1, 1]), 5, "COSINE"))) == 5


def test_a_partition_that_its_last_entry_leaves_is_forgotten():
    store = VectorStore(SIZE)
    store.put((1,), entry(array("f", [1, 0, 0]), "t"))
    store.put((1,), entry(array("f", [1, 0, 0]), "u"))
    store.check()
    assert len(store) == 1


def test_a_shared_store_is_copied_by_its_first_write_alone():
    """A write costs no more than its dimensions, but the first one after sharing."""
    store = VectorStore(SIZE)
    store.put((1,), entry(array("f", [1, 0, 0])))
    store.share()
    store.put((2,), entry(array("f", [1, 0, 0])))
    own = store._partitions
    block = store._blocks[None]
    store.put((3,), entry(array("f", [1, 0, 0])))
    assert (store._partitions is own, store._blocks[None] is block) == (True, True)


def test_an_entry_in_the_middle_is_replaced_in_its_place():
    store = VectorStore(SIZE)
    for number in (1, 2, 3, 1):
        store.put((number,), entry(array("f", [number, len(store), 0])))
        store.check()
    assert [list(held.vector) for _, held in store] == [[1, 3, 0], [2, 1, 0], [3, 2, 0]]
