"""The region of clients that name none, before anything is mocked.

A client that a module made at import has the region of the environment or of the profile. An
emulator without a region takes the same one: its tables are then where that client looks.
"""

from __future__ import annotations

import functools
import os
import sys
from importlib.util import find_spec
from typing import Any, Final

DEFAULT_REGION: Final = "us-east-1"
#: What decides which files and which profile a session reads.
_PROFILE_VARIABLES: Final = (
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_PROFILE",
    "AWS_DEFAULT_PROFILE",
    "HOME",
)


def default_region() -> str:
    """Return the region that boto3's clients have if they name none, or us-east-1."""
    if find_spec("botocore") is None:
        return DEFAULT_REGION
    session = getattr(sys.modules.get("boto3"), "DEFAULT_SESSION", None)
    if session is not None:
        return _region_of(session._session) or DEFAULT_REGION
    region = os.environ.get("AWS_DEFAULT_REGION")
    return region or _profile_region(*map(os.environ.get, _PROFILE_VARIABLES)) or DEFAULT_REGION


@functools.cache
def _profile_region(*_variables: str | None) -> str | None:
    """Return the region of the configured profile; reading the files takes milliseconds."""
    import botocore.session

    return _region_of(botocore.session.Session())


def _region_of(session: Any) -> str | None:
    """Return the region of a session, or None; a profile that is not there has none."""
    from botocore.exceptions import BotoCoreError

    try:
        region: str | None = session.get_config_variable("region")
    except BotoCoreError:
        return None
    return region
