"""The guard: no request to DynamoDB leaves this machine while no mock serves it.

It stands where the SDK would send, so that other mocks and recorded answers, which come before,
still serve. A server on this machine may be asked. A request that is not signed for want of
credentials is refused there, so that the sentence is the same on every machine.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import ExitStack
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final
from urllib.parse import urlsplit

from emulator.sdk.interception import asks_dynamodb, target_of
from emulator.service.errors import EmulatorError

REFUSED: Final = (
    "{operation} was about to be sent to {host}, and no fixture serves it: ask for ddb or another "
    "fixture of dynamometer, mark the test with @pytest.mark.ddb, or enter mock_dynamodb "
    "(ddb_guard refuses what would leave this machine)"
)
#: The methods of the SDKs that send a request, by the package that must be installed for them.
SENDERS: Final = (
    ("botocore", "botocore.httpsession", "URLLib3Session"),
    ("aiobotocore", "aiobotocore.httpsession", "AIOHTTPSession"),
    ("httpx", "aiobotocore.httpxsession", "HttpxSession"),
)
_THIS_MACHINE: Final = ("localhost", "127.0.0.1", "::1", "0.0.0.0")


def guard() -> Callable[[], None]:
    """Refuse every request to DynamoDB that would leave this machine; returns how to stop that."""
    stack = ExitStack()
    for package, module, name in SENDERS:
        if find_spec(package) is None:
            continue
        try:
            owner = getattr(import_module(module), name)
        except (ImportError, AttributeError):  # another version of the SDK sends otherwise
            continue
        original = owner.send
        owner.send = _refusing(original)
        stack.callback(_put_back, owner, "send", owner.send, original)
    if find_spec("botocore") is not None:
        signer = import_module("botocore.auth").SigV4Auth
        original = signer.add_auth
        signer.add_auth = _refusing_unsigned(original)
        stack.callback(_put_back, signer, "add_auth", signer.add_auth, original)
    return stack.close


def _put_back(owner: Any, name: str, replacement: Any, original: Any) -> None:
    if getattr(owner, name) is replacement:
        setattr(owner, name, original)


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
    """Raise an error for a request to DynamoDB that is not to a server on this machine."""
    host = urlsplit(request.url).hostname or ""
    if asks_dynamodb(request) and host not in _THIS_MACHINE:
        operation = target_of(request).rpartition(".")[2]
        raise EmulatorError(REFUSED.format(operation=operation, host=host))
