"""What writes have replaced: the log gives every state since, within its bounds."""

from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.engine.history import CHANGE_BYTES, ChangeLog
from emulator.model import Item
from emulator.storage import OrderedStore

FOREVER = 10**18
NEW = Item.of({"pk": "a", "text": "0123456789"})


def write(history, store, key, text, at_ns):
    """Write an item or, with no text, remove it; and note what was there."""
    position = (1, key)
    old = store.get(position)
    if text is not None:
        store.put(position, Item.of({"pk": key, "text": text}))
    elif old is not None:
        store.remove(position)
    if text is not None or old is not None:
        history.record(position, old, at_ns)


def contents(store):
    return {position[1]: item.attributes["text"] for position, item in store.walk((0,), (9,))}


WRITES = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from("abc"), st.none() | st.sampled_from("xyz"))
)


@settings(max_examples=60)
@given(writes=WRITES, kept=st.integers(0, 12), period_ns=st.integers(0, 20) | st.just(FOREVER))
def test_every_state_since_the_earliest_one_is_known(writes, kept, period_ns):
    history = ChangeLog(0, period_ns=period_ns, most_bytes=kept * (CHANGE_BYTES + 20))
    store, now_ns, states = OrderedStore(), 0, {0: {}}
    for pause, key, text in writes:
        now_ns += pause
        write(history, store, key, text, now_ns)
        states[now_ns] = contents(store)
        history.check()
    expected = {}
    for moment_ns in range(now_ns + 2):
        expected = states.get(moment_ns, expected)
        if moment_ns >= history.complete_since_ns:
            assert contents(history.state_at(store, moment_ns)) == expected
    assert contents(store) == states[now_ns]


@settings(max_examples=60)
@given(writes=WRITES, bounds=st.tuples(st.integers(0, 20), st.integers(0, 20)))
def test_differences_lead_from_one_state_to_the_next(writes, bounds):
    """S3X-8: from a moment inclusive to another exclusive, one for each item."""
    history, store, now_ns = ChangeLog(0, period_ns=FOREVER, most_bytes=FOREVER), OrderedStore(), 1
    for pause, key, text in writes:
        now_ns += pause
        write(history, store, key, text, now_ns)
    from_ns, to_ns = min(bounds), max(bounds)
    before = contents(history.state_at(store, from_ns - 1))
    after = dict(before)
    for position, old, new, written_ns in history.between(store, from_ns, to_ns):
        key = position[1]
        assert from_ns <= written_ns < to_ns
        assert (None if old is None else old.attributes["text"]) == before.get(key)
        if new is None:
            assert after.pop(key)
        else:
            after[key] = new.attributes["text"]
    assert after == contents(history.state_at(store, to_ns - 1))


def test_a_copy_goes_its_own_way():
    history, store = ChangeLog(0, period_ns=FOREVER, most_bytes=FOREVER), OrderedStore()
    write(history, store, "a", "x", 1)
    twin, twin_store = history.share(), store.share()
    write(twin, twin_store, "b", "x", 2)
    write(history, store, "a", None, 3)
    assert [change.at_ns for change in history.changes] == [1, 3]
    assert [change.at_ns for change in twin.changes] == [1, 2]
    assert contents(history.state_at(store, 2)) == {"a": "x"}
    assert contents(twin.state_at(twin_store, 1)) == {"a": "x"}


def test_a_change_counts_with_what_it_replaced():
    history = ChangeLog(0, period_ns=FOREVER, most_bytes=CHANGE_BYTES + NEW.size_bytes)
    history.record((1, "a"), NEW, 5)
    assert (len(history.changes), history.complete_since_ns) == (1, 0)
    history.record((1, "a"), None, 6)
    assert (len(history.changes), history.complete_since_ns) == (1, 5)
