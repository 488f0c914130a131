"""boto3, botocore and aiobotocore, served in-process.

While a mock is active, a handful of the SDK's methods are wrapped. A wrapper asks which emulator
serves the code that calls it; for another service, or if there is none, it steps aside. The SDK
keeps its own serialising, signing, retrying and parsing; a request is answered where it would be
sent. Nothing is registered at import, with a session or with a client, so a client's age does
not matter, and everything is put back at the end.

``docs/decisions/0006-boto-interception.md`` gives the reasons, and says what threads, tasks,
nested mocks, credentials and retry sleeps meet.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from importlib.util import find_spec
from os.path import dirname
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar, overload

from emulator.sdk import client_creation, interception, retry_sleeps
from emulator.sdk.region import default_region
from emulator.sdk.scopes import Scope, enclosing, innermost_of, is_any_active
from emulator.service.errors import EmulatorError

if TYPE_CHECKING:
    from emulator.api import Emulator
    from emulator.clock import Clock
    from emulator.observe import CapacityMode
    from emulator.settings import Settings

P = ParamSpec("P")
R = TypeVar("R")

NEEDS_BOTOCORE: Final = "mock_dynamodb needs botocore: pip install 'dynamometer[boto]'"
NOT_SERVED: Final = "mock_dynamodb takes an emulator, a function or a class, not {value!r}"
EITHER_OR: Final = "mock_dynamodb takes an emulator or the options to make one, not both: {names}"


@overload
def mock_dynamodb(emulator: type[R], /) -> type[R]: ...
@overload
def mock_dynamodb(emulator: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def mock_dynamodb(
    emulator: Emulator | None = None,
    *,
    capacity: CapacityMode | None = None,
    clock: Clock | None = None,
    region: str | None = None,
    account_id: str | None = None,
    settings: Settings | None = None,
    fast: bool | None = None,
    hide_credentials: bool | None = None,
    join: bool = True,
) -> MockDynamoDB: ...
def mock_dynamodb(
    emulator: Any = None,
    *,
    capacity: CapacityMode | None = None,
    clock: Clock | None = None,
    region: str | None = None,
    account_id: str | None = None,
    settings: Settings | None = None,
    fast: bool | None = None,
    hide_credentials: bool | None = None,
    join: bool = True,
) -> Any:
    """Serve every boto3, botocore and aiobotocore client of DynamoDB from an emulator.

    A context manager, and a decorator of functions, async functions, generators and test
    classes, with and without parentheses. Each entry gets a new emulator, unless one is passed.
    Inside another mock, an entry without arguments that describe a new emulator joins that mock
    and is served by its emulator.

    Args:
        emulator: The emulator that serves; or, for a bare decorator, the function or class.
        capacity: The capacity mode of the new emulator; the next four describe it too.
        clock: Its clock; the SDK's retries and waiters advance a ``ManualClock``, and do not sleep.
        region: The region of clients that have none configured; by default the one that boto3
            takes from the environment or the profile, or us-east-1.
        account_id: The account that owns every table.
        settings: The adjustable constants.
        fast: Answer before the SDK serialises and signs: several times cheaper per call, but
            without the SDK's retries and without its checks of parameters. By default as in the
            mock that is joined, or False.
        hide_credentials: Replace the credentials in the environment and in every session by
            dummies, for all services; with False, only DynamoDB does not see them. By default as
            in the mock that is joined, or True.
        join: Inside another mock, share its emulator; with False, start empty.

    >>> import boto3
    >>> with mock_dynamodb() as emu:
    ...     boto3.client("dynamodb").list_tables()["TableNames"]
    []
    """
    if inspect.isclass(emulator) or inspect.isroutine(emulator):
        return mock_dynamodb()(emulator)
    options = {
        "capacity": capacity,
        "clock": clock,
        "region": region,
        "account_id": account_id,
        "settings": settings,
    }
    passed = {name: value for name, value in options.items() if value is not None}
    if emulator is not None and not hasattr(emulator, "call"):
        raise TypeError(NOT_SERVED.format(value=emulator))
    if emulator is not None and passed:
        raise TypeError(EITHER_OR.format(names=", ".join(passed)))
    return MockDynamoDB(
        emulator,
        passed,
        fast=fast,
        hide_credentials=hide_credentials,
        join=join and emulator is None and not passed,
    )


class MockDynamoDB:
    """The result of ``mock_dynamodb``: enter it, or decorate with it, as often as needed."""

    def __init__(
        self,
        emulator: Emulator | None,
        options: dict[str, Any],
        *,
        fast: bool | None,
        hide_credentials: bool | None,
        join: bool,
        keep: bool = False,
    ) -> None:
        self._emulator = emulator
        self._options = options
        self._fast = fast
        self._hide_credentials = hide_credentials
        self._join = join
        self._keep = keep
        self._scopes: list[Scope] = []

    def __enter__(self) -> Emulator:
        scope = self._scope(enclosing() if self._join else None)
        scope.open(_install)
        self._scopes.append(scope)
        return scope.emulator

    def __exit__(self, *_raised: object) -> None:
        scope = innermost_of(self._scopes)
        self._scopes.remove(scope)
        scope.close(_patches.restore)

    @overload
    def __call__(self, target: type[R]) -> type[R]: ...
    @overload
    def __call__(self, target: Callable[P, R]) -> Callable[P, R]: ...
    def __call__(self, target: Any) -> Any:
        """Decorate a function or a class."""
        from emulator.sdk.decorators import decorate

        return decorate(target, self._with_one_emulator)

    def _with_one_emulator(self) -> MockDynamoDB:
        """Return a mock whose entries share one emulator, unless they join another mock."""
        return MockDynamoDB(
            self._emulator,
            self._options,
            fast=self._fast,
            hide_credentials=self._hide_credentials,
            join=self._join,
            keep=True,
        )

    def _scope(self, joined: Scope | None) -> Scope:
        if joined is None:
            return Scope(
                self._served(),
                fast=bool(self._fast),
                hide_credentials=self._hide_credentials is not False,
            )
        return Scope(
            joined.emulator,
            fast=joined.fast if self._fast is None else self._fast,
            hide_credentials=joined.hide_credentials
            if self._hide_credentials is None
            else self._hide_credentials,
        )

    def _served(self) -> Emulator:
        if self._emulator is not None:
            return self._emulator
        from emulator.api import Emulator

        emulator = Emulator(**{"region": default_region(), **self._options})
        if self._keep:
            self._emulator = emulator
        return emulator


# Wrapping the SDK


class _Patches:
    """Attributes of the SDK that are replaced, with what stood there before."""

    def __init__(self) -> None:
        self._replaced: list[tuple[Any, str, Any, Any]] = []
        #: What was replaced the last time: a test suite enters a mock for each of its tests.
        self._earlier: list[tuple[Any, str, Any, Any]] = []
        #: The module of botocore that was there then: it may have been imported again since.
        self._sdk: object = None
        #: Whether aiobotocore is wrapped too, or was the last time.
        self.has_aiobotocore = False

    def wrap(self, owner: Any, name: str, wrapper: Callable[..., Any], *args: Any) -> None:
        """Replace an attribute of a class or module by what ``wrapper`` makes of it."""
        original = vars(owner)[name]
        replacement = wrapper(original, *args)
        setattr(owner, name, replacement)
        self._replaced.append((owner, name, original, replacement))

    def save_time(self, owner: Any, name: str, wrapper: Callable[..., Any], *args: Any) -> None:
        """Replace an attribute only to save time: a version of the SDK without it keeps its own."""
        if owner is not None and name in vars(owner):
            self.wrap(owner, name, wrapper, *args)

    def repeat(self) -> bool:
        """Replace everything as the last time, if the SDK is as it was then; return whether so."""
        if sys.modules.get("botocore.client") is not self._sdk or any(
            vars(owner).get(name) is not original for owner, name, original, _ in self._earlier
        ):
            self._earlier = []
            self.has_aiobotocore = False
        for owner, name, _, replacement in self._earlier:
            setattr(owner, name, replacement)
        self._replaced = self._earlier
        return bool(self._earlier)

    def restore(self) -> None:
        """Put everything back, except what other code has replaced in the meantime.

        A wrapper that is left under another's steps aside, because no scope is active.
        """
        for owner, name, original, replacement in reversed(self._replaced):
            if vars(owner)[name] is replacement:
                setattr(owner, name, original)
        self._earlier, self._replaced = self._replaced, []
        self._sdk = sys.modules.get("botocore.client")

    def give_up(self) -> None:
        """Put everything back after not all could be replaced."""
        self.restore()
        self._earlier = []
        self.has_aiobotocore = False


_patches = _Patches()


def _install() -> None:
    if find_spec("botocore") is None:
        raise EmulatorError(NEEDS_BOTOCORE)
    try:
        if not _patches.repeat():
            _wrap_botocore()
            _save_time_in_botocore()
        _wrap_aiobotocore()
    except BaseException:
        _patches.give_up()
        raise


def _wrap_botocore() -> None:
    import botocore.awsrequest
    import botocore.client
    import botocore.credentials
    import botocore.endpoint
    import botocore.exceptions
    import botocore.httpsession
    import botocore.regions
    import botocore.retries.bucket
    import botocore.session
    import botocore.signers
    import botocore.waiter

    wrap, calls = _patches.wrap, interception
    client = botocore.client.BaseClient
    session = botocore.session.Session
    credentials = botocore.credentials.Credentials
    signer = botocore.signers.RequestSigner
    endpoint = botocore.endpoint.Endpoint
    resolver = botocore.regions.EndpointRulesetResolver
    bucket = botocore.retries.bucket
    no_capacity = botocore.exceptions.CapacityNotAvailableError

    wrap(client, "_make_api_call", calls.serve_call)
    wrap(session, "__init__", _look_for_aiobotocore)
    wrap(session, "create_client", calls.serve, calls.scope_of_creation)
    wrap(session, "get_credentials", calls.hide_credentials, credentials)
    wrap(signer, "get_auth_instance", calls.sign_as_nobody)
    wrap(resolver, "_resolve_param_as_builtin", calls.tell_the_account)
    wrap(endpoint, "prepare_request", calls.address_nowhere)
    wrap(endpoint, "_send", calls.answer, botocore.awsrequest.AWSResponse)
    wrap(botocore.httpsession.URLLib3Session, "send", calls.refuse_to_send)
    wrap(botocore.waiter.Waiter, "wait", calls.serve, calls.scope_of_waiter)
    wrap(botocore.waiter, "time", retry_sleeps.ModuleWithSleep, retry_sleeps.sleep)
    wrap(botocore.endpoint, "time", retry_sleeps.ModuleWithSleep, retry_sleeps.sleep)
    wrap(bucket.Clock, "current_time", retry_sleeps.tell_virtual_time)
    wrap(bucket.TokenBucket, "acquire", retry_sleeps.acquire, no_capacity)


def _save_time_in_botocore() -> None:
    """Share what clients would each make for themselves; every one of these may be missing."""
    import botocore.client
    import botocore.endpoint
    import botocore.hooks
    import botocore.httpsession
    import botocore.loaders
    import botocore.regions
    import botocore.session
    import botocore.translate
    import botocore.useragent

    save_time, creation = _patches.save_time, client_creation
    loader = botocore.loaders.Loader
    creator = botocore.client.ClientCreator
    endpoints = botocore.endpoint.EndpointCreator
    http_session = botocore.httpsession.URLLib3Session
    resolver = botocore.regions.EndpointRulesetResolver
    handlers = getattr(botocore.hooks, "_PrefixTrie", None)
    packages = dirname(dirname(botocore.__file__))

    save_time(loader, "load_service_model", creation.reuse_data, packages)
    save_time(loader, "load_data_with_path", creation.reuse_data, packages)
    save_time(creator, "create_client", creation.make_client)
    save_time(creator, "_load_service_model", creation.reuse_service_model)
    save_time(creator, "_create_methods", creation.reuse_methods)
    save_time(botocore.translate, "build_retry_config", creation.reuse_retry_config)
    save_time(endpoints, "create_endpoint", creation.send_on_demand, http_session)
    save_time(botocore.regions, "EndpointProvider", creation.reuse_rules)
    save_time(resolver, "construct_endpoint", interception.reuse_endpoint)
    save_time(botocore.hooks.EventAliaser, "__copy__", creation.reuse_aliases)
    save_time(handlers, "__copy__", creation.copy_handlers)
    save_time(botocore.hooks, "accepts_kwargs", creation.remember_signature)
    save_time(botocore.endpoint, "get_environ_proxies", creation.look_for_proxies)
    save_time(botocore.session.Session, "get_scoped_config", creation.look_at_the_profile_once)
    save_time(botocore.useragent.UserAgentString, "to_string", interception.reuse_user_agent)


def _wrap_aiobotocore() -> None:
    """Wrap aiobotocore as well, as soon as it is imported."""
    if _patches.has_aiobotocore or "aiobotocore.session" not in sys.modules:
        return
    _patches.has_aiobotocore = True
    import aiobotocore.awsrequest
    import aiobotocore.client
    import aiobotocore.credentials
    import aiobotocore.endpoint
    import aiobotocore.httpsession
    import aiobotocore.retries.bucket
    import aiobotocore.session
    import aiobotocore.signers
    import aiobotocore.waiter

    wrap, calls = _patches.wrap, interception
    client = aiobotocore.client.AioBaseClient
    session = aiobotocore.session.AioSession
    credentials = aiobotocore.credentials.AioCredentials
    signer = aiobotocore.signers.AioRequestSigner
    endpoint = aiobotocore.endpoint
    waiter = aiobotocore.waiter
    bucket = aiobotocore.retries.bucket

    wrap(client, "_make_api_call", calls.serve_call_async)
    wrap(session, "_create_client", calls.serve_async, calls.scope_of_creation)
    wrap(session, "get_credentials", calls.hide_credentials, credentials, calls.awaited)
    wrap(signer, "get_auth_instance", calls.sign_as_nobody, calls.awaited)
    wrap(endpoint.AioEndpoint, "_send", calls.answer_async, aiobotocore.awsrequest.AioAWSResponse)
    wrap(aiobotocore.httpsession.AIOHTTPSession, "send", calls.refuse_to_send)
    wrap(waiter.AIOWaiter, "wait", calls.serve_async, calls.scope_of_waiter)
    wrap(waiter, "asyncio", retry_sleeps.ModuleWithSleep, retry_sleeps.sleep_async)
    wrap(endpoint, "asyncio", retry_sleeps.ModuleWithSleep, retry_sleeps.sleep_async)
    no_capacity = bucket.CapacityNotAvailableError
    wrap(bucket.AsyncTokenBucket, "acquire", retry_sleeps.acquire_async, no_capacity)
    # The httpx back end of newer versions sleeps by methods of its own.
    owners = getattr(endpoint, "AnyioEndpoint", None), getattr(waiter, "AnyioWaiter", None)
    for owner in filter(None, owners):
        wrap(owner, "_sleep", retry_sleeps.sleep_by_method)


def _look_for_aiobotocore(original: Any) -> Any:
    """Session.__init__: an asynchronous session may be the first sign of aiobotocore."""

    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        if is_any_active():
            _wrap_aiobotocore()

    return init
