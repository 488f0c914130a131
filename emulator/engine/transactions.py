"""Transactions: all actions or none.

An action that fails at run time gives its reason; the others give ``None``; nothing is
applied unless every action can be (TXW-3, TXW-8).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from emulator.capacity import Charge, Reason, admit_all, cancellation, record
from emulator.engine import propagation
from emulator.engine.reads import Found
from emulator.engine.writes import Planned, apply
from emulator.model import Item
from emulator.service import limits
from emulator.service.errors import (
    ApiError,
    ConditionalCheckFailedException,
    ItemCollectionSizeLimitExceededException,
    TransactionCanceledException,
    TransactionConflictException,
    ValidationException,
)
from emulator.storage import Position

if TYPE_CHECKING:
    from emulator.engine.account import Account
    from emulator.engine.table import Table

CANCELLED: Final = (
    "Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]"
)
#: How a failure is called among cancellation reasons (TXW-6).
_CODES: Final[dict[type[ApiError], str]] = {
    ConditionalCheckFailedException: "ConditionalCheckFailed",
    ItemCollectionSizeLimitExceededException: "ItemCollectionSizeLimitExceeded",
    TransactionConflictException: "TransactionConflict",
    ValidationException: "ValidationError",
}


class TransactionAction(NamedTuple):
    """One action of a transaction, to be judged when its turn comes.

    Attributes:
        table: The table it works on.
        position: The item, or None while its key is in doubt.
        prepare: Returns the planned write or the item found, or raises what is wrong.
        returns_item: Whether a failed condition shows the stored item (TXW-7).
    """

    table: Table
    position: Position | None
    prepare: Callable[[], Planned | Found]
    returns_item: bool = False


class Failure(NamedTuple):
    """Why an action cannot be carried out."""

    code: str
    message: str
    item: Item | None = None


def fingerprint_of(token: str | None, actions: Any) -> bytes:
    """Return a digest of the actions of a request; empty without a token.

    >>> fingerprint_of("t", [1]) == fingerprint_of("t", [1]) != fingerprint_of("t", [2])
    True
    """
    if token is None:
        return b""
    import hashlib  # only for transactions with a token

    text = json.dumps(actions, sort_keys=True, default=repr)
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def execute(account: Account, actions: Sequence[TransactionAction]) -> list[Planned | Found]:
    """Carry out all actions or none.

    Raises:
        TransactionCanceledException: with one reason per action.
    """
    prepared: list[Planned | Found | None] = []
    failures: list[Failure | None] = []
    for action in actions:
        done, failure = _prepare(account, action)
        prepared.append(done)
        failures.append(failure)
    if any(failures):
        _admit(account, actions, prepared, [_charges_of_failure(done) for done in prepared])
        raise cancelled(failures)
    done_actions = [done for done in prepared if done is not None]
    for action, done in zip(actions, done_actions, strict=True):
        account.receipts.append((action.table.name, done.receipt))
    _admit(account, actions, done_actions, [_charges(done) for done in done_actions])
    for done in done_actions:
        if isinstance(done, Planned):
            apply(account, done)
    account.holds.hold(account, actions)
    return done_actions


def _prepare(
    account: Account, action: TransactionAction
) -> tuple[Planned | Found | None, Failure | None]:
    try:
        if action.position is not None:
            account.holds.check(account, action.table, action.position)
        done = action.prepare()
    except tuple(_CODES) as error:
        return None, _failure(error)
    if isinstance(done, Planned) and done.failure is not None:
        item = done.old if action.returns_item else None
        return done, Failure("ConditionalCheckFailed", str(done.failure.message), item)
    return done, None


def _failure(error: ApiError) -> Failure:
    code = next(code for kind, code in _CODES.items() if isinstance(error, kind))
    return Failure(code, str(error.message))


def _admit(
    account: Account,
    actions: Sequence[TransactionAction],
    prepared: Sequence[Planned | Found | None],
    charges: Sequence[Sequence[Charge]],
) -> None:
    """Ask for admission of every action, all or none (CAP-611)."""
    if account.capacity == "off":
        return
    closed = [_closed(account, done) for done in prepared]
    answers = closed
    if account.is_judged and not any(closed):
        answers = admit_all(charges, account.throughput_ns)
    refused: list[Failure | None] = []
    throttled = any(answers)
    for action, done, asked, reasons in zip(actions, prepared, charges, answers, strict=True):
        if reasons and done is not None:
            account.note_refusal(action.table, asked, reasons, done.receipt)
            on_demand = action.table.resource.throughput.on_demand
            refused.append(Failure(*cancellation(reasons, on_demand=on_demand)))
        else:
            refused.append(None)
        if asked and (reasons or not throttled):
            record(asked, account.throughput_ns, reasons)
    if throttled and account.capacity == "enforce":
        account.receipts.clear()
        raise cancelled(refused)


def _closed(account: Account, done: Planned | Found | None) -> tuple[Reason, ...]:
    """Return why a write is refused by an index of its table that is closed (CAP2-4)."""
    return propagation.write_refusal(account, done) if isinstance(done, Planned) else ()


def _charges(done: Planned | Found | None) -> Sequence[Charge]:
    if done is None:
        return ()
    return done.charges if isinstance(done, Planned) else (done.charge,)


def _charges_of_failure(done: Planned | Found | None) -> Sequence[Charge]:
    """Return the charges of an action in a transaction that fails at run time.

    Assumed: one undoubled table arm per action (CAP-308).
    """
    return [
        charge._replace(units=max(1, charge.units / limits.TRANSACTION_FACTOR))
        for charge in _charges(done)[:1]
    ]


def cancelled(failures: Sequence[Failure | None]) -> TransactionCanceledException:
    """Return the error of a cancelled transaction (TXW-5); items are dumped by operations."""
    codes = ", ".join("None" if failure is None else failure.code for failure in failures)
    reasons: list[dict[str, Any]] = []
    for failure in failures:
        if failure is None:
            reasons.append({"Code": "None"})
        else:
            reason: dict[str, Any] = {"Code": failure.code, "Message": failure.message}
            if failure.item is not None:
                reason["Item"] = failure.item
            reasons.append(reason)
    return TransactionCanceledException(
        CANCELLED.format(codes=codes), {"CancellationReasons": reasons}
    )
