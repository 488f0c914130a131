"""Signatures: which region one names, and what one must have."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from emulator.protocol import (
    check_signing_time,
    credentials_of,
    region_of_credentials,
    signed_access_key,
    signed_region,
)
from emulator.service.errors import (
    IncompleteSignatureException,
    InvalidSignatureException,
    MissingAuthenticationTokenException,
)

SCOPE = "Credential=KEY/20260101/eu-west-1/dynamodb/aws4_request"
SIGNED = f"AWS4-HMAC-SHA256 {SCOPE}, SignedHeaders=host, Signature=0"


@pytest.mark.parametrize(
    ("authorization", "region"),
    [
        (SIGNED, "eu-west-1"),
        (f"AWS4-HMAC-SHA256 Signature=0,{SCOPE},SignedHeaders=a", "eu-west-1"),
        (SIGNED.replace("KEY", "a/b"), "eu-west-1"),
        (SIGNED.replace(",", ""), "eu-west-1"),
        (SIGNED.replace(", ", " , "), "eu-west-1"),
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
    fields = {"authorization": authorization, date: "now"}
    assert region_of_credentials(fields) == region
    assert credentials_of(fields) == (signed_access_key(authorization), region)


def test_what_is_not_signed_has_no_region():
    assert signed_region("") is None
    with pytest.raises(MissingAuthenticationTokenException):
        region_of_credentials({})


QUERY = {
    "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
    "X-Amz-Credential": "KEY%2F20260101%2Feu-west-1%2Fdynamodb%2Faws4_request",
    "X-Amz-Signature": "0",
    "X-Amz-SignedHeaders": "host",
    "X-Amz-Date": "20260101T000000Z",
}


def written(parameters):
    return "&".join(f"{name}={value}" for name, value in parameters.items())


def test_a_query_may_be_signed():
    """WIR-7."""
    assert region_of_credentials({}, written(QUERY)) == "eu-west-1"
    assert credentials_of({}, written(QUERY)) == ("KEY", "eu-west-1")


def test_a_signature_in_a_query_must_be_whole():
    """WIR-7."""
    with pytest.raises(IncompleteSignatureException) as caught:
        region_of_credentials({}, "X-Amz-Algorithm&X-Amz-Signature=0&X-Amz-Date=")
    assert caught.value.message == (
        "AWS query-string parameters must include 'X-Amz-Algorithm'. "
        "AWS query-string parameters must include 'X-Amz-Credential'. "
        "AWS query-string parameters must include 'X-Amz-SignedHeaders'. "
        "AWS query-string parameters must include 'X-Amz-Date'. "
        "Re-examine the query-string parameters."
    )


def test_one_signature_is_enough():
    """WIR-7."""
    with pytest.raises(InvalidSignatureException) as caught:
        credentials_of({"authorization": SIGNED, "x-amz-date": "now"}, written(QUERY))
    assert caught.value.message == (
        "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header."
    )


@pytest.mark.parametrize("query", ["a=X-Amz-Algorithm", "&".join(["X-Amz-Algorithm=a"] * 100)])
def test_a_query_that_is_no_signature_is_none(query):
    with pytest.raises(MissingAuthenticationTokenException):
        region_of_credentials({}, query)


@pytest.mark.parametrize(
    ("authorization", "query", "access_key"),
    [
        (SIGNED, "", "KEY"),
        (SIGNED.replace("KEY", "a/b/KEY"), "", "a/b/KEY"),
        ("", f"X-Amz-Algorithm=x&X-Amz-{quote(SCOPE, safe='=')}&X-Amz-Date=y", "KEY"),
        ("AWS4-HMAC-SHA256 SignedHeaders=host", "", None),
        ("AWS4-HMAC-SHA256 Credential=", "", None),
    ],
)
def test_the_access_key_is_what_stands_before_the_date(authorization, query, access_key):
    assert signed_access_key(authorization, query) == access_key


@pytest.mark.parametrize("authorization", ["Credential=a/" * 5000, "Credential=" + "a/" * 30_000])
def test_a_long_field_is_read_in_one_pass(authorization):
    """Found by fuzzing: 64 KB took 13 seconds; the suite would notice."""
    assert signed_region(authorization) in (None, "a")


NOW = 1_767_225_600.9  # 2026-01-01, midnight


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            {"x-amz-date": "20251231T234459Z"},
            "Signature expired: 20251231T234459Z is now earlier than 20251231T234500Z "
            "(20260101T000000Z - 15 min.)",
        ),
        (
            {"x-amz-date": "20260101T001501Z"},
            "Signature not yet current: 20260101T001501Z is still later than 20260101T001500Z "
            "(20260101T000000Z + 15 min.)",
        ),
        (
            {"date": "Sun, 01 Jan 2017 01:01:01 GMT"},
            "Signature expired: 20170101T010101Z is now earlier than 20251231T234500Z "
            "(20260101T000000Z - 15 min.)",
        ),
    ],
)
def test_a_signature_is_good_for_fifteen_minutes(fields, sentence):
    """WIR-23."""
    with pytest.raises(InvalidSignatureException) as refusal:
        check_signing_time(fields, NOW)
    assert refusal.value.message == sentence


@pytest.mark.parametrize(
    "fields",
    [
        {"x-amz-date": "20251231T234500Z"},
        {"x-amz-date": "20260101T001500Z", "date": "Sun, 01 Jan 2017 01:01:01 GMT"},
        {"date": "Thu, 01 Jan 2026 01:10:00 +0100"},
        {"date": "Thu, 01 Jan 2026 00:10:00 -0000"},
        {"x-amz-date": "now"},
        {"date": "now"},
        {"date": "Thu, 99 Jan 2026 00:10:00 GMT"},
        {},
    ],
)
def test_a_time_that_is_near_or_none_is_not_refused(fields):
    """WIR-23."""
    check_signing_time(fields, NOW)
