"""What outlives its table: backups, exports and imports (OTH-3 to OTH-12)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from emulator.engine.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A table as it was; ``table`` is a copy that nobody writes."""

    arn: str
    name: str
    table: Table
    created_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """An export or an import: what was asked for, and its description, by wire name."""

    arn: str
    table_arn: str
    asked: Mapping[str, Any]
    described: Mapping[str, Any]
    started_ns: int


@dataclass(slots=True)
class Archive:
    """The backups, exports and imports of an account, by ARN, the oldest first."""

    backups: dict[str, Backup] = field(default_factory=dict)
    exports: dict[str, Transfer] = field(default_factory=dict)
    imports: dict[str, Transfer] = field(default_factory=dict)

    def copy(self) -> Archive:
        """Return an independent archive of the same content, which itself never changes."""
        return Archive(dict(self.backups), dict(self.exports), dict(self.imports))
