"""The common part of exports and imports: their names, tokens, states and lists (S3X-3 to S3X-5).

The work of a transfer is done when it is begun: what it reads is what there is then. It is reported
when ``Settings.transfer_seconds`` have passed; the answer that begins it always says IN_PROGRESS.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final, Protocol, TypeVar

from emulator.clock import NANOSECONDS
from emulator.engine import Account, Transfer
from emulator.operations import shapes, tokens
from emulator.operations.recovery import DAY_NS
from emulator.operations.registry import Request, Response
from emulator.service import errors

#: Observed: another project's probes of the service, October 2026.
CONFLICT: Final = "{kind} conflict: Duplicate request detected with conflicting parameters"
NOT_FOUND: Final = "{kind} not found: {kind} not found: {arn}"
OTHER_REGION: Final = "{kind} not found: Invalid {lower} arn"
BAD_ARN: Final = "Invalid {kind} ARN"
DENIED: Final = "Access is denied"
BAD_TOKEN: Final = "Invalid Request: Provided nextToken is invalid: {token}"

_TOKEN_NS: Final = 8 * 3600 * NANOSECONDS
_LISTED_NS: Final = 90 * DAY_NS
#: Observed: the same probes; MaxResults and PageSize go up to 25.
_PAGE: Final = 10

ARN: Final = shapes.String(37, 1024)
TOKEN: Final = shapes.String(pattern="^[^\\$]+$")
# The model's pattern says the same with a repeated first and last class, and in cubic time.
BUCKET: Final = shapes.String(0, 255, "^[a-z0-9A-Z][\\.\\-\\w]*[a-z0-9A-Z]$")
OWNER: Final = shapes.String(pattern="[0-9]{12}")
PREFIX: Final = shapes.String(0, 1024)
PAGE_SIZE: Final = shapes.Integer(least=1, most=25)
TABLE_ARN: Final = shapes.String(1, 1024)


class Listed(Protocol):
    """An entry of a list: an export, an import or a bulk put."""

    @property
    def arn(self) -> str:
        """Its resource name."""

    @property
    def table_arn(self) -> str:
        """The resource name of its table."""

    @property
    def started_ns(self) -> int:
        """When it began."""


ListedT = TypeVar("ListedT", bound=Listed)


def asked_of(request: Request, shape: shapes.Structure) -> Request:
    """Return a copy of the members that the shape knows, as JSON writes them (WIR-15)."""
    return {name: _as_json(request[name]) for name in shape.members if name in request}


def _as_json(value: Any) -> Any:
    """Return a copy without bytes, which callers in the same process may send."""
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {name: _as_json(member) for name, member in value.items()}
    return [_as_json(member) for member in value] if isinstance(value, list | tuple) else value


def new_transfer_id(account: Account) -> str:
    """Return the id that ends the ARN of a transfer (S3X-6)."""
    return f"{account.now_ns // 1_000_000:014}-{account.new_id('transfer')[:8]}"


def end_of(account: Account) -> int:
    """Return when a transfer ends that begins now."""
    return account.now_ns + round(account.settings.transfer_seconds * NANOSECONDS)


def begun_with(
    account: Account, transfers: Mapping[str, Transfer], token: str | None
) -> Transfer | None:
    """Return the transfer that a token has begun; eight hours after its end it is forgotten."""
    for transfer in transfers.values():
        is_same = token is not None and transfer.asked.get("ClientToken") == token
        if is_same and account.now_ns < transfer.ends_ns + _TOKEN_NS:
            return transfer
    return None


def description(account: Account, transfer: Transfer) -> Response:
    """Return the description of a transfer at this moment."""
    description = dict(transfer.described)
    if account.now_ns >= transfer.ends_ns:
        description |= transfer.outcome
    return deepcopy(description)


def known_transfer(
    account: Account, transfers: Mapping[str, Transfer], arn: str, kind: str
) -> Transfer:
    """Return a transfer by its ARN (S3X-5).

    Args:
        account: The account.
        transfers: Its exports, or its imports.
        arn: The ARN.
        kind: ``Export`` or ``Import``, as messages call it.

    Raises:
        ApiError: the text is no such ARN, or one of another account, or there is none.
    """
    parts = arn.split(":", 5)
    not_found = {"Export": errors.ExportNotFoundException, "Import": errors.ImportNotFoundException}
    if len(parts) != 6 or parts[:3] != ["arn", "aws", "dynamodb"] or not _names(parts[5], kind):
        raise errors.ValidationException(BAD_ARN.format(kind=kind))
    if parts[4] != account.account_id:
        raise errors.AccessDeniedException(DENIED)
    if parts[3] != account.region:
        raise not_found[kind](OTHER_REGION.format(kind=kind, lower=kind.lower()))
    if arn not in transfers:
        raise not_found[kind](NOT_FOUND.format(kind=kind, arn=arn))
    return transfers[arn]


def _names(resource: str, kind: str) -> bool:
    pieces = resource.split("/")
    return len(pieces) == 4 and pieces[0] == "table" and pieces[2] == kind.lower()


def page_of(
    account: Account,
    transfers: Mapping[str, ListedT],
    request: Request,
    limit: int | None,
    kind: str,
) -> tuple[list[ListedT], Response]:
    """Return a page of transfers, the newest first, and the token of the next page (S3X-5).

    Those of the last 90 days are listed, of one table if asked.
    """
    table_arn = request.get("TableArn")
    listed = sorted(
        (
            transfer
            for transfer in transfers.values()
            if table_arn in (None, transfer.table_arn)
            and account.now_ns < transfer.started_ns + _LISTED_NS
        ),
        key=lambda transfer: (transfer.started_ns, transfer.arn),
        reverse=True,
    )
    token = request.get("NextToken")
    if token is not None:
        started_ns, arn = _opened(token, kind)
        listed = [job for job in listed if (job.started_ns, job.arn) < (started_ns, arn)]
    most = _PAGE if limit is None else limit
    page = listed[:most]
    if len(listed) <= most:
        return page, {}
    return page, {"NextToken": tokens.seal(kind, str(page[-1].started_ns), page[-1].arn)}


def _opened(token: str, kind: str) -> tuple[int, str]:
    message = BAD_TOKEN.format(token=token)
    sealed = tokens.open_token(token, message)
    if len(sealed) != 3 or sealed[0] != kind or not sealed[1].isdecimal():
        raise errors.ValidationException(message)
    return int(sealed[1]), sealed[2]
