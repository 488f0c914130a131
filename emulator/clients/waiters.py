"""Waiters: ask until a state is reached, sleeping on the emulator's clock between questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from emulator.clients.conversion import Wire
from emulator.clients.exceptions import ClientError, waiter_error
from emulator.clock import Clock

State: TypeAlias = Literal["success", "failure", "retry"]

_NOT_FOUND: Final = "ResourceNotFoundException"
_GIVEN_UP: Final = "Max attempts exceeded"
_FAILED: Final = "Waiter encountered a terminal failure state"


@dataclass(frozen=True, slots=True)
class WaiterWait:
    """The requests of a waiter, how it reads the answers, and how long it goes on."""

    name: str
    operation: str
    state: Callable[[Wire], State | None]
    max_attempts: int
    delay_seconds: float = 20


def _reaches(
    *path: str, success: str | tuple[str, ...], failure: tuple[str, ...] = ()
) -> Callable[[Wire], State | None]:
    """Read a status at the end of a path."""
    reached = (success,) if isinstance(success, str) else success

    def state(response: Wire) -> State | None:
        status: Any = response
        for name in path:
            status = status.get(name, {})
        if status in reached:
            return "success"
        return "failure" if status in failure else None

    return state


def _table_exists(response: Wire) -> State | None:
    if _error_code(response) == _NOT_FOUND:
        return "retry"
    return _reaches("Table", "TableStatus", success="ACTIVE")(response)


def _table_is_gone(response: Wire) -> State | None:
    return "success" if _error_code(response) == _NOT_FOUND else None


def _a_destination_is_active(response: Wire) -> State | None:
    destinations = response.get("KinesisDataStreamDestinations", ())
    states = [destination.get("DestinationStatus") for destination in destinations]
    if "ACTIVE" in states:
        return "success"
    has_ended = states and all(state in ("DISABLED", "ENABLE_FAILED") for state in states)
    return "failure" if has_ended else None


def _error_code(response: Wire) -> str | None:
    code: str | None = response.get("Error", {}).get("Code")
    return code


#: Source: botocore's waiters-2.json for dynamodb 2012-08-10.
WAITERS: Final = {
    "bulk_operation_completed": WaiterWait(
        "BulkOperationCompleted",
        "describe_bulk_operation",
        _reaches(
            "BulkOperationDescription",
            "BulkOperationStatus",
            success=("COMPLETED", "COMPLETED_WITH_ERRORS"),
            failure=("CANCELLED", "FAILED"),
        ),
        180,
    ),
    "contributor_insights_enabled": WaiterWait(
        "ContributorInsightsEnabled",
        "describe_contributor_insights",
        _reaches("ContributorInsightsStatus", success="ENABLED", failure=("FAILED",)),
        30,
    ),
    "export_completed": WaiterWait(
        "ExportCompleted",
        "describe_export",
        _reaches("ExportDescription", "ExportStatus", success="COMPLETED", failure=("FAILED",)),
        60,
    ),
    "import_completed": WaiterWait(
        "ImportCompleted",
        "describe_import",
        _reaches(
            "ImportTableDescription",
            "ImportStatus",
            success="COMPLETED",
            failure=("FAILED", "CANCELLED"),
        ),
        60,
    ),
    "kinesis_streaming_destination_active": WaiterWait(
        "KinesisStreamingDestinationActive",
        "describe_kinesis_streaming_destination",
        _a_destination_is_active,
        30,
    ),
    "table_exists": WaiterWait("TableExists", "describe_table", _table_exists, 25),
    "table_not_exists": WaiterWait("TableNotExists", "describe_table", _table_is_gone, 25),
}


class Waiter:
    """One waiter of a client."""

    def __init__(self, method: Callable[..., Wire], waiting: WaiterWait, clock: Clock) -> None:
        self.name = waiting.name
        self._method = method
        self._waiting = waiting
        self._clock = clock

    def wait(self, *, WaiterConfig: Wire | None = None, **request: Any) -> None:  # noqa: N803  # the SDK's name
        """Ask until the state is reached.

        Args:
            WaiterConfig: ``Delay`` in seconds and ``MaxAttempts``, if not the waiter's own.
            **request: The members of the operation's request.

        Raises:
            WaiterError: a failure state, an unexpected error, or no attempts left.
        """
        config = WaiterConfig or {}
        delay = config.get("Delay", self._waiting.delay_seconds)
        max_attempts = config.get("MaxAttempts", self._waiting.max_attempts)
        attempt = 0
        while True:
            attempt += 1
            response = self._ask(request)
            state = self._waiting.state(response)
            if state == "success":
                return
            self._check(state, response, is_last=attempt >= max_attempts)
            self._clock.sleep(delay)

    def _ask(self, request: Wire) -> Wire:
        try:
            return self._method(**request)
        except ClientError as error:
            return error.response

    def _check(self, state: State | None, response: Wire, *, is_last: bool) -> None:
        if state is None and "Error" in response:
            error = response["Error"]
            reason = f"An error occurred ({error['Code']}): {error['Message']}"
        elif state == "failure":
            reason = _FAILED
        elif is_last:
            reason = _GIVEN_UP
        else:
            return
        raise waiter_error(self.name, reason, response)
