"""Which emulator serves whom: nested, in threads, in tasks."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from emulator import EmulatorError, ManualClock, SystemClock
from emulator.sdk import scopes
from emulator.sdk.scopes import Scope, enclosing, innermost, innermost_of


class Stub:
    """An emulator that only has a name and a clock."""

    region, account_id = "us-east-1", "000000000000"

    def __init__(self, name="", clock=None):
        self.name = name
        self.clock = SystemClock() if clock is None else clock

    def call(self, operation, request, *, region=None):
        return {}


class Entered:
    """A scope as a context manager."""

    def __init__(self, name="", *, clock=None, hide_credentials=False):
        self.name, self.clock, self.hide_credentials = name, clock, hide_credentials

    def __enter__(self):
        self.scope = Scope(
            Stub(self.name, self.clock), fast=False, hide_credentials=self.hide_credentials
        )
        self.scope.open(lambda: None)
        return self.scope

    def __exit__(self, *_):
        self.scope.close(lambda: None)


def served_by():
    scope = innermost()
    return None if scope is None else scope.emulator.name


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    assert not scopes.is_any_active()
    yield
    assert not scopes.is_any_active()
    assert innermost() is None


def in_thread(function):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


def test_the_innermost_serves():
    assert served_by() is None
    with Entered("outer"):
        assert served_by() == "outer"
        with Entered("inner"):
            assert served_by() == "inner"
        assert served_by() == "outer"


def test_the_first_installs_and_the_last_uninstalls():
    events = []
    first, second = (Scope(Stub(), fast=False, hide_credentials=False) for _ in range(2))
    first.open(lambda: events.append("install"))
    second.open(lambda: events.append("never"))
    first.close(lambda: events.append("never"))
    assert innermost() is second
    second.close(lambda: events.append("uninstall"))
    assert events == ["install", "uninstall"]


def test_an_installation_that_fails_opens_nothing():
    def fail():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Scope(Stub(), fast=False, hide_credentials=True).open(fail)
    assert os.environ.get("AWS_ACCESS_KEY_ID") != scopes.ACCESS_KEY


# Threads


def test_a_thread_started_inside_is_served():
    with Entered("outer"), Entered("inner"):
        assert in_thread(served_by) == "inner"


def test_a_thread_started_before_is_served():
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(served_by).result() is None
        with Entered("outer"):
            assert pool.submit(served_by).result() == "outer"
            with Entered("inner"):
                assert pool.submit(served_by).result() == "inner"
            assert pool.submit(served_by).result() == "outer"


def test_threads_that_enter_their_own_do_not_mix():
    both_inside = threading.Barrier(2)

    def work(name):
        with Entered(name):
            both_inside.wait(5)
            seen = served_by(), in_copied_context(served_by)
            both_inside.wait(5)
            return seen

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(work, ["one", "two"])) == [("one", "one"), ("two", "two")]


def in_copied_context(function):
    context = contextvars.copy_context()
    return in_thread(lambda: context.run(function))


def test_a_thread_of_nobody_is_refused_while_two_stand_side_by_side():
    inside, leave = threading.Event(), threading.Event()

    def work():
        with Entered("other"):
            inside.set()
            leave.wait(5)

    with ThreadPoolExecutor(1) as pool, Entered("here"):
        working = pool.submit(work)
        inside.wait(5)
        assert served_by() == "here"
        with pytest.raises(EmulatorError) as refusal:
            in_thread(served_by)
        leave.set()
        working.result()
        assert in_thread(served_by) == "here"
    assert str(refusal.value) == (
        "several emulators are active side by side and this thread entered none of them: "
        "start it with contextvars.copy_context().run, or enter mock_dynamodb in it"
    )


def test_a_scope_may_end_before_one_that_was_entered_in_it():
    outer, inner = Entered("outer"), Entered("inner")
    outer.__enter__()
    inner.__enter__()
    outer.__exit__()
    assert served_by() == "inner"
    assert in_thread(served_by) == "inner"
    inner.__exit__()


# Tasks


async def test_tasks_inherit_and_do_not_mix():
    async def work(name):
        inherited = served_by()
        with Entered(name):
            await asyncio.sleep(0)
            own = served_by()
            await asyncio.sleep(0)
        return inherited, own, served_by()

    with Entered("outer"):
        assert await asyncio.gather(work("one"), work("two")) == [
            ("outer", "one", "outer"),
            ("outer", "two", "outer"),
        ]
        assert await asyncio.to_thread(served_by) == "outer"


def test_a_scope_entered_in_another_context_of_the_thread_serves():
    """As an asynchronous fixture does for its test."""
    entered = Entered("fixture")
    contextvars.copy_context().run(entered.__enter__)
    assert served_by() == "fixture"
    with Entered("test"):
        assert served_by() == "test"
        assert in_thread(served_by) == "test"
    contextvars.copy_context().run(entered.__exit__)


async def test_a_scope_of_a_task_that_runs_encloses_nothing_of_another():
    inside, leave = asyncio.Event(), asyncio.Event()

    async def work():
        with Entered("other"):
            inside.set()
            await leave.wait()

    working = asyncio.create_task(work())
    await inside.wait()
    assert enclosing() is None
    leave.set()
    await working


async def test_a_scope_of_a_task_that_is_over_encloses_what_comes_next():
    """As an asynchronous fixture does for its test."""
    entered = Entered("fixture")

    async def fixture():
        return entered.__enter__()

    scope = await asyncio.create_task(fixture())
    assert enclosing() is scope
    assert in_thread(enclosing) is None
    entered.__exit__()


def test_a_context_that_outlives_its_scope_is_free():
    with Entered("gone"):
        context = contextvars.copy_context()
    assert context.run(served_by) is None
    with Entered("next"):
        assert context.run(served_by) == "next"


def test_of_several_scopes_the_callers_own_is_found():
    with Entered() as first, Entered() as second:
        assert innermost_of([first, second]) is second
        assert innermost_of([first]) is first
        assert contextvars.Context().run(innermost_of, [second, first]) is first


# The environment


def test_credentials_are_hidden_while_any_scope_hides_them(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "real")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY", raising=False)
    with Entered():
        assert os.environ["AWS_ACCESS_KEY_ID"] == "real"
        with Entered(hide_credentials=True):
            assert os.environ["AWS_ACCESS_KEY_ID"] == "emulator"
            with Entered(hide_credentials=True):
                assert scopes.credentials_are_hidden()
            assert os.environ["AWS_SECRET_ACCESS_KEY"] == "emulator"
        assert os.environ["AWS_ACCESS_KEY_ID"] == "real"
        assert "AWS_SECRET_ACCESS_KEY" not in os.environ


# The SDK's time


def test_the_sdks_time_never_goes_back_from_scope_to_scope():
    seen = []
    for start in (1_000_000_000.25, 4_000_000_000.25, 5.25):
        clock = ManualClock(start=start)
        with Entered(clock=clock) as scope:
            assert scope.is_virtual
            seen.append(scope.sdk_time())
            clock.advance(1000)
            seen.append(scope.sdk_time())
    assert seen == sorted(seen)
    assert all(
        later - earlier == 1000 for earlier, later in zip(seen[::2], seen[1::2], strict=True)
    )
    assert {time % 1 for time in seen} == {0.25}


def test_real_time_is_not_virtual():
    with Entered() as scope:
        assert not scope.is_virtual
