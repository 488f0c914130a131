"""Sizes: CAP-101, CAP-102, SIZ-1, SIZ-2, EX-1 to EX-7, VEC-12."""

from hypothesis import given
from hypothesis import strategies as st

from emulator.model import Item, attributes_size
from emulator.model.wire import dump_item, load_item
from tests.each import each


@each(
    ("written", "size"),
    [
        ({"shirt-color": {"S": "R"}, "shirt-size": {"S": "M"}}, 23),  # EX-1
        ({"pk": {"S": "é"}}, 4),  # EX-2
        ({"n": {"N": "12345"}}, 5),  # EX-3
        ({"n": {"N": "-12345"}}, 6),
        ({"n": {"N": "1000"}}, 3),  # CAP-104: zeros at the end in pairs
        ({"n": {"N": "10000"}}, 3),
        ({"n": {"N": "100.5"}}, 5),
        ({"n": {"N": "120"}}, 4),  # SIZ-2: by pairs around the point, not by digits
        ({"n": {"N": "0.012"}}, 4),
        ({"n": {"N": "0"}}, 2),
        ({"b": {"B": "AQI="}}, 3),  # EX-4
        ({"t": {"BOOL": True}}, 2),
        ({"z": {"NULL": True}}, 2),
        ({"l": {"L": []}}, 4),  # EX-5
        ({"l": {"L": [{"S": "ab"}, {"N": "5"}]}}, 10),
        ({"m": {"M": {"k": {"S": "ab"}, "x": {"L": []}}}}, 13),  # EX-6
        ({"s": {"SS": ["a", "bc"]}}, 4),  # EX-7
        ({"f": {"NS": ["1.23", "12.3"]}}, 7),
        ({"g": {"BS": ["AQI=", "Ag==", "AQ=="]}}, 5),
        ({"a": {"S": "xyz"}}, 4),  # VEC-12
        ({"m": {"M": {"k": {"S": "v"}}}}, 7),
        ({"l": {"L": [{"BOOL": True}]}}, 6),
        ({"naïve": {"M": {"é": {"S": ""}}}}, 6 + 3 + 1 + 2),
    ],
)
def test_sizes_to_the_byte(written, size):
    assert load_item(written).size_bytes == size


scalars = (
    st.builds(lambda text: {"S": text}, st.text(st.characters(codec="utf-8"), max_size=20))
    | st.builds(lambda n: {"N": str(n)}, st.integers(-(10**20), 10**20))
    | st.sampled_from([{"BOOL": True}, {"NULL": True}, {"B": "AQI="}, {"SS": ["a", "é"]}])
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.builds(lambda members: {"L": members}, st.lists(inner, max_size=3))
        | st.builds(
            lambda members: {"M": members},
            st.dictionaries(st.text("abé", min_size=1), inner, max_size=3),
        )
    ),
    max_leaves=8,
)
items = st.dictionaries(st.text("xyzé", min_size=1, max_size=5), values, max_size=5)


@given(items)
def test_loading_measures_what_measuring_again_finds(written):
    item = load_item(written)
    assert item.size_bytes == attributes_size(item.attributes)
    assert item.levels == Item.of(item.attributes).levels


@given(items)
def test_an_item_comes_back_as_it_was_written(written):
    loaded = load_item(written)
    assert load_item(dump_item(loaded.attributes)).same_as(loaded)


@given(items, items)
def test_replacing_measures_like_measuring_anew(old, new):
    before, after = load_item(old), load_item(new)
    mixed = {**before.attributes, **after.attributes}
    replaced = before.replace(mixed, after.attributes)
    assert replaced.size_bytes == attributes_size(mixed)
    assert replaced.levels >= Item.of(mixed).levels
