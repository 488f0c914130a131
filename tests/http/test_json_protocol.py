"""The JSON 1.0 protocol over a stand-in for the emulator. Rules WIR-1 to WIR-11, WIR-16."""

from __future__ import annotations

import gzip
import json
import logging
import zlib
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.api import LongAnswer
from emulator.http import json_protocol
from emulator.http.http_protocol import HttpRequest
from emulator.http.json_protocol import JsonProtocol, PageResponse, accepted_encoding
from emulator.http.origins import Origins
from emulator.service import limits
from emulator.service.errors import ConditionalCheckFailedException, ResourceNotFoundException

AMZ = "application/x-amz-json-1.0"
SCOPE = "Credential=KEY/20260101/eu-west-1/dynamodb/aws4_request"
SIGNED = f"AWS4-HMAC-SHA256 {SCOPE}, SignedHeaders=host, Signature=00"
SIGNATURE_FIELDS = {"authorization": SIGNED, "x-amz-date": "20260101T000000Z"}
LIST_TABLES = {
    "content-type": AMZ,
    "x-amz-target": "DynamoDB_20120810.ListTables",
    **SIGNATURE_FIELDS,
}


class Recorder:
    """Answers every operation with what it was asked, or with a prepared outcome."""

    def __init__(self, outcome=None):
        self.outcome = outcome

    def call(self, operation, request, *, region=None, **whose):
        if isinstance(self.outcome, Exception):
            raise self.outcome
        if self.outcome is not None:
            return self.outcome
        return {"operation": operation, "request": request, "region": region, **whose}


def ask(fields, body=b"{}", *, method="POST", target="/", outcome=None, **options):
    protocol = JsonProtocol(Recorder(outcome).call, **options)
    request = HttpRequest(method, target, dict(fields))
    request.body = body
    return protocol.answer(request)


def without(name):
    return {field: value for field, value in LIST_TABLES.items() if field != name}


def error_of(response):
    return response.status, json.loads(response.body)


def coral(code, **members):
    return {"__type": f"com.amazon.coral.service#{code}", **members}


NOT_SERIALIZED = (400, coral("SerializationException"))
UNKNOWN = (400, coral("UnknownOperationException"))
MISSING = (
    400,
    coral("MissingAuthenticationTokenException", message="Request is missing Authentication Token"),
)


def test_an_operation_is_called_in_the_region_of_the_credentials():
    """WIR-1."""
    response = ask(LIST_TABLES, b'{"Limit": 1}')

    assert (response.status, response.content_type) == (200, AMZ)
    assert json.loads(response.body) == {
        "operation": "ListTables",
        "request": {"Limit": 1},
        "region": "eu-west-1",
    }


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, None),
        ({"keys_apart": True}, "KEY"),
        ({"keys_apart": True, "shared": True}, None),
    ],
)
def test_an_access_key_is_told_where_it_makes_a_difference(options, told):
    """WIR-1."""
    assert json.loads(ask(LIST_TABLES, **options).body).get("access_key") == told


@pytest.mark.parametrize("path", ["/", "/any"])
def test_a_request_may_be_signed_in_its_query(path):
    """WIR-7."""
    signature = "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=0&X-Amz-SignedHeaders=host"
    query = f"{signature}&X-Amz-Date=20260101T000000Z&X-Amz-{SCOPE}"
    response = ask(without("authorization"), target=f"{path}?{query}", keys_apart=True)

    answer = json.loads(response.body)
    assert (answer["region"], answer["access_key"]) == ("eu-west-1", "KEY")


def test_a_shared_server_has_one_region():
    assert json.loads(ask(LIST_TABLES, shared=True).body)["region"] is None


@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        (AMZ, AMZ),
        ("application/json", "application/json"),
        ("Application/JSON ; charset=utf-8", "application/json"),
    ],
)
def test_the_answer_has_the_content_type_of_the_question(sent, answered):
    """WIR-1."""
    assert ask(LIST_TABLES | {"content-type": sent}).content_type == answered


@pytest.mark.parametrize("sent", ["text/plain", "application/x-amz-json-1.1", ""])
def test_another_content_type_with_a_body_is_not_found(sent):
    """WIR-3; Observed: the checksum 3552371480, with the service's own answer."""
    response = ask(LIST_TABLES | {"content-type": sent})

    assert (response.status, response.body) == (404, b"<UnknownOperationException/>\n")
    assert zlib.crc32(response.body) == 3_552_371_480


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "BREW"])
def test_another_method_is_not_found(method):
    """WIR-3."""
    assert ask(LIST_TABLES, method=method).status == 404


def test_get_tells_the_health():
    """WIR-3."""
    response = ask({}, b"", method="GET", region="eu-west-1")

    assert (response.status, response.body) == (
        200,
        b"healthy: dynamodb.eu-west-1.amazonaws.com ",
    )


def test_get_of_anything_else_is_not_found():
    assert ask({}, b"", method="GET", target="/shell").status == 404


@pytest.mark.parametrize(
    "body",
    [
        b"hi",
        b"[]",
        b"1",
        b"null",
        b'"a"',
        b"{",
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": 1e999}',
        b'{"a": "\n"}',
        b'{"a": "\xff"}',
        b'{"a": "\\ud800"}',
        b'{"\\udfff": 1}',
        b'\xef\xbb\xbf{"a": 1}',
        '{"a": 1}'.encode("utf-16"),
        b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a": ' * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
    ],
    ids=lambda body: repr(body[:16]),
)
def test_a_body_that_is_no_json_object_is_not_serialized(body):
    """WIR-5; Observed: the checksum 3948637019, with the service's own answer."""
    response = ask(LIST_TABLES, body)

    assert error_of(response) == NOT_SERIALIZED
    assert zlib.crc32(response.body) == 3_948_637_019


def test_of_a_member_given_twice_the_last_counts():
    assert json.loads(ask(LIST_TABLES, b'{"a": 1, "a": 2}').body)["request"] == {"a": 2}


@pytest.mark.parametrize(
    "target",
    [
        "",
        "whatever",
        "DynamoDB_20120810.ListTable",
        "DynamoDB_20120810.listtables",
        "DynamoDB_20111205.ListTables",
        "DynamoDB_20120810.GetRecords",
        "DynamoDBStreams_20120810.ListTables",
        "DynamoDB_20120810.ListTables.",
    ],
)
def test_a_target_that_names_no_operation_is_unknown(target):
    """WIR-6; Observed: the checksum 1368724161, with the service's own answer."""
    response = ask(LIST_TABLES | {"x-amz-target": target})

    assert error_of(response) == UNKNOWN
    assert zlib.crc32(response.body) == 1_368_724_161


@pytest.mark.parametrize("target", ["/", "/tables/list?x=y", "/_emulatory", "*"])
def test_an_operation_is_answered_under_any_path(target):
    """WIR-19."""
    assert ask(LIST_TABLES, target=target).status == 200


def test_streams_have_their_own_target():
    """WIR-1."""
    target = "DynamoDBStreams_20120810.GetRecords"

    response = ask(LIST_TABLES | {"x-amz-target": target})

    assert json.loads(response.body)["operation"] == "GetRecords"


@pytest.mark.parametrize("authorization", ["", "AWS4", "Bearer x", "Basic eDp5"])
def test_credentials_must_be_there(authorization):
    """WIR-7; Observed: the checksum 2088342776, with the service's own answer."""
    response = ask(LIST_TABLES | {"authorization": authorization})

    assert error_of(response) == MISSING
    assert zlib.crc32(response.body) == 2_088_342_776


def test_credentials_must_be_whole():
    """WIR-7; Observed: the checksum 1828866742, with the service's own answer."""
    fields = without("x-amz-date") | {"authorization": "AWS4-"}

    response = ask(fields)

    assert error_of(response) == (
        400,
        coral(
            "IncompleteSignatureException",
            message="Authorization header requires 'Credential' parameter. "
            "Authorization header requires 'Signature' parameter. "
            "Authorization header requires 'SignedHeaders' parameter. "
            "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' "
            "header. Authorization=AWS4-",
        ),
    )
    assert zlib.crc32(response.body) == 1_828_866_742


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
def test_any_credentials_are_accepted(authorization, region):
    """WIR-7."""
    response = ask(LIST_TABLES | {"authorization": authorization})

    assert json.loads(response.body)["region"] == region


@pytest.mark.parametrize(
    ("fields", "body", "first"),
    [
        ({"content-type": "text/plain", "x-amz-target": "no"}, b"not json", 404),
        ({"content-type": AMZ, "x-amz-target": "no"}, b"not json", NOT_SERIALIZED),
        ({"content-type": AMZ, "x-amz-target": "no"}, b"{}", UNKNOWN),
        ({"content-type": AMZ}, b"", UNKNOWN),
        ({}, b"", UNKNOWN),
        (without("authorization"), b"", MISSING),
        (LIST_TABLES, b"", NOT_SERIALIZED),
    ],
)
def test_of_several_faults_the_first_in_order_is_told(fields, body, first):
    """WIR-2."""
    response = ask(fields, body)

    assert (response.status if first == 404 else error_of(response)) == first


def test_an_error_of_the_emulator_is_the_body():
    """WIR-8, WIR-9, WIR-10."""
    response = ask(LIST_TABLES, outcome=ResourceNotFoundException("gone"))

    assert error_of(response) == (
        400,
        {
            "__type": "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException",
            "message": "gone",
        },
    )


def test_the_text_of_an_error_stands_under_the_name_it_was_given():
    """WIR-10."""
    failed = ConditionalCheckFailedException("no", {"Item": {"pk": {"S": "a"}}})
    failed.message_member = "Message"
    assert error_of(ask(LIST_TABLES, outcome=failed))[1] == {
        "__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",
        "Message": "no",
        "Item": {"pk": {"S": "a"}},
    }


@pytest.mark.parametrize("operation", ["TagResource", "UntagResource"])
def test_an_operation_without_output_has_an_empty_body(operation):
    """WIR-17."""
    fields = LIST_TABLES | {"x-amz-target": f"DynamoDB_20120810.{operation}"}
    response = ask(fields, outcome={})
    assert (response.status, response.body) == (200, b"")
    assert ask(LIST_TABLES, outcome={}).body == b"{}"


def test_a_bug_is_an_internal_error_and_is_logged(caplog):
    """WIR-8."""
    with caplog.at_level(logging.ERROR):
        response = ask(LIST_TABLES, outcome=ZeroDivisionError("division by zero"))

    assert response.status == 500
    assert json.loads(response.body)["__type"].endswith("#InternalServerError")
    assert "DynamoDB_20120810.ListTables" in caplog.text


def test_an_answer_that_is_no_json_is_an_internal_error(caplog):
    with caplog.at_level(logging.ERROR):
        assert ask(LIST_TABLES, outcome={"a": object()}).status == 500


def test_nesting_too_deep_for_the_emulator_is_not_serialized():
    assert error_of(ask(LIST_TABLES, outcome=RecursionError())) == NOT_SERIALIZED


# Browsers

EXPOSED = "x-amzn-RequestId,x-amzn-ErrorType,x-amz-request-id,x-amz-id-2,x-amzn-ErrorMessage,Date"


def test_a_browser_may_ask_before_it_calls():
    """WIR-4."""
    fields = {
        "origin": "http://localhost:3000",
        "access-control-request-headers": "x-amz-target, authorization",
        "access-control-request-method": "POST",
    }

    response = ask(fields, b"", method="OPTIONS")

    assert (response.status, response.body) == (200, b"")
    assert response.field_lines.splitlines() == [
        "Access-Control-Max-Age: 172800",
        "Access-Control-Allow-Headers: x-amz-target, authorization",
        "Access-Control-Allow-Methods: POST",
        "Access-Control-Allow-Origin: http://localhost:3000",
        "Vary: Origin",
        f"Access-Control-Expose-Headers: {EXPOSED}",
    ]


@pytest.mark.parametrize(
    ("cors", "lines"),
    [
        ("*", ["Access-Control-Allow-Origin: *"]),
        ("http://a, http://b", ["Access-Control-Allow-Origin: http://b", "Vary: Origin"]),
    ],
)
def test_a_page_may_read_the_answer_and_its_fields(cors, lines):
    """WIR-4."""
    response = ask(LIST_TABLES | {"origin": "http://b"}, origins=Origins(cors))

    exposed = f"Access-Control-Expose-Headers: {EXPOSED}"
    assert response.field_lines.splitlines() == [*lines, exposed]


# Compression


def test_a_compressed_question_is_read():
    response = ask(LIST_TABLES | {"content-encoding": "gzip"}, gzip.compress(b'{"Limit": 2}'))

    assert json.loads(response.body)["request"] == {"Limit": 2}


def raw_deflate(data):
    stream = zlib.compressobj(wbits=-15)
    return stream.compress(data) + stream.flush()


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("x-gzip", gzip.compress(b'{"Limit": 2}')),
        ("GZIP", gzip.compress(b'{"Lim') + gzip.compress(b"") + gzip.compress(b'it": 2}')),
        ("deflate", zlib.compress(b'{"Limit": 2}')),
        ("deflate", raw_deflate(b'{"Limit": 2}')),
        ("deflate, gzip", gzip.compress(zlib.compress(b'{"Limit": 2}'))),
        ("gzip", gzip.compress(b'{"Limit": 2}' + b" " * 200_000, 0)),
    ],
    ids=["x-gzip", "members", "zlib", "raw", "two encodings", "pieces"],
)
def test_every_encoding_that_http_knows_is_read(encoding, body):
    """WIR-20."""
    response = ask(LIST_TABLES | {"content-encoding": encoding}, body)

    assert json.loads(response.body)["request"] == {"Limit": 2}


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", b"{}"),
        ("gzip", b""),
        ("deflate", b""),
        ("deflate", b"{}"),
        ("garbage", b"{}"),
        ("gzip", gzip.compress(b"{}")[:-3]),
        ("gzip", gzip.compress(b"{}") + gzip.compress(b"") * 2000),
        ("deflate", zlib.compress(b"{}") + zlib.compress(b" ")),
        ("gzip, gzip, gzip", gzip.compress(gzip.compress(gzip.compress(b"{}")))),
    ],
    ids=[
        "plain",
        "nothing",
        "nothing, deflate",
        "plain, deflate",
        "unknown",
        "cut short",
        "too many",
        "two zlibs",
        "thrice",
    ],
)
def test_a_broken_compressed_question_is_an_error_of_the_server(encoding, body):
    """WIR-20."""
    response = ask(LIST_TABLES | {"content-encoding": encoding}, body)

    status, told = error_of(response)
    assert (status, told["__type"].partition("#")[2]) == (500, "InternalServerError")


def test_what_is_no_json_once_it_is_decompressed_is_not_serialized():
    question = gzip.compress(b"{")
    assert error_of(ask(LIST_TABLES | {"content-encoding": "gzip"}, question)) == NOT_SERIALIZED


def test_what_follows_a_compressed_question_is_passed_over():
    """WIR-20."""
    question = gzip.compress(b'{"Limit": 2}') + b"junk"
    response = ask(LIST_TABLES | {"content-encoding": "gzip"}, question)

    assert json.loads(response.body)["request"] == {"Limit": 2}


def test_a_compressed_question_may_not_grow_over_the_limit():
    """WIR-16."""
    bomb = gzip.compress(b" " * (limits.REQUEST_BYTES + 1))

    assert ask(LIST_TABLES | {"content-encoding": "gzip"}, bomb).status == 413
    largest = gzip.compress(b"{}" + b" " * (limits.REQUEST_BYTES - 2))
    assert ask(LIST_TABLES | {"content-encoding": "gzip"}, largest).status == 200


def test_an_encoding_that_is_none_is_passed_over():
    """Old SDKs send ``amz-1.0``, which means nothing."""
    assert ask(LIST_TABLES | {"content-encoding": "amz-1.0"}).status == 200


LONG = {"text": "x" * 10_000}


def test_a_long_answer_is_compressed_for_who_accepts_it():
    response = ask(LIST_TABLES | {"accept-encoding": "deflate;q=0.4, GZIP;q=0.5"}, outcome=LONG)

    assert response.field_lines == "Content-Encoding: gzip\r\n"
    assert json.loads(gzip.decompress(response.body)) == LONG
    response = ask(LIST_TABLES | {"accept-encoding": "deflate"}, outcome=LONG)

    assert response.field_lines == "Content-Encoding: deflate\r\n"
    assert json.loads(zlib.decompress(response.body)) == LONG


@pytest.mark.parametrize(
    ("encoding", "fields"),
    [
        (
            "gzip",
            "gzip, deflate|dog, gzip ,, cat|*|*, identity|*, deflate;q=0.5|gzip;q=31,deflate;q=51"
            "|deflate;q=0.5, gzip;q=1;q=0.2|deflate;q=0.5,gzip;q=0.x|deflate;q=-0.5,gzip;q=0.2"
            "|gzip;q =0;q=1|gzip;q=0, gzip;q=1, gzip;q=0|*;q=0.5,identity|gzip;q=nan"
            "|br,identity;q=0.5,gzip;q=0.0001",
        ),
        (
            "deflate",
            "br, identity, deflate, gzip|br, gzip;q=0, deflate; q = 0.5 , identity;q=0|*, deflate"
            "|*, gzip;q=0.5|deflate;q=0.5, gzip;q=0.2|deflate;q=0.5,gzip;q=0.",
        ),
        (
            None,
            'x-gzip|br|"gzip"|gzip br|gzip:q=1|gzip ;q=0|identity;q=0|*;q=0|gzip;q= 0;q=1'
            "|gzip; q=0;q=1|gzip;nq=0;q=1|br;q=0.8,identity;q=0.5,*;q=0",
        ),
    ],
)
def test_the_quality_decides_and_then_the_order(encoding, fields):
    """WIR-22."""
    for accepted in fields.split("|"):
        assert accepted_encoding(accepted) == encoding, accepted


@pytest.mark.parametrize("accepted", ["identity", "gzip;q=0", "br, gzip; q=0.000", ""])
def test_a_long_answer_is_plain_for_the_others(accepted):
    response = ask(LIST_TABLES | {"accept-encoding": accepted}, outcome=LONG)

    assert (response.field_lines, json.loads(response.body)) == ("", LONG)


@pytest.mark.parametrize(
    ("accepted", "lines"), [("gzip", "Content-Encoding: gzip\r\n"), ("identity", ""), (None, "")]
)
def test_a_long_page_is_written_in_pieces_and_sent_as_any_answer(accepted, lines):
    page = {"Items": [{"n": {"N": "1"}}] * 1000, "Count": 1000}
    encoding = {} if accepted is None else {"accept-encoding": accepted}
    pieces = iter([page["Items"][:600], page["Items"][600:]])
    response = ask(LIST_TABLES | encoding, outcome=LongAnswer({**page, "Items": pieces}))
    assert isinstance(response, PageResponse)
    assert (response.is_whole, response.body) == (False, b"")

    response.write_all()
    response.write_all()  # nothing is left
    assert (response.status, response.content_type, response.field_lines) == (200, AMZ, lines)
    body = gzip.decompress(response.body) if lines else response.body
    assert json.loads(body) == page


def test_a_long_page_of_which_little_is_shown_is_not_compressed():
    """WIR-22 is about what is sent, not about what was read."""
    answer = LongAnswer(Items=iter([[{}] * 9]))
    response = ask(LIST_TABLES | {"accept-encoding": "gzip"}, outcome=answer)
    assert isinstance(response, PageResponse)
    response.write_all()

    assert (response.field_lines, json.loads(response.body)) == ("", {"Items": [{}] * 9})


def test_a_short_answer_is_never_compressed():
    assert ask(LIST_TABLES | {"accept-encoding": "gzip"}, outcome={}).body == b"{}"


@pytest.mark.parametrize(
    ("size_bytes", "lines"), [(4095, ""), (4096, "Content-Encoding: gzip\r\n")]
)
def test_an_answer_is_compressed_from_four_kilobytes_on(size_bytes, lines):
    """WIR-22: however it is written."""
    around = len('{"Items":[""]}')
    text = "x" * (size_bytes - around)
    accepting = LIST_TABLES | {"accept-encoding": "gzip"}
    short = ask(accepting, outcome={"Items": [text]})
    long = ask(accepting, outcome=LongAnswer(Items=iter([[text]])))
    assert isinstance(long, PageResponse)
    long.write_all()

    assert short.field_lines == long.field_lines == lines


# Laws


@given(
    body=st.binary(max_size=64) | st.text(alphabet='{}[]":,\\u0dD8cNa1e9.-+ ').map(str.encode),
    fields=st.fixed_dictionaries(
        {},
        optional={
            name: st.text(max_size=40) | st.just(LIST_TABLES.get(name, "gzip"))
            for name in (*LIST_TABLES, "content-encoding", "accept-encoding", "origin", "date")
        },
    ),
    method=st.sampled_from(["POST", "GET", "OPTIONS", "PUT"]),
)
def test_no_question_is_answered_with_a_fault_of_ours(body, fields, method):
    is_encoded = "content-encoding" in fields  # what cannot be decompressed is a 500 (WIR-20)
    with mock.patch.object(json_protocol, "_log") as log:
        status = ask(fields, body, method=method).status
    assert status in ((200, 400, 404, 500) if is_encoded else (200, 400, 404))
    log.exception.assert_not_called()


@pytest.mark.parametrize("body", [b"{}", b""])
@pytest.mark.parametrize("date", ["20170101T010101Z", "30200101T010101Z"])
def test_the_time_of_a_signature_is_judged_where_asked_and_before_the_body(body, date):
    """WIR-23, WIR-2."""
    fields = LIST_TABLES | {"x-amz-date": date}
    answer = json.loads(ask(fields, body=body, now=lambda: 1_767_225_600.0).body)
    assert answer["__type"] == "com.amazon.coral.service#InvalidSignatureException"
    assert answer["message"].startswith(
        "Signature expired: 2017" if date < "2026" else "Signature not yet current: 3020"
    )
    assert ask(fields).status == 200
