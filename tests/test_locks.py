"""A child of a fork finds every lock free and everything whole."""

import os
import sys
import threading
import warnings
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest

import emulator
from emulator import Emulator, ManualClock, locks
from emulator.locks import Rank, holding, new_lock
from emulator.observe import Ledger
from emulator.sdk import scopes
from tests.tables import table

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
#: How long a thread keeps a lock when a fork waits for it, and how long a child waits for one.
SECONDS = 0.1
PATIENCE_SECONDS = 20
#: What a module tells that is slow to read.
READING: dict[str, Any] = {}


def child_of(work):
    """Return whether ``work()`` is true in a forked child."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads is the point
        pid = os.fork()
    if not pid:
        status = 1
        try:
            status = 0 if work() else 1
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


@contextmanager
def held_by_another_thread(lock):
    taken, over = threading.Event(), threading.Event()

    def hold():
        with lock:
            taken.set()
            over.wait(SECONDS)

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait()
    yield
    over.set()
    thread.join()


@pytest.mark.parametrize(
    "lock_of",
    [
        lambda emu: emu.account().lock,
        lambda emu: emu.clock._lock,
        lambda _: Ledger()._lock,
        lambda _: scopes._lock,
    ],
    ids=["account", "clock", "ledger", "scopes"],
)
def test_a_child_does_not_wait_for_a_thread_that_it_has_not(lock_of):
    lock = lock_of(Emulator(clock=ManualClock()))
    with held_by_another_thread(lock):
        assert child_of(lambda: lock.acquire(timeout=PATIENCE_SECONDS / 10))


def test_a_child_finds_a_transaction_whole():
    """Forked in the middle of calls, a child sees both items of a transaction, or neither."""
    emu = Emulator()
    emu.call("CreateTable", table("pk", TableName="tab"))
    over = threading.Event()

    def write():
        for number in range(100_000):
            puts = [
                {"Put": {"TableName": "tab", "Item": {"pk": {"S": key}, "n": {"N": str(number)}}}}
                for key in "ab"
            ]
            emu.call("TransactWriteItems", {"TransactItems": puts})
            if over.is_set():
                return

    def is_whole():
        items = emu.call("Scan", {"TableName": "tab"})["Items"]
        return len({item["n"]["N"] for item in items}) <= 1 and len(items) in (0, 2)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        assert all(child_of(is_whole) for _ in range(10))
    finally:
        over.set()
        thread.join()


def test_whoever_forks_may_hold_a_lock():
    emu = Emulator()
    with emu.account().lock:
        assert child_of(lambda: emu.call("ListTables", {}) == {"TableNames": []})
    with held_by_another_thread(emu.account().lock):
        pass  # free again for others


def test_a_lock_made_while_a_fork_waits_is_no_trap():
    """The holder of an account's lock may make another, while the fork waits for the first."""
    emu = Emulator()
    made = []

    def hold():
        with emu.account().lock:
            taken.set()
            threading.Event().wait(SECONDS)
            made.append(new_lock(Rank.ACCOUNT))

    taken = threading.Event()
    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait()
    assert child_of(lambda: made[0].acquire(timeout=1) and emu.account().lock.acquire(timeout=1))
    thread.join()


def test_several_locks_are_held_together():
    locks = [new_lock(rank) for rank in (Rank.ACCOUNT, Rank.CLOCK, Rank.ACCOUNT)]
    with holding(locks):
        assert all(lock._is_owned() for lock in locks)
    assert not any(lock._is_owned() for lock in locks)


def test_a_module_that_cannot_be_read_does_not_keep_a_fork_from_going_on(monkeypatch):
    """Whoever reads it is told; the fork only waits until he is."""
    monkeypatch.setitem(sys.modules, "emulator.gone", None)
    locks._finish_imports()


def test_a_fork_waits_for_modules_of_this_package_alone(monkeypatch):
    waited = []
    monkeypatch.setattr(locks, "import_module", waited.append)
    modules = ["emulator", "emulator.model", "emulators", "json"]
    monkeypatch.setattr(locks.sys, "modules", dict.fromkeys(modules))
    locks._finish_imports()
    assert waited == ["emulator", "emulator.model"]


class Recorded:
    """A lock that writes down when it is taken and released."""

    def __init__(self, name, log):
        self._name, self._log = name, log
        self.is_held = False

    def acquire(self):
        self._log.append(f"take {self._name}")
        self.is_held = True

    def release(self):
        self._log.append(f"leave {self._name}")
        self.is_held = False

    def __enter__(self):
        self.acquire()

    def __exit__(self, *_):
        self.release()


def test_several_locks_are_taken_in_the_order_of_their_ranks(monkeypatch):
    log = []
    account, clock = Recorded("account", log), Recorded("clock", log)
    monkeypatch.setattr(locks, "_order", {account: (Rank.ACCOUNT, 0), clock: (Rank.CLOCK, 1)})
    with holding([account, clock]):
        log.append("hold")
    assert log == ["take clock", "take account", "hold", "leave account", "leave clock"]


def test_locks_are_counted_and_made_under_the_registry(monkeypatch):
    """Else a fork could miss a lock that is being made, or read the list while it grows."""
    log = []

    class Order(dict):
        def __setitem__(self, lock, place):
            assert registry.is_held
            super().__setitem__(lock, place)

        def keys(self):
            assert registry.is_held
            return super().keys()

    registry, lock = Recorded("registry", log), Recorded("lock", log)
    monkeypatch.setattr(locks, "_registry", registry)
    monkeypatch.setattr(locks, "_order", Order({lock: (Rank.CLOCK, 0)}))
    locks._before_fork()
    assert lock.is_held
    assert registry.is_held
    locks._after_fork()
    assert log[2:] == ["take lock", "take registry", "leave registry", "leave lock"]
    assert new_lock(Rank.ACCOUNT) in locks._order


@pytest.mark.parametrize("access_key", [None, "new"])
def test_a_call_that_a_fault_delays_holds_no_lock(access_key):
    """Neither a fork nor another call waits for it, also if it makes an account."""

    class Watched(ManualClock):
        def advance(self, seconds):
            with locks._registry:
                order = dict(locks._order)
            held.append([rank for lock, (rank, _) in order.items() if lock._is_owned()])
            super().advance(seconds)

    held = []
    emu = Emulator(clock=Watched())
    emu.faults.add(kind="latency", latency=1)
    emu.call("ListTables", {}, access_key=access_key)
    assert held == [[]]
    assert emu.clock.now() == ManualClock().now() + 1


def test_a_fork_waits_for_modules_that_are_being_read(tmp_path, monkeypatch):
    """A child would wait for their reader, whom it does not have: ten of twelve did once."""
    (tmp_path / "slow_to_read.py").write_text(
        "from tests.test_locks import READING\n"
        "READING['began'].set()\n"
        "READING['may end'].wait(20)\n"
        "READING['order'].append('read')\n"
    )
    monkeypatch.setattr(emulator, "__path__", [*emulator.__path__, str(tmp_path)])
    READING.update({"began": threading.Event(), "may end": threading.Event(), "order": []})

    def fork():
        locks._before_fork()
        READING["order"].append("forked")
        locks._after_fork()

    reader = threading.Thread(target=import_module, args=("emulator.slow_to_read",))
    forker = threading.Thread(target=fork)
    reader.start()
    READING["began"].wait(20)
    forker.start()
    forker.join(SECONDS)  # long enough for one that does not wait
    READING["may end"].set()
    reader.join()
    forker.join()
    monkeypatch.delitem(sys.modules, "emulator.slow_to_read")

    assert READING["order"] == ["read", "forked"]
