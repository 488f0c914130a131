"""Templates: one small language, read in one place."""

import pytest

from emulator.lab.inputs.key_templates import TemplateError, parse, stretches

START = 1_767_225_600.0  # 2026-01-01T00:00:00Z


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{deviceId}", "d7"),
        ("DEVICE#{deviceId}", "DEVICE#d7"),
        ("{timestamp:hour}", "2026-01-01T01"),
        ("{timestamp:minute}", "2026-01-01T01:01"),
        ("{timestamp:day}", "2026-01-01"),
        ("{timestamp:%Y-%m}", "2026-01"),
        ("{timestamp}", "2026-01-01T01:01:01.500000Z"),
        ("{deviceId}#{hash(orderId) % 10}", "d7#3"),
        ("{deviceId}#{hash(orderId) % shards}", "d7#1"),
        ("{{{deviceId}}}", "{d7}"),
    ],
)
def test_a_template_renders_a_row_at_a_moment(text, expected):
    render = parse(text, {"shards": 3}).bind({"deviceId": 0, "orderId": 1})

    assert render(["d7", "order-1"], START + 3661.5) == expected


@pytest.mark.parametrize(
    "text",
    ["{a}", "x#{b}", "{timestamp:hour}#{a}", "{a}#{hash(a, b) % 7}", "{a}#{random(7)}", "y"],
)
@pytest.mark.parametrize("known", [{}, {"hash(a,b)%7": 0}])
def test_many_rows_at_one_moment_are_rendered_like_each(text, known):
    template, columns = parse(text), {"a": 0, "b": 1} | known
    rows = [(str(n % 3), str(n % 5)) for n in range(20)]
    render = template.bind(columns)

    assert template.texts(columns, rows, START) == [render(row, START) for row in rows]


def test_a_column_of_the_suffix_takes_the_place_of_its_calculation():
    template = parse("{userId}#{hash(orderId) % 4}")

    render = template.bind({"userId": 0, "hash(orderId)%4": 1})

    assert [render(["u", str(n)], 0.0) for n in range(4)] == ["u#0", "u#1", "u#2", "u#3"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "a key template must not be empty"),
        ("{deviceId", "'{deviceId': '{' at column 1 is never closed"),
        ("deviceId}", "'deviceId}': '}' at column 9 closes nothing"),
        ("{}", "'{}': cannot read {}; write a field"),
        ("{a b}", "'{a b}': cannot read {a b}; write a field"),
        ("{timestamp:fortnight}", "'fortnight' is not a unit of time; use second, minute"),
        ("{timestamp:%Q}", "a key cannot contain the time directive %Q"),
        ("{hash() % 3}", "hash() takes field names, not ''"),
        ("{hash(a) % shards}", "no parameter 'shards' in the design, which has none"),
        ("{random(0)}", "expected at least 1 suffix, not 0"),
        ("{__import__('os')}", "cannot read {__import__('os')}"),
    ],
)
def test_a_broken_template_says_what_is_wrong(text, complaint):
    with pytest.raises(TemplateError) as error:
        parse(text)

    assert complaint in str(error.value)


def test_a_template_knows_what_it_is_made_of():
    template = parse("{userId}#{hash(orderId) % 10}#{timestamp:hour}")

    assert template.fields == ("userId",)
    assert template.names == {"userId", "orderId", "timestamp"}
    assert template.step_seconds == 3600
    assert template.single_field is None
    assert parse("{timestamp}").single_field == "timestamp"
    assert parse("{timestamp:hour}").single_field is None


@pytest.mark.parametrize(
    ("text", "days", "count"),
    [("{timestamp:%Y-%m}", 89, 3), ("{timestamp:day}", 2, 2), ("{timestamp:year}", 0, 1)],
)
def test_a_range_of_time_falls_into_stretches(text, days, count):
    end = START + 89 * 86_400 - 1  # the last second of 30 March

    assert len(stretches(parse(text).times, end - days * 86_400 + 86_400, end)) == count
