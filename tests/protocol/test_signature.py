"""Signatures: which region one names, and what one must have."""

from __future__ import annotations

import pytest

from emulator.protocol import region_of_credentials, signed_region
from emulator.service.errors import MissingAuthenticationTokenException

SCOPE = "Credential=KEY/20260101/eu-west-1/dynamodb/aws4_request"
SIGNED = f"AWS4-HMAC-SHA256 {SCOPE}, SignedHeaders=host, Signature=0"


@pytest.mark.parametrize(
    ("authorization", "region"),
    [
        (SIGNED, "eu-west-1"),
        (f"AWS4-HMAC-SHA256 Signature=0,{SCOPE},SignedHeaders=a", "eu-west-1"),
        (SIGNED.replace("KEY", "a/b"), "eu-west-1"),
        (SIGNED.replace("eu-west-1", "local"), "local"),
        (SIGNED.replace(SCOPE, "Credential=KEY/20260101/dynamodb/aws4_request"), None),
        (SIGNED.replace(SCOPE, "Credential=KEY"), None),
        (SIGNED.replace("eu-west-1", ""), None),
    ],
)
@pytest.mark.parametrize("date", ["x-amz-date", "date"])
def test_a_region_is_read_alike_by_every_door(authorization, region, date):
    """WIR-7."""
    assert signed_region(authorization) == region
    assert region_of_credentials({"authorization": authorization, date: "now"}) == region


def test_what_is_not_signed_has_no_region():
    assert signed_region("") is None
    with pytest.raises(MissingAuthenticationTokenException):
        region_of_credentials({})
