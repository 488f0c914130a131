"""Settings: Lambda's defaults and ranges."""

import pytest

from emulator.streams.mapping import RANGES, EventSourceMapping


def test_the_defaults_are_lambdas():
    """EVS-1."""
    mapping = EventSourceMapping()
    assert {name: getattr(mapping, name) for name in RANGES} == {
        "batch_size": 100,
        "batch_window": 0,
        "parallelization_factor": 1,
        "retries": -1,
        "max_record_age": -1,
        "tumbling_window": 0,
        "timeout": 3,
    }
    assert not mapping.bisect_on_error
    assert not mapping.report_item_failures
    assert mapping.retries_for_ever


@pytest.mark.parametrize("name", RANGES)
def test_a_value_beyond_its_range_is_refused_in_the_services_words(name):
    """EVS-2."""
    member, least, most = RANGES[name]
    for value in (least, most):
        EventSourceMapping(**{name: value})
    failed = f"1 validation error detected: Value '{{}}' at '{member}' failed to satisfy constraint"
    with pytest.raises(ValueError) as low:
        EventSourceMapping(**{name: least - 1})
    assert str(low.value) == (
        f"{failed.format(least - 1)}: Member must have value greater than or equal to {least}"
    )
    with pytest.raises(ValueError) as high:
        EventSourceMapping(**{name: most + 1})
    assert str(high.value) == (
        f"{failed.format(most + 1)}: Member must have value less than or equal to {most}"
    )


@pytest.mark.parametrize(
    ("settings", "error", "sentence"),
    [
        ({"max_record_age": 59}, ValueError, "max_record_age is -1, or from 60 to 604,800 seconds"),
        ({"max_record_age": 0}, ValueError, "max_record_age is -1"),
        ({"batch_size": 1.5}, TypeError, "batch_size takes a whole number, not 1.5"),
        ({"batch_size": True}, TypeError, "batch_size takes a whole number, not True"),
        ({"bisect_on_error": "yes"}, TypeError, "bisect_on_error takes True or False"),
        ({"starting_position": "NOW"}, ValueError, "one of TRIM_HORIZON and LATEST, not 'NOW'"),
        ({"activation_delay": -1}, ValueError, "activation_delay takes a number of seconds"),
        ({"activation_delay": "1"}, ValueError, "activation_delay takes a number of seconds"),
        ({"at_least_once": "x"}, TypeError, "at_least_once takes a whole number"),
    ],
)
def test_what_fits_no_range_is_refused_in_one_sentence(settings, error, sentence):
    """EVS-2, EVS-3."""
    with pytest.raises(error) as caught:
        EventSourceMapping(**settings)
    assert sentence in str(caught.value)
