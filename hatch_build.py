"""The long description of the distribution: README.md, with links that work on a package index.

An index shows the README away from the repository, where relative links lead nowhere. The
environment variable of ``ADDRESS`` says where the files of the release can be read, for example
``https://host/owner/dynamometer/blob/v0.2.0``; links and pictures then lead there. Without it,
pictures are left out and links become plain text, so that nothing is broken.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

ADDRESS = "DYNAMOMETER_FILES_URL"
_BLOCK = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_PICTURE = re.compile(r"^!\[[^\]]*\]\((?P<path>[^):#]+)\)\n\n?", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]+)\]\((?P<path>[^):#][^):]*)\)")


def long_description(readme: str, address: str = "") -> str:
    """Return the README for a package index, with its files at an address, if there is one."""
    parts = _BLOCK.split(readme)  # every second one is a block of code, which stays as it is
    parts[::2] = (_rewritten(part, address.rstrip("/")) for part in parts[::2])
    return "".join(parts)


def _rewritten(text: str, address: str) -> str:
    if not address:
        return _LINK.sub(r"\g<text>", _PICTURE.sub("", text))
    pictures = address.replace("/blob/", "/raw/")  # a page about a picture is not the picture
    text = _PICTURE.sub(lambda found: found[0].replace("](", f"]({pictures}/"), text)
    return _LINK.sub(rf"[\g<text>]({address}/\g<path>)", text)


def get_metadata_hook() -> type:
    """Return the hook that hatchling calls; hatchling is there only while a build runs."""
    from hatchling.metadata.plugin.interface import MetadataHookInterface

    class LongDescription(MetadataHookInterface):
        def update(self, metadata: dict[str, object]) -> None:
            readme = Path(self.root, "README.md").read_text(encoding="utf-8")
            text = long_description(readme, os.environ.get(ADDRESS, ""))
            metadata["readme"] = {"content-type": "text/markdown", "text": text}

    return LongDescription
