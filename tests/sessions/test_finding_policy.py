"""Which findings are reported, and which of them fail a test."""

import pytest

from emulator.observe import KINDS, CallFinding
from emulator.sessions import Fault
from emulator.sessions.finding_policy import FindingsPolicy, Ignored, policy_of, verdict


def finding(kind="scan", table="orders", file="shop/orders.py", function="Orders.search"):
    return CallFinding(kind, table, None, (file, 3, function), 1, "Scan orders", "use a Query")


def test_nothing_fails_unless_somebody_says_so():
    assert policy_of({}) == FindingsPolicy()
    assert verdict([finding()], FindingsPolicy()) is None


def test_kinds_that_fail_come_with_commas_or_spaces():
    policy = policy_of({"fail_on": "scan, throttle write-loop"})
    assert policy.fail_on == {"scan", "would-throttle", "write-loop"}
    assert policy_of({"findings": "fail"}).fail_on == set(KINDS)


def test_what_is_off_is_on_for_what_fails():
    assert not policy_of({"findings": "off"}).is_on
    assert policy_of({"findings": "off", "fail_on": "scan"}).is_on


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ({"fail_on": "scans"}, "there is no finding 'scans'; there are throttle, would-throttle"),
        ({"findings": "on"}, "findings is one of off, warn, fail, not 'on'"),
        ({"repeat_threshold": "1"}, "repeat_threshold is a whole number of at least 2, not '1'"),
        ({"repeat_threshold": "few"}, "repeat_threshold is a whole number of at least 2"),
        ({"ignore": ["scan"]}, "ignore: 'scan' is not of the form KIND TABLE"),
        ({"ignore": ["scan t line=3"]}, "ignore: 'scan t line=3' is not of the form"),
        ({"ignore": ["scans t"]}, "there is no finding 'scans'"),
    ],
)
def test_a_wrong_setting_is_one_sentence(written, sentence):
    with pytest.raises(Fault) as caught:
        policy_of(written)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("line", "covers"),
    [
        ("scan orders", True),
        ("* ord*", True),
        ("throttle orders", False),
        ("scan users", False),
        ("scan * file=shop/*", True),
        ("scan * file=*.sql", False),
        ("scan * function=Orders.*", True),
        ("scan * file=shop/* function=place", False),
    ],
)
def test_what_is_ignored(line, covers):
    [rule] = policy_of({"ignore": [line]}).ignored
    assert isinstance(rule, Ignored)
    assert rule.covers(finding()) is covers


def test_a_test_fails_for_the_kinds_that_fail_only():
    found = [finding(), finding("write-loop")]
    text = verdict(found, policy_of({"fail_on": "write-loop"}))
    assert text.splitlines() == [
        "this could be improved, and the session fails on it:",
        "  write-loop at shop/orders.py:3: Scan orders; use a Query",
    ]
