"""What an answer says of its batch."""

import pytest

from emulator.streams.answers import first_failed

NUMBERS = ["100", "101", "102"]


@pytest.mark.parametrize(
    "answer",
    [None, {}, {"batchItemFailures": []}, {"batchItemFailures": None}, {"statusCode": 200}],
)
def test_a_null_or_empty_report_is_success(answer):
    """EVS-20."""
    assert first_failed(answer, NUMBERS) is None


@pytest.mark.parametrize(
    ("named", "index"), [(["102"], 2), (["102", "101"], 1), (["100"], 0), (["101", "102"], 1)]
)
def test_the_lowest_number_is_the_checkpoint(named, index):
    """EVS-21."""
    report = {"batchItemFailures": [{"itemIdentifier": number} for number in named]}
    assert first_failed(report, NUMBERS) == index


@pytest.mark.parametrize(
    "report",
    [
        [{"itemIdentifier": ""}],
        [{"itemIdentifier": None}],
        [{"itemidentifier": "102"}],
        [{"itemIdentifier": "102"}, {"itemIdentifier": ""}],
        [{"itemIdentifier": "999"}],
        ["102"],
        "102",
        {"itemIdentifier": "102"},
    ],
)
def test_a_report_that_names_no_record_fails_the_batch(report):
    """EVS-22."""
    assert first_failed({"batchItemFailures": report}, NUMBERS) == 0


@pytest.mark.parametrize("answer", ["ok", [], 5])
def test_an_answer_that_is_no_object_fails_the_batch(answer):
    """EVS-22."""
    assert first_failed(answer, NUMBERS) == 0
