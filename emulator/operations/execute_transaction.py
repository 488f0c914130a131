"""ExecuteTransaction: up to a hundred reads, or writes and checks, all or none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from emulator.capacity import TRANSACTIONAL
from emulator.engine import Account, Table, transactions
from emulator.engine.reads import Found, find
from emulator.engine.transactions import Failure, TransactionAction
from emulator.engine.writes import Planned, plan
from emulator.operations import responses, shapes
from emulator.operations.execute_statement import PARAMETERS, STATEMENT, bind_loaded
from emulator.operations.registry import Request, Response, operation
from emulator.operations.rules.replicas import is_not_strong
from emulator.operations.statements import reads, writes
from emulator.operations.transact_write_items import SAME_ITEM, TOO_LARGE
from emulator.partiql import (
    Bound,
    Exists,
    Insert,
    KeyFault,
    Select,
    load_parameters,
    reads_only,
)
from emulator.service import errors, limits
from emulator.service.wording import Wording

MIXED: Final = (
    "ExecuteTransaction API does not support both read and write operations in the same request."
)
NUMBERED: Final = Wording("Validation failed in TransactStatements[{number}]: {message}")
RETURNING: Final = "RETURNING clause is not supported in ExecuteTransaction."
ON_INDEX: Final = "Reads on indices are not supported within transactions."
NOT_BY_KEY: Final = (
    "Select statements within ExecuteTransaction must specify the primary key in the where clause."
)

SHAPE = shapes.structure(
    TransactStatements=shapes.List(
        shapes.structure(
            "ParameterizedStatement",
            Statement=STATEMENT.required,
            Parameters=PARAMETERS,
            ReturnValuesOnConditionCheckFailure=shapes.RETURN_ON_FAILURE,
        ),
        1,
        limits.TRANSACTION_ACTIONS,
    ).required,
    ClientRequestToken=shapes.String(1, 36),
    ReturnConsumedCapacity=shapes.RETURN_CONSUMED_CAPACITY,
)


@operation("ExecuteTransaction", shape=SHAPE)
def execute_transaction(account: Account, request: Request) -> Response:
    """Carry out every statement, or cancel with one reason per statement."""
    # The order is observable (ERR-PQL-3).
    members = request["TransactStatements"]
    loaded = [load_parameters(member.get("Parameters")) for member in members]
    if len({_reads_only(number, member) for number, member in enumerate(members)}) > 1:
        raise errors.ValidationException(MIXED)
    bound = _bind(members, loaded)
    targets = [
        _target(account, number, statement, member)
        for number, (statement, member) in enumerate(zip(bound, members, strict=True))
    ]
    failures = [target if isinstance(target, Failure) else None for target in targets]
    if any(failures):
        raise transactions.cancelled(failures)
    actions = [target for target in targets if isinstance(target, TransactionAction)]
    if len({(action.table.name, action.position) for action in actions}) < len(actions):
        raise errors.ValidationException(SAME_ITEM)
    if bound[0].reads:
        return _read(account, request, bound, actions)
    return _write(account, request, bound, actions)


def _reads_only(number: int, member: Mapping[str, Any]) -> bool:
    with _numbered(number):
        return reads_only(member["Statement"])


def _bind(members: list[Mapping[str, Any]], loaded: list[list[Any]]) -> list[Bound]:
    bound = []
    for number, (member, parameters) in enumerate(zip(members, loaded, strict=True)):
        with _numbered(number):
            bound.append(bind_loaded(member, parameters))
    return bound


@contextmanager
def _numbered(number: int) -> Iterator[None]:
    """Report a fault with the number of its statement (PQL-20)."""
    try:
        yield
    except errors.ValidationException as fault:
        message = fault.wording if isinstance(fault, errors.RequestFault) else fault.message
        raise errors.RequestFault(NUMBERED.format(number=number, message=message)) from None


# Statements become actions


def _target(
    account: Account, number: int, bound: Bound, member: Mapping[str, Any]
) -> TransactionAction | Failure:
    """Return the action of a statement, or why the transaction cannot have it.

    Observed: another emulator's capture of eu-west-2, September 2026: a missing table and a
    key that does not suit cancel the transaction, unless another statement is at fault.
    """
    try:
        table = account.table(bound.table_name)
        is_not_strong([table], "transactions")
    except errors.ResourceNotFoundException as fault:
        return Failure("ResourceNotFound", str(fault.message))
    with _numbered(number):
        _check_form(bound, table)
        if isinstance(bound.statement, Select):
            return _reading(account, bound, bound.statement, table)
    return _writing(bound, table, member)


def _check_form(bound: Bound, table: Table) -> None:
    """Refuse what a transaction cannot do (PQL-20)."""
    statement = bound.statement
    if isinstance(statement, Select):
        if statement.source.index is not None:
            raise errors.ValidationException(ON_INDEX)
        if statement.columns is not None and statement.columns.fault is not None:
            raise errors.ValidationException(statement.columns.fault)
    elif isinstance(statement, Exists):
        writes.check_exists(bound, statement, table)
        writes.key_values_are_scalars(bound, table)
    elif not isinstance(statement, Insert):
        if statement.returning is not None:
            raise errors.ValidationException(RETURNING)
        writes.key_values_are_scalars(bound, table)


def _reading(
    account: Account, bound: Bound, select: Select, table: Table
) -> TransactionAction | Failure:
    try:
        key = reads.key_of_read(bound, select, table, NOT_BY_KEY)
    except KeyFault as fault:
        return Failure("ValidationError", fault.in_transactions)
    position = table.position_of(key)
    prepare = partial(find, account, table, position, consistent=True, factor=TRANSACTIONAL)
    return TransactionAction(table, position, prepare)


def _writing(bound: Bound, table: Table, member: Mapping[str, Any]) -> TransactionAction | Failure:
    shows_old = responses.shows_old(member)
    try:
        write = writes.write_of(bound, table, shows_old=shows_old)
    except KeyFault as fault:
        return Failure("ValidationError", fault.in_transactions)
    except errors.ValidationException as fault:
        return Failure("ValidationError", str(fault.message))
    prepare = partial(plan, write, factor=limits.TRANSACTION_FACTOR)
    return TransactionAction(table, write.position, prepare, shows_old)


# Carrying out


def _read(
    account: Account, request: Request, bound: list[Bound], actions: list[TransactionAction]
) -> Response:
    """Return every item in the order of the statements, an empty object for a missing one."""
    done = [read for read in transactions.execute(account, actions) if isinstance(read, Found)]
    if sum(read.receipt.bytes_returned for read in done) > limits.TRANSACTION_BYTES:
        raise errors.ValidationException(TOO_LARGE)
    entries = []
    for statement, read in zip(bound, done, strict=True):
        assert isinstance(statement.statement, Select), "all statements read"
        item = read.item
        entries.append(
            {} if item is None else {"Item": reads.shown(item, statement.statement.columns)}
        )
    receipts = zip(
        (statement.table_name for statement in bound),
        (statement.receipt for statement in done),
        strict=True,
    )
    mode = request.get("ReturnConsumedCapacity")
    return {"Responses": entries} | responses.consumed_by_table(mode, receipts)


def _write(
    account: Account, request: Request, bound: list[Bound], actions: list[TransactionAction]
) -> Response:
    """Carry out the writes once, however often their token comes (PQL-19, TXW-9)."""
    if (
        sum(statement.item.size_bytes for statement in bound if statement.item is not None)
        > limits.TRANSACTION_BYTES
    ):
        raise errors.ValidationException(TOO_LARGE)
    token = request.get("ClientRequestToken")
    fingerprint = transactions.fingerprint_of(token, request["TransactStatements"])
    mode = request.get("ReturnConsumedCapacity")
    replay = account.tokens.replay(token, fingerprint, account.now_ns)
    if replay is not None:
        return {"Responses": []} | responses.consumed_by_table(mode, replay)
    try:
        done = transactions.execute(account, actions)
    except errors.TransactionCanceledException as error:
        raise _with_duplicates(error, bound) from None
    planned = [write for write in done if isinstance(write, Planned)]
    account.tokens.keep(token, fingerprint, planned, account.now_ns)
    names = (statement.table_name for statement in bound)
    receipts = zip(names, (write.receipt for write in planned), strict=True)
    return {"Responses": []} | responses.consumed_by_table(mode, receipts)


def _with_duplicates(
    error: errors.TransactionCanceledException, bound: list[Bound]
) -> errors.TransactionCanceledException:
    """Return the cancellation with failed INSERTs called by their name (TXW-6)."""
    failures: list[Failure | None] = []
    for reason, statement in zip(error.members["CancellationReasons"], bound, strict=True):
        code, message = reason["Code"], reason.get("Message", "")
        if code == "ConditionalCheckFailed" and isinstance(statement.statement, Insert):
            code, message = "DuplicateItem", writes.DUPLICATE
        failures.append(None if code == "None" else Failure(code, message, reason.get("Item")))
    return transactions.cancelled(failures)
