"""The summary of a step of GitHub Actions: Markdown that its page shows (ICH-83)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

VARIABLE: Final = "GITHUB_STEP_SUMMARY"
#: What GitHub keeps of a step.
MOST_BYTES: Final = 2**20


def append_to_step_summary(markdown: str) -> None:
    """Add Markdown to the summary of the step that runs, if one does and there is room."""
    name = os.environ.get(VARIABLE)
    if not name or not markdown:
        return
    path = Path(name)
    text = f"{markdown.rstrip()}\n\n".encode()
    size = path.stat().st_size if path.exists() else 0
    if size + len(text) < MOST_BYTES:
        with path.open("ab") as file:
            file.write(text)
