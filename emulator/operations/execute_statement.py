"""ExecuteStatement: one PartiQL statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from emulator.engine import Account
from emulator.model import Value
from emulator.operations import responses, shapes
from emulator.operations.registry import Request, Response, operation
from emulator.operations.rules.items import item_fits
from emulator.operations.statements import reads, writes
from emulator.partiql import Bound, Exists, bind, load_parameters
from emulator.service.errors import ValidationException

# Observed: another emulator's capture of eu-west-2, September 2026.
EXISTS_ELSEWHERE: Final = "EXISTS can only be used in ExecuteTransaction write requests."

STATEMENT: Final = shapes.String(1, 8192)
PARAMETERS: Final = shapes.List(shapes.VALUE, 1)

SHAPE = shapes.structure(
    Statement=STATEMENT.required,
    Parameters=PARAMETERS,
    ConsistentRead=shapes.BOOLEAN,
    NextToken=shapes.String(1, 32768),
    ReturnConsumedCapacity=shapes.RETURN_CONSUMED_CAPACITY,
    Limit=shapes.POSITIVE,
    ReturnValuesOnConditionCheckFailure=shapes.RETURN_ON_FAILURE,
)


@operation("ExecuteStatement", shape=SHAPE)
def execute_statement(account: Account, request: Request) -> Response:
    """Return the items that a SELECT finds, or that a write returns."""
    bound = bind_alone(request)
    if bound.reads:
        return reads.select_page(account, request, bound)
    return _write(account, request, bound)


def bind_alone(request: Mapping[str, Any]) -> Bound:
    """Return the statement of a request, which is no EXISTS (PQL-2)."""
    bound = bind_loaded(request, load_parameters(request.get("Parameters")))
    if isinstance(bound.statement, Exists):
        raise ValidationException(EXISTS_ELSEWHERE)
    return bound


def bind_loaded(request: Mapping[str, Any], parameters: Sequence[Value]) -> Bound:
    """Return the statement of a request; the item of an INSERT is small enough (SIZ-3)."""
    bound = bind(request["Statement"], parameters)
    if bound.item is not None:
        item_fits(bound.item)
    return bound


def _write(account: Account, request: Request, bound: Bound) -> Response:
    """Carry out a write; it answers no items unless RETURNING asks for one (PQL-1)."""
    table = account.table(bound.table_name)
    write = writes.write_of(bound, table, shows_old=responses.shows_old(request))
    planned = writes.carry_out(account, write)
    failure = writes.failure_of(bound, planned)
    if failure is not None:
        raise failure
    item = writes.returned(bound, planned)
    response: Response = {"Items": [] if item is None else [item]}
    mode = request.get("ReturnConsumedCapacity")
    return response | responses.consumed(mode, bound.table_name, planned.receipt)
