"""A client of the shape of boto3's, on an emulator's ``call``, without boto3.

It has every operation of DynamoDB and of DynamoDB Streams, takes and gives what boto3's client
does, and raises the same errors. It never retries: what the service refuses is raised at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from emulator.clients.conversion import Wire, client_response, wire_request
from emulator.clients.exceptions import (
    Exceptions,
    client_error,
    error_response,
    response_metadata,
)
from emulator.clients.paginators import Paginator
from emulator.clients.waiters import WAITERS, Waiter
from emulator.clock import Clock, SystemClock
from emulator.protocol import Call
from emulator.service.catalogue import OPERATIONS
from emulator.service.errors import ApiError

NO_SUCH_METHOD: Final = "the client has no method {name!r}: DynamoDB has no such operation"
KEYWORDS_ONLY: Final = "{name}() only accepts keyword arguments."
NOT_PAGED: Final = "{name!r} has no pages; these have: {known}"
NO_SUCH_WAITER: Final = "there is no waiter {name!r}; there are: {known}"


def snake_case(name: str) -> str:
    """Return a wire name as Python writes it.

    >>> snake_case("PutItem"), snake_case("SSEDescription")
    ('put_item', 'sse_description')
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


_METHODS: Final = {snake_case(operation): operation for operation in OPERATIONS}
_PAGINGS: Final = {
    snake_case(row.name): row.paging for row in OPERATIONS.values() if row.paging is not None
}


@dataclass(frozen=True, slots=True)
class ClientMeta:
    """The properties of a client."""

    region_name: str

    @property
    def endpoint_url(self) -> str:
        """Return the address that a client of this region would have."""
        return f"https://dynamodb.{self.region_name}.amazonaws.com"

    @property
    def method_to_api_mapping(self) -> dict[str, str]:
        """Return the operation behind each method."""
        return dict(_METHODS)


class Client:
    """boto3's DynamoDB client in shape, served by an emulator.

    >>> from emulator import Emulator
    >>> client = Emulator().client()
    >>> client.list_tables()["TableNames"]
    []
    >>> try:
    ...     client.describe_table(TableName="missing")
    ... except client.exceptions.ResourceNotFoundException as error:
    ...     print(error.response["Error"]["Code"])
    ResourceNotFoundException
    """

    exceptions = Exceptions()

    def __init__(
        self, call: Call, *, region: str = "us-east-1", clock: Clock | None = None
    ) -> None:
        self.meta = ClientMeta(region)
        self._call = call
        self._clock = clock if clock is not None else SystemClock()

    def __getattr__(self, name: str) -> Callable[..., Wire]:
        operation = _METHODS.get(name)
        if operation is None:
            raise AttributeError(NO_SUCH_METHOD.format(name=name))
        method = partial(self._request, name, operation)
        # The next look-up finds it without coming here.
        self.__dict__[name] = method
        return method

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_METHODS})

    def _request(self, name: str, operation: str, /, *args: object, **request: Any) -> Wire:
        if args:
            raise TypeError(KEYWORDS_ONLY.format(name=name))
        response = invoke(self._call, operation, wire_request(request), self.meta.region_name)
        return {**client_response(response), "ResponseMetadata": response_metadata(200)}

    def can_paginate(self, operation_name: str) -> bool:
        """Return whether an operation has pages."""
        return operation_name in _PAGINGS

    def get_paginator(self, operation_name: str) -> Paginator:
        """Return a paginator, such as ``get_paginator("query")``.

        Raises:
            ValueError: the operation has no pages.
        """
        paging = _PAGINGS.get(operation_name)
        if paging is None:
            known = ", ".join(_PAGINGS)
            raise ValueError(NOT_PAGED.format(name=operation_name, known=known))
        return Paginator(getattr(self, operation_name), paging)

    @property
    def waiter_names(self) -> list[str]:
        """Return the names that ``get_waiter`` takes."""
        return list(WAITERS)

    def get_waiter(self, waiter_name: str) -> Waiter:
        """Return a waiter, such as ``get_waiter("table_exists")``.

        Raises:
            ValueError: there is no such waiter.
        """
        waiting = WAITERS.get(waiter_name)
        if waiting is None:
            raise ValueError(NO_SUCH_WAITER.format(name=waiter_name, known=", ".join(WAITERS)))
        return Waiter(getattr(self, waiting.operation), waiting, self._clock)

    def close(self) -> None:
        """Do nothing: there is no connection to close."""


def invoke(call: Call, operation: str, request: Wire, region: str) -> Wire:
    """Call the emulator, and raise what it refuses as a client raises it.

    Raises:
        ClientError: the service refused.
    """
    try:
        return call(operation, request, region=region)
    except ApiError as error:
        raise client_error(error_response(error), operation) from None
