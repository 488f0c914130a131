"""The emulator's own arguments: what is wrong is told in one sentence."""

import pytest

from emulator import Emulator, ManualClock, SystemClock, api
from emulator.persistence import snapshot_file

SCHEMA = {
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}


@pytest.mark.parametrize("clock", ["manual", ManualClock, 0])
def test_what_is_no_clock_is_refused(clock):
    with pytest.raises(TypeError, match=r"clock must be a clock, such as ManualClock\(\), not "):
        Emulator(clock=clock)


def test_a_region_is_text():
    with pytest.raises(TypeError, match="region must be text, such as 'us-east-1', not 5"):
        Emulator(region=5)


def test_only_a_snapshot_is_restored():
    emu = Emulator()
    emu.call("CreateTable", {"TableName": "orders", **SCHEMA})
    with pytest.raises(TypeError, match=r"takes what snapshot\(\) returned, not 'shop.snapshot'"):
        emu.restore("shop.snapshot")
    assert emu.call("ListTables", {}) == {"TableNames": ["orders"]}


def test_real_time_cannot_be_advanced():
    assert isinstance(Emulator().clock, SystemClock)
    with pytest.raises(Exception, match=r"real time cannot be advanced by 60 .* a ManualClock\(\)"):
        Emulator().clock.advance(60)


def test_an_emulator_shows_its_mode_its_region_and_its_tables():
    emu = Emulator(capacity="off", region="eu-west-1")
    assert repr(emu) == "Emulator(capacity='off', region='eu-west-1', tables=[])"
    emu.call("CreateTable", {"TableName": "orders", **SCHEMA})
    assert repr(emu) == "Emulator(capacity='off', region='eu-west-1', tables=['orders'])"


def test_a_save_holds_every_region(tmp_path, monkeypatch):
    emu = Emulator()
    accounts = [emu.account(region) for region in ("us-east-1", "eu-west-1")]
    held = []
    monkeypatch.setattr(
        snapshot_file,
        "save",
        lambda _, saved: held.append([account.lock._is_owned() for account in saved]),
    )
    emu.save(tmp_path / "file")
    assert held == [[True] * len(accounts)]


@pytest.mark.parametrize("does", ["capture", "reinstate"])
def test_a_snapshot_is_taken_and_brought_back_under_the_locks_of_every_region(monkeypatch, does):
    emu = Emulator()
    accounts = [emu.account(region) for region in ("us-east-1", "eu-west-1")]
    before, held = emu.snapshot(), []
    function = getattr(api, does)

    def look(account, *state):
        held.append([account.lock._is_owned() for account in accounts])
        return function(account, *state)

    monkeypatch.setattr(api, does, look)
    emu.snapshot() if does == "capture" else emu.restore(before)
    assert held == [[True, True]] * 2


def test_a_save_does_not_mind_a_region_that_is_met_meanwhile(tmp_path, monkeypatch):
    emu = Emulator()
    emu.account("eu-west-1")
    saved = []

    def save(_path, accounts):
        for account in accounts:
            emu.account(f"{account.region}-again")  # as another thread does
            saved.append(account.region)

    monkeypatch.setattr(snapshot_file, "save", save)
    emu.save(tmp_path / "file")
    assert saved == ["eu-west-1"]
