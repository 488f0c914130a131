"""Drawing: scales keep order, marks are round, and files are XML."""

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from emulator.lab.report import svg

positive = st.floats(min_value=1e-6, max_value=1e12)


@given(positive, st.integers(min_value=1, max_value=12))
def test_a_nice_step_divides_a_span_into_at_most_so_many_parts(span, most):
    step = svg.nice_step(span, most)
    assert span / step <= most * (1 + 1e-6)


@given(positive)
def test_a_scale_from_zero_holds_its_highest_value(high):
    scale = svg.from_zero(high, 200, 0)
    assert scale.low == 0
    assert scale.high >= high * (1 - 1e-9)
    assert scale.ticks()[0] == 0
    assert scale(scale.high) == 0


@given(st.integers(min_value=1, max_value=10_000_000))
def test_a_run_of_any_length_has_a_few_marks_within_it(seconds):
    ticks = svg.over_time(seconds, 0, 100, most=8).ticks()
    assert 1 <= len(ticks) <= 9
    assert all(0 <= tick <= seconds for tick in ticks)


@given(st.lists(st.floats(min_value=0.001, max_value=1e6), min_size=2, max_size=9, unique=True))
def test_a_ratio_scale_keeps_order(values):
    scale = svg.Logarithmic(0.001, 1e6, 0, 100)
    values.sort()
    assert sorted(scale(value) for value in values) == [scale(value) for value in values]


def test_steps_of_equal_height_become_one():
    x, y = svg.Linear(0, 30, 0, 30, 10), svg.Linear(0, 1, 0, 1, 1)
    assert svg.stairs([1, 1, 0], 10, x, y) == [(0, 1), (20, 1), (20, 0), (30, 0)]


def test_a_drawing_escapes_what_it_is_given():
    drawing = svg.Drawing(10, 10, 'a "label" <b>')
    drawing.text(1, 2, "<script>&")
    element = ElementTree.fromstring(drawing.render())
    assert element.get("aria-label") == 'a "label" <b>'
    assert [child.text for child in element] == ["<script>&"]


def test_a_file_of_its_own_is_xml_with_its_colours():
    drawing = svg.Drawing(10, 10, "x")
    drawing.add("rect", x=1, y=1, width=2, height=2, cls="fill red")
    root = ElementTree.fromstring(svg.standalone(drawing.render(), "A & B").encode())
    space = "{http://www.w3.org/2000/svg}"
    assert root.tag == f"{space}svg"
    assert root.find(f"{space}title").text == "A & B"
    assert "prefers-color-scheme: dark" in root.find(f"{space}style").text
