"""The records of an archive: backups, exports and imports. Most accounts have none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from emulator.engine.table import Table


class Backup(NamedTuple):
    """A table as it was; ``table`` is a copy that is never written.

    ``expires_ns`` is None for one that a user made; the service's own go by themselves (S3X-31).
    """

    arn: str
    name: str
    table: Table
    created_ns: int
    expires_ns: int | None = None


class Transfer(NamedTuple):
    """An export or an import: its work is done at the start, and reported at the end.

    Attributes:
        arn: Its resource name.
        table_arn: The table that is exported, or made.
        table_id: Its id.
        asked: The request, by wire name.
        described: The members of its description from its beginning on.
        outcome: Those that it has beside them, or instead of them, from its end on.
        started_ns: When it began.
        ends_ns: When it ends; until then it is IN_PROGRESS.
        errors: The errors of records that an import refused (S3X-23).
    """

    arn: str
    table_arn: str
    table_id: str
    asked: Mapping[str, Any]
    described: Mapping[str, Any]
    outcome: Mapping[str, Any]
    started_ns: int
    ends_ns: int
    errors: tuple[Mapping[str, Any], ...] = ()
