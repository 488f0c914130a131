"""The one thing that a door asks of an emulator."""

from __future__ import annotations

from typing import Any, Protocol


class Call(Protocol):
    """``Emulator.call`` or ``call_in_pieces``: one request in, one response out, or an ApiError."""

    def __call__(
        self,
        operation: str,
        request: dict[str, Any],
        *,
        region: str | None = None,
        access_key: str | None = None,
    ) -> dict[str, Any]:
        """Answer one operation, or raise the service's error."""
