"""boto3 in-process: who can serve it, each with a client of its own that is not yet filled.

Two mocks exclude each other, so a client may only be called inside its own context; contexts can
be entered again and again without losing what the tables hold.
"""

import os
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, NamedTuple

import boto3

from emulator import Emulator, mock_dynamodb

REGION = "us-east-1"


class Backend(NamedTuple):
    """What serves a boto3 client: the context to enter, and the client."""

    entered: Any
    client: Any

    def call(self, operation, request):
        """Call an operation by its name; the context must be entered."""
        return self.client._make_api_call(operation, request)


def backends():
    """Return ours, our fast lane and, if it is installed, moto; by name."""
    os.environ |= {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}
    found = {
        "dynamometer": _ours(fast=False),
        "dynamometer, fast lane": _ours(fast=True),
    }
    if find_spec("moto") is not None:
        found["moto"] = _moto()
    return found


def _ours(*, fast):
    emulator = Emulator()
    client = boto3.client("dynamodb", region_name=REGION)
    return Backend(lambda: mock_dynamodb(emulator, fast=fast), client)


def _moto():
    from moto import mock_aws

    @contextmanager
    def entered():
        mock = mock_aws()
        mock.start(reset=False)
        try:
            yield
        finally:
            mock.stop(remove_data=False)

    with entered():
        return Backend(entered, boto3.client("dynamodb", region_name=REGION))
