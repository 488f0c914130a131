"""Hosts: which names lead to the machine itself, and which a server answers to."""

import pytest

from emulator.http.hosts import Hosts, host_name, is_loopback


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("localhost", "localhost"),
        ("LOCALHOST.:8000", "localhost"),
        ("127.0.0.1:8000", "127.0.0.1"),
        ("[::1]:8000", "::1"),
        ("[::1", "::1"),
        ("::1", "::1"),
        ("a:b:c", "a:b:c"),
        ("", ""),
    ],
)
def test_a_host_has_one_spelling(host, name):
    assert host_name(host) == name


@pytest.mark.parametrize(
    ("name", "is_own"),
    [
        ("localhost", True),
        ("x.localhost", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("notlocalhost", False),
        ("localhost.example", False),
        ("127.0.0.1.example", False),
        ("0.0.0.0", False),
        ("::ffff:10.0.0.1", False),
        ("", False),
    ],
)
def test_loopback_is_known_by_name_and_address(name, is_own):
    assert is_loopback(name) is is_own


def test_a_server_for_others_answers_to_any_name_and_trusts_few():
    hosts = Hosts(["0.0.0.0", "0.0.0.0"], ["db"])
    assert hosts.answers_to("anything") is True
    trusted = [name for name in ("db", "DB:8000", "localhost", "0.0.0.0") if hosts.trusts(name)]
    assert trusted == ["db", "DB:8000", "localhost"]


def test_the_address_listened_on_is_trusted():
    hosts = Hosts(["box.example", "10.0.0.5"])
    assert [hosts.trusts(name) for name in ("box.example", "10.0.0.5:1", "10.0.0.6")] == [
        True,
        True,
        False,
    ]


def test_names_that_were_trusted_are_not_remembered_without_end():
    hosts = Hosts(["127.0.0.1"])
    assert all(hosts.trusts(f"{number}.localhost") for number in range(1000))
    assert len(hosts._known) == 64
