"""BatchExecuteStatement: up to twenty-five statements, each on its own."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from emulator.capacity import Receipt
from emulator.engine import Account, Table
from emulator.engine.reads import get
from emulator.engine.writes import Write
from emulator.model.wire import WireItem
from emulator.operations import responses, shapes
from emulator.operations.batch_get_item import DUPLICATES
from emulator.operations.execute_statement import PARAMETERS, STATEMENT, bind_alone
from emulator.operations.profiles import worded
from emulator.operations.registry import Request, Response, operation
from emulator.operations.rules import keys
from emulator.operations.statements import reads, writes
from emulator.partiql import Bound, Select, reads_only
from emulator.service import errors
from emulator.storage import Position

MIXED: Final = "Read and write requests together in the same batch is not supported."
NOT_BY_KEY: Final = (
    "Select statements within BatchExecuteStatement must specify the primary key "
    "in the where clause."
)
_MOST_STATEMENTS: Final = 25  # Source: PQL-18

SHAPE = shapes.structure(
    Statements=shapes.List(
        shapes.structure(
            "BatchStatementRequest",
            Statement=STATEMENT.required,
            Parameters=PARAMETERS,
            ConsistentRead=shapes.BOOLEAN,
            ReturnValuesOnConditionCheckFailure=shapes.RETURN_ON_FAILURE,
        ),
        1,
        _MOST_STATEMENTS,
    ).required,
    ReturnConsumedCapacity=shapes.RETURN_CONSUMED_CAPACITY,
)


class _Ready(NamedTuple):
    """A statement that can be carried out: a read of an item by key, or a write."""

    bound: Bound
    table: Table
    position: Position
    write: Write | None


@operation("BatchExecuteStatement", shape=SHAPE)
def batch_execute_statement(account: Account, request: Request) -> Response:
    """Run the statements that can be run, and answer each in its position."""
    # The order is observable (ERR-PQL-2): a statement at fault takes no part in what follows.
    members = request["Statements"]
    bound = [_bound(member, request) for member in members]
    _one_kind(members)
    ready = [
        _ready(account, statement, member) if isinstance(statement, Bound) else statement
        for statement, member in zip(bound, members, strict=True)
    ]
    _no_item_twice([statement for statement in ready if isinstance(statement, _Ready)])

    costs = _Costs()
    responses = []
    for statement, member in zip(ready, members, strict=True):
        if isinstance(statement, _Ready):
            responses.append(_response(account, statement, member, costs))
        else:
            responses.append({"Error": _error(statement, account)})
    mode = request.get("ReturnConsumedCapacity")
    return {"Responses": responses} | costs.report(mode)


def _bound(member: Mapping[str, Any], request: Request) -> Bound | errors.ApiError:
    """Return a statement with its values, or what is wrong with it."""
    try:
        return bind_alone(member)
    except errors.ValidationException as fault:
        # A wrong JSON type anywhere comes before all else (ORD-1).
        SHAPE.check_types(request)
        return fault


def _one_kind(members: Sequence[Mapping[str, Any]]) -> None:
    """Refuse reads beside writes, whatever else is wrong with them (PQL-18).

    Assumed: the order, in which DynamoDB Local and dynoxide agree (decision 33).
    """
    kinds = set()
    for member in members:
        with contextlib.suppress(errors.ValidationException):  # of no kind; it has its own answer
            kinds.add(reads_only(member["Statement"]))
    if len(kinds) > 1:
        raise errors.ValidationException(MIXED)


def _ready(account: Account, bound: Bound, member: Mapping[str, Any]) -> _Ready | errors.ApiError:
    """Find table and key of a statement, or say what is wrong."""
    try:
        table = account.table(bound.table_name)
        if not isinstance(bound.statement, Select):
            write = writes.write_of(bound, table, shows_old=responses.shows_old(member))
            return _Ready(bound, table, write.position, write)
        consistent = member.get("ConsistentRead", False)
        reads.reading_of(account, bound, bound.statement, consistent=consistent)
        key = reads.key_of_read(bound, bound.statement, table, NOT_BY_KEY)
        return _Ready(bound, table, table.position(keys.key_of(key, table.key)), None)
    except (errors.ValidationException, errors.ResourceNotFoundException) as fault:
        return fault


def _no_item_twice(statements: list[_Ready]) -> None:
    """Refuse two statements on one item, reads among them (PQL-18)."""
    touched = {(statement.table.name, statement.position) for statement in statements}
    if len(touched) < len(statements):
        raise errors.ValidationException(DUPLICATES)


def _response(
    account: Account, statement: _Ready, member: Mapping[str, Any], costs: _Costs
) -> dict[str, Any]:
    """Carry out one statement; one that fails does not hinder the others."""
    response: dict[str, Any] = {"TableName": statement.bound.table_name}
    try:
        if statement.write is None:
            item = _read(account, statement, member, costs)
        else:
            item = _write(account, statement.bound, statement.write, costs)
    except errors.ApiError as failure:
        return {"Error": _error(failure, account), **response}
    return response if item is None else {**response, "Item": item}


def _read(
    account: Account, statement: _Ready, member: Mapping[str, Any], costs: _Costs
) -> WireItem | None:
    select = statement.bound.statement
    assert isinstance(select, Select), "only a SELECT has no write"
    consistent = member.get("ConsistentRead", False)
    read = get(account, statement.table, statement.position, consistent=consistent)
    costs.add(statement.bound.table_name, read.receipt)
    return None if read.item is None else reads.shown(read.item, select.columns)


def _write(account: Account, bound: Bound, write: Write, costs: _Costs) -> WireItem | None:
    planned = writes.carry_out(account, write)
    failure = writes.failure_of(bound, planned)
    if failure is not None:
        costs.add_failed(bound.table_name, planned.receipt)
        raise failure
    costs.add(bound.table_name, planned.receipt)
    return writes.returned(bound, planned)


class _Costs:
    """The receipts of the statements, table by table (CAP-404).

    A failed statement counts into the total of its table, but into none of its arms, and only
    beside one that succeeded (CAP-313).
    """

    def __init__(self) -> None:
        self._receipts: list[tuple[str, Receipt]] = []
        self._failed: dict[str, float] = {}

    def add(self, table_name: str, receipt: Receipt) -> None:
        """Count a statement that succeeded."""
        self._receipts.append((table_name, receipt))

    def add_failed(self, table_name: str, receipt: Receipt) -> None:
        """Count a statement whose condition failed."""
        self._failed[table_name] = self._failed.get(table_name, 0.0) + receipt.total

    def report(self, mode: str | None) -> dict[str, Any]:
        """Return the ConsumedCapacity list, or nothing."""
        if not self._receipts:
            return {}
        answer = responses.consumed_by_table(mode, self._receipts)
        for entry in answer.get("ConsumedCapacity", ()):
            entry["CapacityUnits"] += self._failed.get(entry["TableName"], 0.0)
        return answer


# Errors


def _error(fault: errors.ApiError, account: Account) -> dict[str, Any]:
    """Return a fault as the answer to one statement (ERR-PQL-4)."""
    if isinstance(fault, errors.RequestFault):
        fault = worded(fault, "BatchExecuteStatement", account.settings.messages, {})
    responses.dump_items(fault)
    error: dict[str, Any] = {"Code": _code(fault), "Message": fault.message}
    item = fault.members.get("Item")
    return error if item is None else {**error, "Item": item}


def _code(fault: errors.ApiError) -> str:
    """Return how the answer to one statement calls a fault."""
    if isinstance(fault, errors.ValidationException):
        return "ValidationError"
    if isinstance(fault, errors.ThrottlingException):
        return "ThrottlingError"
    return fault.code.removesuffix("Exception")
