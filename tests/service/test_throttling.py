"""Limits, and what each brings along: reasons, metrics, sentences, an error."""

import pytest

from emulator.capacity import Metrics, Reason, throttle_error
from emulator.capacity.retries import STANDARD
from emulator.service.throttling import (
    AXES,
    THROTTLE_CODES,
    ThrottlingLimit,
    cause_of,
    cures_of,
    parse_reason,
)

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/events"

each_limit = pytest.mark.parametrize("limit", ThrottlingLimit)
each_axis = pytest.mark.parametrize("axis", AXES)


@each_limit
@each_axis
@pytest.mark.parametrize("is_index", [False, True])
def test_a_reason_leads_back_to_its_limit(limit, axis, is_index):
    """CAP-702."""
    reason = limit.reason(axis, is_index=is_index)
    assert parse_reason(reason) == (is_index, axis, limit)
    assert ThrottlingLimit.of(reason) is limit


@each_limit
@each_axis
def test_a_limit_is_refused_counted_and_retried(limit, axis):
    """CAP-705, CAP-708, CAP-802: nothing but the member says how."""
    reason = Reason(limit.reason(axis, is_index=False), ARN)
    error = throttle_error([reason], on_demand=True)
    assert (type(error), error.message) == (limit.error, limit.sentences[0])
    assert error.code in THROTTLE_CODES
    assert STANDARD.is_retryable(error.code)
    metrics = Metrics()
    metrics.count_throttles([reason])
    assert metrics.names() == sorted([limit.metric(axis), f"{axis}ThrottleEvents"])


def test_the_words_tell_limits_apart():
    assert len({limit.words for limit in ThrottlingLimit}) == len(ThrottlingLimit)


def test_there_are_sixteen_reasons():
    """CAP-701: of tables and indexes, reads and writes, four limits."""
    reasons = {
        limit.reason(axis, is_index=is_index)
        for limit in ThrottlingLimit
        for axis in AXES
        for is_index in (False, True)
    }
    assert reasons == {
        f"{place}{axis}{limit}Exceeded"
        for place in ("Table", "Index")
        for axis in ("Read", "Write")
        for limit in (
            "ProvisionedThroughput",
            "KeyRangeThroughput",
            "MaxOnDemandThroughput",
            "AccountLimit",
        )
    }


@each_limit
@each_axis
@pytest.mark.parametrize("is_index", [False, True])
def test_a_limit_has_a_cause_and_cures_of_its_own(limit, axis, is_index):
    """CAP-702."""
    cause = cause_of(limit, axis, is_index=is_index, name="orders")
    cures = cures_of(limit, axis, is_index=is_index, name="orders")
    assert f"{axis.lower()} units" in cause or limit is ThrottlingLimit.KEY_RANGE
    assert ("its index cannot take them" in cause) is (is_index and axis == "Write")
    assert len(set(cures)) == len(cures) > 1
    others = [other for other in ThrottlingLimit if other is not limit]
    assert cures[0] not in [
        cures_of(other, axis, is_index=is_index, name="orders")[0] for other in others
    ]
    assert "{" not in cause + "".join(map(" ".join, cures))
