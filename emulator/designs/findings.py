"""Findings: what reading or checking a design shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["info", "warning", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing the advice checks say about a design."""

    check: str
    severity: Severity
    #: The table, index or pattern it is about.
    subject: str
    message: str
    fix: str
