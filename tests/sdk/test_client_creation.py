"""What clients share: nothing that one of them could change, or that a user could see."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import boto3
import botocore.endpoint
import botocore.hooks
import botocore.httpsession
import botocore.session
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from emulator import ManualClock, mock_dynamodb
from emulator.sdk import boto, client_creation, scopes


@pytest.fixture(autouse=True)
def mocked():
    with mock_dynamodb():
        yield


def made(session: Any = boto3, **options: Any) -> Any:
    return session.client("dynamodb", **{"region_name": "us-east-1"} | options)


def test_a_class_is_the_clients_own_and_its_functions_are_not():
    one, other = made(), made()

    assert type(one) is not type(other)
    assert type(one).put_item is type(other).put_item


def test_a_session_may_still_change_the_class_of_its_clients():
    def add_method(class_attributes, **_):
        class_attributes["greet"] = lambda _self: "hello"

    session = boto3.Session()
    session.events.register("creating-client-class.dynamodb", add_method)

    assert made(session).greet() == "hello"
    assert not hasattr(made(), "greet")


def test_events_of_a_client_are_its_own():
    heard: list[str] = []
    session = boto3.Session()
    event = "provide-client-params.dynamodb.ListTables"
    session.events.register(event, lambda **_: heard.append("session"))
    one, other = made(session), made(session)
    one.meta.events.register_first(event, lambda **_: heard.append("one"))
    one.meta.events.register_last(event, lambda **_: heard.append("one, last"))

    other.list_tables()
    assert heard == ["session"]
    one.list_tables()
    assert heard == ["session", "one", "session", "one, last"]


def test_handlers_are_copied_as_the_sdk_copies_them():
    trie = botocore.hooks._PrefixTrie()
    for section, key in enumerate(("a.b", "a.*.c", "a", "a.b")):
        trie.append_item(key, f"{key}, {section}", section=section % 3)
    theirs = trie._recursive_copy(vars(trie))

    copies: list[Any] = []
    session = boto3.Session()

    def copy(**_):  # while a client is made
        copies.append(type(trie).__copy__(trie))

    session.events.register("creating-client-class.dynamodb", copy)
    made(session)
    [copied] = copies

    assert vars(copied) == theirs
    copied.append_item("a.b", "another")
    assert vars(trie) == theirs


def test_clients_retry_as_each_is_configured():
    retries = []
    with mock_dynamodb(clock=ManualClock()) as emulator:
        emulator.faults.add(kind="internal_error")
        for most in (1, 3, 1, 0):
            client = made(config=Config(retries={"max_attempts": most}))
            with pytest.raises(ClientError) as caught:
                client.list_tables()
            retries.append(caught.value.response["ResponseMetadata"]["RetryAttempts"])

    assert retries == [1, 3, 1, 0]


# Sessions: what sends requests, and what is read of profiles


class Sent(Exception):
    """Raised where a request would be sent."""


def test_a_client_that_outlives_the_mock_sends_as_it_was_configured(monkeypatch):
    sessions: list[Any] = []

    def send(self, request):
        sessions.append(self)
        raise Sent

    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.invalid")
    client = made(
        aws_access_key_id="k", aws_secret_access_key="s", verify=False,
        config=Config(max_pool_connections=3, retries={"max_attempts": 0}),
    )  # fmt: skip
    client.close()  # there is nothing to close
    monkeypatch.delenv("HTTPS_PROXY")
    without = made(aws_access_key_id="k", aws_secret_access_key="s")

    for each in (client, client, without):
        sending = each._endpoint.http_session
        monkeypatch.setattr(botocore.httpsession.URLLib3Session, "send", send)
        with pytest.raises(Sent):
            sending.send(None)
    first, again, other = sessions

    assert first is again
    assert first is not other
    assert type(first) is botocore.httpsession.URLLib3Session
    assert (first._verify, first._max_pool_connections) == (False, 3)
    proxies = [each._proxy_config.proxy_url_for("https://x.invalid") for each in (first, other)]
    assert proxies == ["http://proxy.invalid", None]
    client.close()


def test_a_profile_is_read_once_per_client_and_anew_for_the_next(monkeypatch, tmp_path):
    path = tmp_path / "config"
    path.write_text("[profile a]\nmax_attempts = 7\n[profile b]\nmax_attempts = 8\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(path))
    session = boto3.Session()
    looked_up: list[str] = []
    config_variable = botocore.session.Session.get_config_variable

    def get_config_variable(self, logical_name, methods=None):
        looked_up.append(logical_name)
        return config_variable(self, logical_name, methods)

    monkeypatch.setattr(botocore.session.Session, "get_config_variable", get_config_variable)
    found = []
    for profile in ("a", "b"):
        monkeypatch.setenv("AWS_PROFILE", profile)
        found.append(made(session).meta.config.retries["total_max_attempts"])

    assert found == [7, 8]
    assert looked_up.count("profile") < 20, "of a hundred and more"


def test_a_version_without_what_would_save_time_is_served_all_the_same(monkeypatch):
    """Decision 6: what is only quicker may be missing, or a tree of handlers have another form."""
    patches = boto._Patches()
    patches.save_time(botocore.hooks, "no_such_function", client_creation.remember_signature)
    patches.save_time(None, "__copy__", client_creation.copy_handlers)
    tree = SimpleNamespace(_root={"handlers": []})
    monkeypatch.setattr(scopes, "serving", SimpleNamespace(get=lambda: "a scope"))

    assert client_creation.copy_handlers(lambda _tree: "its own way")(tree) == "its own way"
