"""An account in one region: its moment only moves forward."""

from emulator import Emulator, ManualClock


def test_time_never_runs_back_within_an_account():
    """A slow thread that read the clock before another must not set the account back."""
    emu = Emulator(clock=ManualClock(1_000))
    account = emu.account()
    emu.clock.advance(100)
    emu.call("ListTables", {})
    now_ns = account.now_ns
    account.catch_up(now_ns - 1)
    assert account.now_ns == now_ns
