"""What clients share: nothing that one of them could change, or that a user could see."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from copy import copy
from itertools import permutations
from types import SimpleNamespace
from typing import Any, cast

import boto3
import botocore.endpoint
import botocore.hooks
import botocore.httpsession
import botocore.session
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from hypothesis import example, given
from hypothesis import strategies as st

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


KEYS = st.sampled_from(["a", "a.b", "a.*.c", "b.c"])
TWO_COPIES = [(("append", 1, "a.b"), 0), (("copy", 0, "a"), 0), (("copy", 0, "a"), 0)]
CHANGES = st.tuples(st.sampled_from(["append", "remove", "copy"]), st.integers(0, 2), KEYS)


@given(st.lists(st.tuples(CHANGES, st.integers(0, 3)), max_size=30))
@example([*TWO_COPIES, (("remove", 1, "a.b"), 1)])
@example([*TWO_COPIES, (("append", 1, "a.b"), 1)])
def test_handlers_are_copied_as_the_sdk_copies_them(changes):
    """Trees and copies of them are changed in any order, each beside one that the SDK copied."""
    theirs_copy = botocore.hooks._PrefixTrie.__dict__["__copy__"].__wrapped__
    ours_copy = client_creation.copy_handlers(theirs_copy)
    trees = [(botocore.hooks._PrefixTrie(), botocore.hooks._PrefixTrie())]
    with serving():
        for (change, handler, key), number in changes:
            ours, theirs = trees[number % len(trees)]
            if change == "copy":
                is_first_copy = type(ours) is type(theirs)
                copied = ours_copy(ours) if is_first_copy else copy(ours)
                trees.append((copied, theirs_copy(theirs)))
            elif change == "append":
                for tree in (ours, theirs):
                    tree.append_item(key, handler, section=handler % 3)
            else:
                assert removed(ours, key, handler) == removed(theirs, key, handler)
            assert [ours._root for ours, _ in trees] == [theirs._root for _, theirs in trees]


def removed(tree, key, handler):
    try:
        tree.remove_item(key, handler)
    except (AttributeError, ValueError) as error:  # the SDK raises both
        return repr(error)
    return None


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


# What is made once, by itself: for a stand-in of what the SDK does


class Original:
    """Stands for a function of the SDK: answers every call with something new."""

    def __init__(self, answer: Any = object) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self._answer = answer

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls.append((*args, *kwargs.values()))
        return self._answer()


@contextmanager
def serving():
    """Let a client of a mock be made."""
    token = scopes.serving.set(cast("Any", "a scope"))
    try:
        yield
    finally:
        scopes.serving.reset(token)


MODEL = SimpleNamespace(service_name="dynamodb")
OTHER_MODEL = SimpleNamespace(service_name="dynamodb")
RULES, OTHER_RULES, PARTITIONS, OTHER_PARTITIONS = {"a": 1}, {"a": 1}, {"b": 2}, {"b": 2}
RETRIES = {"max_attempts": 3}


class Handlers:
    def one(self): ...
    def other(self): ...


#: For each function that remembers, calls that differ in something that matters.
REMEMBERED: dict[Any, list[tuple[Any, ...]]] = {
    client_creation.reuse_rules: [
        (RULES, PARTITIONS),
        (OTHER_RULES, PARTITIONS),
        (RULES, OTHER_PARTITIONS),
    ],
    client_creation.reuse_retry_config: [
        ("dynamodb", RULES, PARTITIONS, RETRIES),
        ("dynamodb", RULES, PARTITIONS, None),
        ("dynamodb", OTHER_RULES, PARTITIONS, RETRIES),
        ("streams", RULES, PARTITIONS, RETRIES),
        ("dynamodb", RULES, {"b": 3}, RETRIES),
    ],
    client_creation.remember_signature: [(Handlers().one,), (Handlers().other,)],
}


@pytest.mark.parametrize(
    ("wrapper", "one", "other"),
    [
        (wrapper, one, other)
        for wrapper, calls in REMEMBERED.items()
        for one, other in permutations(calls, 2)
    ],
)
def test_what_a_mock_makes_again_is_made_once_for_each_question(wrapper, one, other):
    original = Original()
    function = wrapper(original)

    with serving():
        first, second = function(*one), function(*other)
        again = function(*one), function(*one)

    assert original.calls == [one, other]
    assert first is again[0] is again[1]
    assert first is not second


@pytest.mark.parametrize(
    ("wrapper", "asked"), [(wrapper, calls[0]) for wrapper, calls in REMEMBERED.items()]
)
def test_without_a_mock_the_sdk_makes_everything_anew(wrapper, asked):
    original = Original()
    function = wrapper(original)
    with serving():
        function(*asked)

    answers = [function(*asked), function(*asked)]

    assert original.calls == [asked] * 3
    assert answers[0] is not answers[1]


@pytest.mark.parametrize(
    ("wrapper", "arguments", "kept"),
    [(client_creation.reuse_rules, 2, 2), (client_creation.reuse_retry_config, 3, 4)],
)
def test_only_the_latest_are_remembered(wrapper, arguments, kept):
    original = Original()
    function = wrapper(original)
    questions = [("dynamodb", {}, {})[-arguments:] for _ in range(kept + 1)]

    with serving():
        for question in (*questions[:kept], *questions[:kept]):
            function(*question)
        assert len(original.calls) == kept
        function(*questions[-1])
        function(*questions[0])
        assert len(original.calls) == kept + 2


def test_functions_of_a_class_are_made_once_for_a_model_and_copied():
    original = Original(lambda: {"put_item": object()})
    create_methods = client_creation.reuse_methods(original)
    with serving():
        one, other = (create_methods(Handlers(), MODEL) for _ in range(2))
        newer = create_methods(Handlers(), OTHER_MODEL)

    assert len(original.calls) == 2
    assert one == other != newer
    one["greet"] = None
    assert "greet" not in other
    assert create_methods(Handlers(), OTHER_MODEL) is not create_methods(Handlers(), OTHER_MODEL)
    assert len(original.calls) == 4, "without a mock"


def test_a_function_that_is_no_method_is_asked_about_each_time():
    original = Original()
    accepts_kwargs = client_creation.remember_signature(original)
    with serving():
        assert accepts_kwargs(len) is not accepts_kwargs(len)


def test_a_model_is_the_same_as_long_as_its_description_is():
    descriptions = iter(("a", "a", "b", "b"))
    original = Original(lambda: SimpleNamespace(_service_description=next(descriptions)))
    load_service_model = client_creation.reuse_service_model(original)
    with serving():
        first, again, newer = (load_service_model(None, "dynamodb") for _ in range(3))

    assert first is again
    assert newer._service_description == "b"
    assert load_service_model(None, "dynamodb") is not newer


class FileLoader: ...


@pytest.mark.parametrize(
    ("folders", "file_loader", "is_mocked", "reads"),
    [
        (["packages/data"], FileLoader, True, 1),
        (["packages/data", "nowhere"], FileLoader, True, 1),
        (["packages/data", "own"], FileLoader, True, 2),
        (["packages/data"], object, True, 2),
        (["packages/data"], FileLoader, False, 2),
    ],
)
def test_files_of_packages_are_read_once_and_others_each_time(
    monkeypatch, tmp_path, folders, file_loader, is_mocked, reads
):
    for folder in ("packages/data", "own"):
        (tmp_path / folder).mkdir(parents=True)
    loader = SimpleNamespace(
        search_paths=[str(tmp_path / folder) for folder in folders],
        file_loader=file_loader(),
        FILE_LOADER_CLASS=FileLoader,
    )
    monkeypatch.setattr(scopes, "is_any_active", lambda: is_mocked)
    original = Original()
    load = client_creation.reuse_data(original, str(tmp_path / "packages"))

    answers = [load(loader, "dynamodb", kind="service-2") for _ in range(2)]

    assert len(original.calls) == reads
    assert (answers[0] is answers[1]) == (reads == 1)
    load(loader, "dynamodb", kind="waiters-2")
    load(loader, "streams", kind="service-2")
    loader.search_paths.append("elsewhere")
    load(loader, "dynamodb", kind="service-2")
    assert len(original.calls) == reads + 3


def test_aliases_that_one_client_has_found_all_clients_know():
    def made():
        return SimpleNamespace(_alias_name_cache={})

    copy = client_creation.reuse_aliases(Original(made))
    aliaser, older = made(), SimpleNamespace()
    with serving():
        assert copy(aliaser)._alias_name_cache is aliaser._alias_name_cache
        assert copy(older)._alias_name_cache == {}
    assert copy(aliaser)._alias_name_cache is not aliaser._alias_name_cache


def test_handlers_are_copied_by_the_sdk_without_a_mock():
    trie = botocore.hooks._PrefixTrie()
    copy = client_creation.copy_handlers(Original(lambda: "its own way"))
    assert copy(trie) == "its own way"
    with serving():
        assert copy(trie)._root == trie._root


@pytest.mark.parametrize(
    ("platform", "variable", "is_mocked", "asks"),
    [
        ("linux", "PATH", True, 0),
        ("linux", "Some_Proxy", True, 1),
        ("darwin", "PATH", True, 1),
        ("win32", "PATH", True, 1),
        ("linux", "PATH", False, 1),
    ],
)
def test_proxies_are_looked_for_where_there_may_be_some(
    monkeypatch, platform, variable, is_mocked, asks
):
    monkeypatch.setattr(client_creation, "sys", SimpleNamespace(platform=platform))
    monkeypatch.setattr(client_creation, "os", SimpleNamespace(environ={variable: "x"}))
    original = Original()
    look = client_creation.look_for_proxies(original)
    with serving() if is_mocked else nullcontext():
        assert look("https://x.invalid") == {} or asks
    assert len(original.calls) == asks


def test_a_session_that_was_made_is_closed_once_asked():
    closed: list[str] = []
    session = client_creation._SessionOnDemand(
        lambda **_: SimpleNamespace(send=lambda request: request, close=lambda: closed.append("x"))
    )
    session.close()
    assert closed == []
    assert session.send("request") == "request"
    session.close()
    assert closed == ["x"]


def test_what_sends_is_made_on_demand_for_clients_of_a_mock_only():
    endpoints: list[dict[str, Any]] = []
    create = client_creation.send_on_demand(
        lambda _self, **options: endpoints.append(options), SimpleNamespace
    )
    create(None, verify=False)
    with serving():
        create(None, verify=False)
        create(None, http_session_cls=dict)
    without, made, chosen = endpoints

    assert without == {"verify": False}
    session = made["http_session_cls"](timeout=3)
    assert isinstance(session, client_creation._SessionOnDemand)
    assert session._session == SimpleNamespace(timeout=3)
    assert chosen["http_session_cls"](timeout=3)._session == {"timeout": 3}


def test_a_profile_is_read_anew_once_a_client_is_made():
    original = Original()
    get_scoped_config = client_creation.look_at_the_profile_once(original)

    def create_client(_self):
        return get_scoped_config("session"), get_scoped_config("session")

    create = client_creation.make_client(create_client)
    with serving():
        first, again = create(None)
        assert first is again
        assert get_scoped_config("session") is not get_scoped_config("session")
    assert len(set(create(None))) == 2, "without a mock"
