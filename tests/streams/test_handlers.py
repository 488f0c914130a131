"""Handlers: what a call gets and how it went."""

from emulator import ManualClock
from emulator.streams.handlers import Invocation, LambdaContext, Outcome, call, name_of, resolved


def context(clock=None, deadline_ns=10**30):
    return LambdaContext(
        function_name="orders",
        invoked_function_arn="arn:aws:lambda:us-east-1:000000000000:function:orders",
        aws_request_id="1-2-3",
        clock=clock or ManualClock(),
        timeout=3,
        deadline_ns=deadline_ns,
    )


def test_a_context_says_what_lambdas_says():
    made = context(ManualClock(start=0), deadline_ns=1_500_000_000)
    assert made.get_remaining_time_in_millis() == 1500
    made.clock.advance(2)
    assert made.get_remaining_time_in_millis() == 0
    assert made.log_group_name == "/aws/lambda/orders"
    assert made.log_stream_name == "[$LATEST]1-2-3"
    assert (made.memory_limit_in_mb, made.identity, made.client_context) == ("128", None, None)


def test_a_handler_may_be_an_object_a_partial_or_an_import_path():
    from functools import partial

    assert name_of(partial(print)) == "partial"
    assert name_of(lambda event, context: None) == "lambda"
    assert resolved("tests.streams.sources.Handler") is resolved("tests.streams.sources:Handler")


def test_an_outcome_is_what_was_returned_or_raised():
    assert call(lambda event, context: event, Invocation({"a": 1}, context())) == Outcome({"a": 1})

    def fails(event, context):
        raise KeyError("a")

    assert repr(call(fails, Invocation({}, context())).error) == "KeyError('a')"
