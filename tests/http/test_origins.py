"""Origins: whose pages may call, and what a browser is told."""

import pytest

from emulator.http.origins import Origins, is_same_origin, preflight_lines


@pytest.mark.parametrize(
    ("cors", "allowed"),
    [
        ("local", ["http://localhost:3000", "https://[::1]:1"]),
        ("*", ["http://localhost:3000", "https://[::1]:1", "https://a.example", "null"]),
        ("none", []),
        ("", []),
        ("https://a.example, null", ["https://a.example", "null"]),
        (
            "local,https://a.example",
            ["http://localhost:3000", "https://[::1]:1", "https://a.example"],
        ),
    ],
)
def test_an_origin_is_allowed_by_the_option(cors, allowed):
    pages = ["http://localhost:3000", "https://[::1]:1", "https://a.example", "null"]
    assert [page for page in pages if Origins(cors).allows(page)] == allowed


def test_only_a_listed_origin_is_named():
    origins = Origins("*,local,https://a.example")
    pages = ["*", "local", "http://localhost", "https://a.example"]
    assert [page for page in pages if origins.names(page)] == ["https://a.example"]


@pytest.mark.parametrize(
    ("origin", "host", "is_same"),
    [
        ("http://h:8000", "h:8000", True),
        ("http://H:8000", "h:8000", True),
        ("http://h", "h:8000", False),
        ("https://h:8000", "h:8000", False),
        ("http://h:8000", None, False),
    ],
)
def test_an_origin_is_the_same_with_its_port(origin, host, is_same):
    assert is_same_origin(origin, host) is is_same


def test_a_private_network_is_granted_when_asked_for():
    """Source: the draft of the WICG, Private Network Access."""
    fields = {"access-control-request-private-network": "true"}
    assert preflight_lines(fields).splitlines()[1:] == [
        "Access-Control-Allow-Private-Network: true"
    ]
