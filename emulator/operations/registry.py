"""The registry: operation name to request shape and handler.

A handler is a function of the account and the checked request; it reads as the semantics.
``serve`` is the one way through: the moment, shape, handler, the wording of faults, the account of
what was consumed.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from emulator.engine import Account
from emulator.operations.responses import dump_items
from emulator.operations.unserved import mention, unknown_operation
from emulator.service import errors
from emulator.service.catalogue import OPERATIONS

if TYPE_CHECKING:
    from emulator.operations.shapes import Structure

Request: TypeAlias = dict[str, Any]
Response: TypeAlias = dict[str, Any]
Handler: TypeAlias = Callable[[Account, Request], Response]


class Operation(NamedTuple):
    """An operation in the registry."""

    name: str
    shape: Structure
    handler: Handler


#: What a request is made of, beside maps and lists.
_SENT_TYPES: Final = (str, int, float, bytes, bytearray, memoryview, type(None))
_LOADED: Final[dict[str, Operation]] = {}


def operation(name: str, *, shape: Structure) -> Callable[[Handler], Handler]:
    """Register the handler of an operation."""

    def register(handler: Handler) -> Handler:
        _LOADED[name] = Operation(name, shape, handler)
        return handler

    return register


def find(name: str) -> Operation:
    """Return an operation, loading its module on first use.

    Raises:
        UnknownOperationException: no such operation is served; it is named (WIR-6).
    """
    registered = _LOADED.get(name)
    if registered is None:
        facts = OPERATIONS.get(name)
        if facts is None:
            raise unknown_operation(name)
        import_module(f"emulator.operations.{facts.module}")
        registered = _LOADED[name]
    return registered


def serve(
    account: Account, operation: str, request: Request, *, is_patient: bool = False
) -> Response:
    """Serve one request at its moment, under the account's lock.

    Args:
        account: The account that is asked.
        operation: The operation's name.
        request: Its parameters.
        is_patient: Whether it waits until everything is done that was due before.

    Raises:
        ApiError: and nothing else; nothing has changed then.
    """
    with account.lock:
        if account.begin(operation, request) or not is_patient:
            try:
                answer = run(account, operation, request)
            except errors.ApiError as error:
                account.end(error.code)
                raise
            account.end()
            return answer
    account.reach(account.clock.now_ns())
    return serve(account, operation, request)


def run(account: Account, name: str, request: Request) -> Response:
    """Answer a request of an operation that has begun: shape, handler, the wording of faults.

    Raises:
        ApiError: and nothing else, whatever the request holds.
    """
    registered = _LOADED.get(name) or find(name)
    if type(request) is not dict:
        raise errors.SerializationException
    try:
        if not registered.shape.accepts(request):
            request = registered.shape.without_nulls(request)
            mention(account, name, registered.shape.check(request))
        return registered.handler(account, request)
    except (errors.ConditionalCheckFailedException, errors.TransactionCanceledException) as failure:
        from emulator.operations.profiles import name_text

        dump_items(failure)
        name_text(failure, name, account.settings.messages)
        raise
    except (errors.ValidationException, errors.ResourceNotFoundException) as fault:
        raise _first_fault(registered, request, account, fault) from None
    except (UnicodeEncodeError, RecursionError):
        # Assumed: text that is not Unicode, or nested deeper than any parser goes, cannot be read
        # at all.
        raise errors.SerializationException from None
    except (AttributeError, TypeError):
        if _can_be_sent(request):
            raise
        raise errors.SerializationException from None


def _can_be_sent(request: Request) -> bool:
    """Return whether a request holds nothing but what JSON can write, and binary values.

    Only callers in the same process can ask otherwise, with names that are no text or with
    objects of their own; the question is put when such a request has failed.
    """
    unseen: list[Any] = [request]
    met: set[int] = set()
    while unseen:
        value = unseen.pop()
        if id(value) in met:  # tied into a ring, or named often
            continue
        if isinstance(value, dict):
            if not all(isinstance(name, str) for name in value):
                return False
            met.add(id(value))
            unseen.extend(value.values())
        elif isinstance(value, list | tuple | set | frozenset):
            met.add(id(value))
            unseen.extend(value)
        elif not isinstance(value, _SENT_TYPES):
            return False
    return True


def _first_fault(
    registered: Operation, request: Request, account: Account, fault: errors.ApiError
) -> errors.ApiError:
    """Return the fault to answer: a wrong JSON type anywhere comes before all else (ORD-1).

    Values are loaded in one walk, so their JSON types are judged late; this is where the
    order is put right, and only for requests that fail anyway.
    """
    try:
        registered.shape.check_types(request)
    except errors.SerializationException as earlier:
        return earlier
    except RecursionError:
        return errors.SerializationException()
    if isinstance(fault, errors.RequestFault):
        # Not every program sends a request that has a fault.
        from emulator.operations.profiles import worded

        return worded(fault, registered.name, account.settings.messages, request)
    return fault
