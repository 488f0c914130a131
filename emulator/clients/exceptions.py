"""Errors as a Python client raises them.

    ClientError                            .response, .operation_name
    └── one class per error of the service model: client.exceptions.X

Rule WIR-18: ``response["Error"]`` has the code and the message; ``CancellationReasons``, ``Item``
and the other members of the wire error stand beside it.

Code under test that says ``except botocore.exceptions.ClientError`` has imported botocore. So
once botocore is imported, by whomever, the errors raised here are botocore's too; while it is
not, nothing here imports it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, TypeVar

from emulator.clients.conversion import Wire, client_response
from emulator.protocol import next_request_id
from emulator.service import errors

_Error = TypeVar("_Error", bound=Exception)

NO_ANSWER: Final = "the emulator: the request was served, and its answer was lost"
NO_SUCH_EXCEPTION: Final = "the service model has no error {name!r}; it has: {known}"


class ClientError(Exception):
    """The service refused a call.

    Attributes:
        response: The parsed error response.
        operation_name: The operation, such as ``PutItem``.

    >>> from emulator import Emulator
    >>> try:
    ...     Emulator().client().describe_table(TableName="orders")
    ... except ClientError as error:
    ...     print(error.response["Error"]["Code"], error.operation_name)
    ResourceNotFoundException DescribeTable
    """

    def __init__(self, response: Wire, operation_name: str) -> None:
        error = response["Error"]
        # Not super(): botocore's own constructor may stand behind this one (see _also_botocore).
        Exception.__init__(
            self,
            f"An error occurred ({error['Code']}) when calling the {operation_name} operation: "
            f"{error['Message']}",
        )
        self.response = response
        self.operation_name = operation_name

    def __reduce__(self) -> tuple[Any, ...]:
        return client_error, (self.response, self.operation_name)


class WaiterError(Exception):
    """A waiter met a failure, or ran out of attempts.

    Attributes:
        last_response: The answer to the last attempt.

    >>> from emulator import Emulator, ManualClock
    >>> waiter = Emulator(clock=ManualClock()).client().get_waiter("table_exists")
    >>> waiter.wait(TableName="orders", WaiterConfig={"MaxAttempts": 2})
    Traceback (most recent call last):
    emulator.clients.exceptions.WaiterError: Waiter TableExists failed: Max attempts exceeded...
    """

    def __init__(self, name: str, reason: str, last_response: Wire) -> None:
        Exception.__init__(self, f"Waiter {name} failed: {reason}")
        self.kwargs = {"name": name, "reason": reason}
        self.last_response = last_response


def connection_closed() -> Exception:
    """Return the exception of a client whose connection closed before the answer.

    botocore tries such a request again.

    >>> isinstance(connection_closed(), Exception)
    True
    """
    botocore = sys.modules.get("botocore.exceptions")
    if botocore is None:
        return ConnectionResetError(NO_ANSWER)
    closed: Exception = botocore.ConnectionClosedError(endpoint_url=NO_ANSWER)
    return closed


class Exceptions:
    """The errors of the service model by name, as ``client.exceptions`` offers them.

    >>> Exceptions().ResourceNotFoundException.__mro__[1].__name__
    'ClientError'
    """

    def from_code(self, code: str) -> type[ClientError]:
        """Return the class of an error code; ClientError itself for one outside the model."""
        return error_class(code)

    def __getattr__(self, name: str) -> type[ClientError]:
        if name == "ClientError":
            return ClientError
        if name not in modelled_errors():
            known = ", ".join(sorted(modelled_errors()))
            raise AttributeError(NO_SUCH_EXCEPTION.format(name=name, known=known))
        return error_class(name)

    def __dir__(self) -> list[str]:
        return sorted({"ClientError", "from_code", *modelled_errors()})


@cache
def modelled_errors() -> frozenset[str]:
    """Return the codes of the service model's errors; others come as plain ClientErrors."""
    shapes = {error.code for error in _subclasses(errors.ServiceError)}
    return frozenset(shapes | {errors.ThrottlingException.code})


@cache
def error_class(code: str) -> type[ClientError]:
    """Return the class for an error code."""
    return type(code, (ClientError,), {}) if code in modelled_errors() else ClientError


def client_error(response: Wire, operation_name: str) -> ClientError:
    """Return the exception for a parsed error response."""
    kind = _also_botocore(error_class(response["Error"]["Code"]), "ClientError")
    return kind(response, operation_name)


def waiter_error(name: str, reason: str, last_response: Wire) -> WaiterError:
    """Return the exception for a waiter that gave up."""
    return _also_botocore(WaiterError, "WaiterError")(name, reason, last_response)


def error_response(error: errors.ApiError) -> Wire:
    """Return an error of the service as a client parses it.

    >>> error_response(errors.ConditionalCheckFailedException("no"))["Error"]
    {'Message': 'no', 'Code': 'ConditionalCheckFailedException'}
    """
    response: Wire = {
        "Error": {"Message": error.message or "", "Code": error.code},
        "ResponseMetadata": response_metadata(error.status),
    }
    if error.code in modelled_errors():
        response |= client_response(error.members)
        # A parser finds the text only under the name that the service model has for it (WIR-10).
        if error.message is not None and error.message_member == type(error).message_member:
            response[error.message_member] = error.message
    return response


def response_metadata(status: int, headers: Mapping[str, str] | None = None) -> Wire:
    """Return the ResponseMetadata of an answer that took no network and no retry.

    >>> response_metadata(200)["HTTPStatusCode"]
    200
    """
    return {
        "RequestId": next_request_id(),
        "HTTPStatusCode": status,
        "HTTPHeaders": dict(headers or {}),
        "RetryAttempts": 0,
    }


def _subclasses(kind: type[errors.ApiError]) -> Iterator[type[errors.ApiError]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def _also_botocore(kind: type[_Error], name: str) -> type[_Error]:
    """Return ``kind``, also caught as botocore's exception ``name`` if botocore is imported."""
    theirs = sys.modules.get("botocore.exceptions")
    if theirs is None:
        return kind
    bases = (kind, getattr(theirs, name))
    if bases not in _JOINED:
        _JOINED[bases] = type(kind.__name__, bases, {})
    joined: type[_Error] = _JOINED[bases]
    return joined


_JOINED: Final[dict[tuple[type, type], Any]] = {}
