"""The guard: no DynamoDB request leaves this machine while no mock serves it.

Requests are refused where the SDK would send them, so that other mocks and recorded answers, which
come before, still serve; a server on this machine may be asked. Credentials count as well: a
client of DynamoDB takes those of its arguments, the environment and files, and looks nowhere else.
A request that is not signed for want of them is refused, too, so that the sentence is the same on
every machine.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any, Final
from urllib.parse import urlsplit

from emulator.sdk.interception import SERVICES, asks_dynamodb, target_of
from emulator.service.errors import EmulatorError

REFUSED: Final = "{operation} was about to be sent to {host}, and no fixture serves it: {advice}"
REFUSED_LOOKUP: Final = (
    "{action} was about to ask {host} for credentials or settings, and no fixture serves it: "
    "{advice}"
)
ADVICE: Final = (
    "ask for ddb or another fixture of dynamometer, mark the test with @pytest.mark.ddb, or enter "
    "mock_dynamodb (ddb_guard refuses what would leave this machine)"
)
CREATION: Final = "a DynamoDB client"
#: The SDK's names of the places on this machine where it finds credentials.
LOCAL_CREDENTIALS: Final = frozenset(
    {"env", "shared-credentials-file", "config-file", "ec2-credentials-file", "boto-config"}
)
_THIS_MACHINE: Final = ("localhost", "127.0.0.1", "::1", "0.0.0.0")

#: What a client of DynamoDB is doing in this thread or task; None while there is no such client.
_action: ContextVar[str | None] = ContextVar("dynamodb_action", default=None)


def guard() -> Callable[[], None]:
    """Refuse DynamoDB requests that would leave this machine; returns how to stop that."""
    stack = ExitStack()
    for module, class_name, name, wrapper in _METHODS:
        try:
            owner = getattr(import_module(module), class_name)
            original = getattr(owner, name)
        except (ImportError, AttributeError):  # not installed, or a version that does it otherwise
            continue
        setattr(owner, name, wrapper(original))
        stack.callback(_put_back, owner, name, getattr(owner, name), original)
    return stack.close


def _put_back(owner: Any, name: str, replacement: Any, original: Any) -> None:
    if getattr(owner, name) is replacement:
        setattr(owner, name, original)


# What a client of DynamoDB is doing


def _created(original: Any) -> Any:
    @functools.wraps(original)
    def create_client(self: Any, service_name: str, *args: Any, **kwargs: Any) -> Any:
        with _acting(service_name, CREATION):
            return original(self, service_name, *args, **kwargs)

    return create_client


def _created_async(original: Any) -> Any:
    @functools.wraps(original)
    async def create_client(self: Any, service_name: str, *args: Any, **kwargs: Any) -> Any:
        with _acting(service_name, CREATION):
            return await original(self, service_name, *args, **kwargs)

    return create_client


def _called(original: Any) -> Any:
    @functools.wraps(original)
    def make_api_call(self: Any, operation_name: str, api_params: Any) -> Any:
        with _acting(self.meta.service_model.service_name, operation_name):
            return original(self, operation_name, api_params)

    return make_api_call


def _called_async(original: Any) -> Any:
    @functools.wraps(original)
    async def make_api_call(self: Any, operation_name: str, api_params: Any) -> Any:
        with _acting(self.meta.service_model.service_name, operation_name):
            return await original(self, operation_name, api_params)

    return make_api_call


@contextmanager
def _acting(service_name: str, action: str) -> Iterator[None]:
    """Note what a client of DynamoDB does; another service's may be asked on its behalf."""
    token = _action.set(action if service_name in SERVICES else _action.get())
    try:
        yield
    finally:
        _action.reset(token)


# What is refused


def _local_only(original: Any) -> Any:
    """CredentialResolver.load_credentials: for DynamoDB, from this machine or not at all."""

    @functools.wraps(original)
    def load_credentials(self: Any) -> Any:
        if _action.get() is None:
            return original(self)
        local = [each for each in self.providers if each.METHOD in LOCAL_CREDENTIALS]
        return original(type(self)(local))

    return load_credentials


def _refusing(original: Any) -> Any:
    @functools.wraps(original)
    def send(self: Any, request: Any) -> Any:
        _refuse_to_leave(request)
        return original(self, request)

    return send


def _refusing_unsigned(original: Any) -> Any:
    @functools.wraps(original)
    def add_auth(self: Any, request: Any) -> Any:
        if self.credentials is None:
            _refuse_to_leave(request)
        return original(self, request)

    return add_auth


def _refuse_to_leave(request: Any) -> None:
    """Raise an error for a request by or for DynamoDB that is not to a server on this machine."""
    host = urlsplit(request.url).hostname or ""
    if host in _THIS_MACHINE:
        return
    if asks_dynamodb(request):
        operation = target_of(request).rpartition(".")[2]
        raise EmulatorError(REFUSED.format(operation=operation, host=host, advice=ADVICE))
    if (action := _action.get()) is not None:
        raise EmulatorError(REFUSED_LOOKUP.format(action=action, host=host, advice=ADVICE))


#: What is wrapped: module, class and method, and what makes the wrapper.
_METHODS: Final[tuple[tuple[str, str, str, Callable[[Any], Any]], ...]] = (
    ("botocore.httpsession", "URLLib3Session", "send", _refusing),
    ("botocore.auth", "SigV4Auth", "add_auth", _refusing_unsigned),
    ("botocore.session", "Session", "create_client", _created),
    ("botocore.client", "BaseClient", "_make_api_call", _called),
    ("botocore.credentials", "CredentialResolver", "load_credentials", _local_only),
    ("aiobotocore.httpsession", "AIOHTTPSession", "send", _refusing),
    ("aiobotocore.httpxsession", "HttpxSession", "send", _refusing),
    ("aiobotocore.session", "AioSession", "_create_client", _created_async),
    ("aiobotocore.client", "AioBaseClient", "_make_api_call", _called_async),
    ("aiobotocore.credentials", "AioCredentialResolver", "load_credentials", _local_only),
)
