"""ImportTable, DescribeImport and ListImports."""

import gzip
import json

import pytest

from tests.tables import (
    ARN,
    INVALID,
    described,
    emulator,
    index,
    refusal,
    schema,
    table,
)

START = 1_767_225_600.0
BAD_ITEMS = (
    "Some of the items failed validation checks and were not imported. Please check CloudWatch "
    "error logs for more details."
)


@pytest.fixture
def bucket(tmp_path):
    """Return the folder of the one bucket that there is."""
    (tmp_path / "bucket").mkdir()
    return tmp_path / "bucket"


def with_store(bucket, **settings):
    return emulator(s3=bucket.parent, **settings)


def request_of(*, prefix=None, **members):
    source = {"S3Bucket": "bucket"} | ({} if prefix is None else {"S3KeyPrefix": prefix})
    return {
        "S3BucketSource": source,
        "InputFormat": "DYNAMODB_JSON",
        "TableCreationParameters": table(),
        **members,
    }


def begin(emu, **members):
    return emu.call("ImportTable", request_of(**members))["ImportTableDescription"]


def ended(emu, **members):
    """Return an import as it is described when it has ended."""
    request = {"ImportArn": begin(emu, **members)["ImportArn"]}
    return emu.call("DescribeImport", request)["ImportTableDescription"]


def counts(told):
    """Return state, code and the counts of items: processed, imported, refused."""
    members = ("ProcessedItemCount", "ImportedItemCount", "ErrorCount")
    return told["ImportStatus"], told.get("FailureCode"), *(told[member] for member in members)


def line(**attributes):
    item = {name: {"S": text} for name, text in attributes.items()}
    return json.dumps({"Item": item}) + "\n"


def scan(emu):
    items = emu.call("Scan", {"TableName": "tab"})["Items"]
    return sorted(items, key=lambda item: item["pk"].get("S", ""))


# The job


def test_an_import_makes_its_table_and_fills_it(bucket):
    """S3X-20, S3X-22, OTH-12, MAK-64: the table is CREATING until the end."""
    text = line(pk="a", g="1", h="2") + line(pk="b", n="x")
    (bucket / "one.json").write_text(text)
    emu = with_store(bucket, transfer_seconds=60)
    parameters = table(
        names="pk g h",
        GlobalSecondaryIndexes=[index("gsi", schema("g h"))],
        SSESpecification={"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "k"},
    )
    begun = begin(emu, TableCreationParameters=parameters, prefix="one")
    found = described(emu)
    assert begun == request_of(TableCreationParameters=parameters, prefix="one") | {
        "ImportArn": begun["ImportArn"],
        "ImportStatus": "IN_PROGRESS",
        "S3BucketSource": {
            "S3BucketOwner": "000000000000",
            "S3Bucket": "bucket",
            "S3KeyPrefix": "one",
        },
        "TableArn": ARN,
        "TableId": found["TableId"],
        "ClientToken": begun["ClientToken"],
        "InputCompressionType": "NONE",
        "StartTime": START,
        "CloudWatchLogGroupArn": (
            "arn:aws:logs:us-east-1:000000000000:log-group:/aws-dynamodb/imports:*"
        ),
    }
    assert found["TableStatus"] == "CREATING"
    assert refusal(emu, "Scan", {"TableName": "tab"})[0] == "ResourceNotFoundException"
    assert refusal(emu, "DeleteTable", {"TableName": "tab"})[0] == "ResourceInUseException"
    emu.clock.advance(60)
    request = {"ImportArn": begun["ImportArn"]}
    told = emu.call("DescribeImport", request)["ImportTableDescription"]
    assert told == begun | {
        "ImportStatus": "COMPLETED",
        "EndTime": START + 60,
        "ErrorCount": 0,
        "ProcessedSizeBytes": len(text),
        "ProcessedItemCount": 2,
        "ImportedItemCount": 2,
    }
    assert described(emu)["TableStatus"] == "ACTIVE"
    assert [item["pk"]["S"] for item in scan(emu)] == ["a", "b"]
    entries = emu.call("Scan", {"TableName": "tab", "IndexName": "gsi"})["Items"]
    assert [item["pk"]["S"] for item in entries] == ["a"]
    assert described(emu)["SSEDescription"]["KMSMasterKeyArn"].endswith("key/k")


def test_an_import_takes_no_units(bucket):
    """S3X-22."""
    (bucket / "one.json").write_text(line(pk="a"))
    emu = with_store(bucket)
    begin(emu)
    assert emu.last_receipts == []
    assert emu.metrics.sum("ConsumedWriteCapacityUnits", table="tab") == 0


def test_every_object_under_the_prefix_is_read(bucket):
    """S3X-21: a prefix is one of keys, not of folders; later objects overwrite earlier ones."""
    for name, text in {"data/1": "first", "data/2": "second", "data2": "third"}.items():
        (bucket / name).parent.mkdir(exist_ok=True)
        (bucket / name).write_text(line(pk="a", text=text))
    emu = with_store(bucket)
    assert counts(ended(emu, prefix="data")) == ("COMPLETED", None, 3, 3, 0)
    assert scan(emu) == [{"pk": {"S": "a"}, "text": {"S": "third"}}]
    assert described(emu)["ItemCount"] == 1


def test_a_prefix_without_objects_gives_an_empty_table(bucket):
    """S3X-22."""
    emu = with_store(bucket)
    assert counts(ended(emu, prefix="none/")) == ("COMPLETED", None, 0, 0, 0)
    assert scan(emu) == []


def test_a_bucket_that_is_not_there_leaves_no_table(bucket):
    """S3X-1, S3X-22: only the import remembers its ARN."""
    emu = with_store(bucket)
    told = ended(emu, S3BucketSource={"S3Bucket": "other"})
    assert counts(told) == ("FAILED", "S3NoSuchBucket", 0, 0, 0)
    assert "The specified bucket does not exist" in told["FailureMessage"]
    assert told["TableArn"] == ARN
    assert emu.call("ListTables", {}) == {"TableNames": []}


@pytest.mark.parametrize(
    ("members", "word"),
    [({"InputFormat": "ION"}, "ION"), ({"InputCompressionType": "ZSTD"}, "ZSTD")],
)
def test_what_needs_a_library_fails_and_says_so(bucket, members, word):
    """S3X-21."""
    emu = with_store(bucket)
    told = ended(emu, **members)
    assert (told["ImportStatus"], told["FailureCode"]) == ("FAILED", "UnsupportedFormat")
    assert word in told["FailureMessage"]
    assert emu.call("ListTables", {}) == {"TableNames": []}


def test_without_a_store_nothing_is_pretended():
    """S3X-1: one sentence says what to do, and no table is made."""
    emu = emulator()
    code, message = refusal(emu, "ImportTable", request_of())
    assert code == "ValidationException"
    assert "Settings(s3=FOLDER)" in message
    assert emu.call("ListTables", {}) == {"TableNames": []}


# Records


def test_a_record_that_is_no_item_is_passed_over(bucket):
    """S3X-22: the good ones stay."""
    lines = [line(pk=str(number)) for number in range(9)]
    (bucket / "one.json").write_text("".join([*lines[:5], line(other="x"), *lines[5:]]))
    emu = with_store(bucket)
    told = ended(emu)
    assert counts(told) == ("FAILED", "ItemValidationError", 10, 9, 1)
    assert told["FailureMessage"] == BAD_ITEMS
    assert len(scan(emu)) == 9
    assert emu.import_errors(told["ImportArn"]) == [
        {
            "itemS3Pointer": {"bucket": "bucket", "key": "one.json", "itemIndex": 5},
            "importArn": told["ImportArn"],
            "errorMessages": [INVALID + "Missing the key pk in the item"],
        }
    ]


GARBAGE = {
    "no JSON": ("{garbage\n", "Unexpected token"),
    "no item": ('{"Items": {}}\n', "Expected 'Item' top level container"),
    "a list": ("[]\n", "Expected 'Item' top level container"),
    "too deep": ("[" * 100_000 + "\n", "Unexpected token"),
    "no text": (b"\xff\xff\n", "Unexpected token"),
}


@pytest.mark.parametrize("case", GARBAGE)
def test_a_line_that_cannot_be_read_ends_its_object(bucket, case):
    """S3X-21, S3X-22, S3X-23: what follows in it is skipped, other objects are not."""
    text, message = GARBAGE[case]
    text = text if isinstance(text, bytes) else text.encode()
    lines = [line(pk=str(number)).encode() for number in range(9)]
    (bucket / "1.json").write_bytes(b"".join([*lines[:5], text, *lines[5:]]))
    (bucket / "2.json").write_bytes(line(pk="z").encode())
    emu = with_store(bucket)
    told = ended(emu)
    assert counts(told) == ("FAILED", "ItemValidationError", 7, 6, 1)
    (error,) = emu.import_errors(told["ImportArn"])
    assert error["errorMessages"] == [message]
    assert error["itemS3Pointer"] == {"bucket": "bucket", "key": "1.json", "itemIndex": 5}


def test_records_need_nothing_between_them(bucket):
    """S3X-21: several stand on one line, and each is counted; so is what cannot be read."""
    (bucket / "one.json").write_text(
        line(pk="a") + line(pk="b") + "  " + line(pk="c").rstrip("\n") + line(pk="d")
    )
    emu = with_store(bucket)
    assert counts(ended(emu)) == ("COMPLETED", None, 4, 4, 0)
    (bucket / "one.json").write_text(line(pk="a").rstrip("\n") + line(pk="b").rstrip("\n") + "}")
    emu = with_store(bucket)
    assert counts(ended(emu)) == ("FAILED", "ItemValidationError", 3, 2, 1)


def test_values_are_judged_as_those_of_puts_are(bucket):
    """S3X-22: types of keys, keys of indexes, numbers, sizes."""
    items = [
        {"pk": {"N": "1"}},
        {"pk": {"S": ""}},
        {"pk": {"S": "a"}, "g": {"N": "1"}},
        {"pk": {"S": "b"}, "n": {"N": "one"}},
        {"pk": {"S": "c"}, "x": {"S": "x" * 410_000}},
        {"pk": {"S": "d"}, "x": {"Q": "x"}},
        {"pk": {"S": "e"}, "b": {"B": "AAE="}},
    ]
    text = "".join(json.dumps({"Item": item}) + "\n" for item in items)
    (bucket / "one.json").write_text(text)
    emu = with_store(bucket)
    parameters = table(names="pk g", GlobalSecondaryIndexes=[index("gsi", schema("g"))])
    told = ended(emu, TableCreationParameters=parameters)
    assert counts(told) == ("FAILED", "ItemValidationError", 7, 1, 6)
    assert scan(emu) == [{"pk": {"S": "e"}, "b": {"B": "AAE="}}]


def test_compressed_objects(bucket):
    """S3X-21, S3X-22: the size is that of what was compressed; empty objects hold nothing."""
    text = line(pk="a") + "\n" + line(pk="b")
    (bucket / "one.json.gz").write_bytes(gzip.compress(text.encode()))
    (bucket / "two").write_bytes(b"")
    emu = with_store(bucket)
    told = ended(emu, InputCompressionType="GZIP")
    assert counts(told) == ("COMPLETED", None, 2, 2, 0)
    assert told["ProcessedSizeBytes"] == len(text)


@pytest.mark.parametrize("compression", ["GZIP", "NONE"])
def test_an_object_that_is_compressed_otherwise_is_one_error(bucket, compression):
    """S3X-22: the table is there, and empty."""
    text = (line(pk="a") + line(pk="b")).encode()
    (bucket / "one").write_bytes(text if compression == "GZIP" else gzip.compress(text))
    emu = with_store(bucket)
    told = ended(emu, InputCompressionType=compression)
    assert counts(told) == ("FAILED", "ItemValidationError", 1, 0, 1)
    assert scan(emu) == []


def test_a_damaged_object_gives_what_could_be_read(bucket):
    """S3X-22."""
    lines = "".join(line(pk=f"{number}-{'x' * 300}") for number in range(2000))
    packed = gzip.compress(lines.encode())
    (bucket / "one").write_bytes(packed[: len(packed) // 2])
    emu = with_store(bucket)
    told = ended(emu, InputCompressionType="GZIP")
    status, code, processed, imported, refused = counts(told)
    assert (status, code, refused) == ("FAILED", "ItemValidationError", 1)
    assert 0 < imported < 2000
    assert processed == imported + 1


def test_the_whole_folder_of_an_export_is_no_input(bucket):
    """S3X-21: its manifests are no items; the data folder is what to import."""
    folder = bucket / "AWSDynamoDB" / "id"
    (folder / "data").mkdir(parents=True)
    (folder / "_started").write_bytes(b"")
    for name in ("manifest-files.json", "manifest-summary.json"):
        (folder / name).write_text('{"version":"2020-06-30"}')
        (folder / name).with_suffix(".md5").write_text("abc==")
    (folder / "data" / "one.json.gz").write_bytes(gzip.compress(line(pk="a").encode()))
    emu = with_store(bucket)
    told = ended(emu, prefix="AWSDynamoDB/id/", InputCompressionType="GZIP")
    assert counts(told) == ("FAILED", "ItemValidationError", 5, 1, 4)
    assert len(scan(emu)) == 1


# Comma-separated values


def imported_rows(bucket, text, **members):
    (bucket / "one.csv").write_text(text)
    emu = with_store(bucket)
    parameters = table("pk:N", "sk", names="pk:N sk g:B", GlobalSecondaryIndexes=[BY_G])
    told = ended(emu, InputFormat="CSV", TableCreationParameters=parameters, **members)
    items = emu.call("Scan", {"TableName": "tab"})["Items"]
    return told, sorted(items, key=lambda item: item["sk"]["S"])


BY_G = index("gsi", schema("g"))


def test_keys_of_table_and_indexes_have_their_types_and_others_are_text(bucket):
    """S3X-21: empty cells, and those that are missing at the end, are left out."""
    text = 'pk,sk,g,other\n1,a,AAE=,"x, ""y""\nz"\n2,b,,7\n3,c\n'
    told, rows = imported_rows(bucket, text)
    assert counts(told) == ("COMPLETED", None, 3, 3, 0)
    assert rows == [
        {"pk": {"N": "1"}, "sk": {"S": "a"}, "g": {"B": "AAE="}, "other": {"S": 'x, "y"\nz'}},
        {"pk": {"N": "2"}, "sk": {"S": "b"}, "other": {"S": "7"}},
        {"pk": {"N": "3"}, "sk": {"S": "c"}},
    ]
    assert "InputFormatOptions" not in told


@pytest.mark.parametrize("delimiter", [",", ";", ":", "|", "\t", " "])
def test_a_header_of_its_own_makes_the_first_line_data(bucket, delimiter):
    """S3X-21."""
    options = {"Csv": {"Delimiter": delimiter, "HeaderList": ["sk", "pk"]}}
    text = f"a{delimiter}1\nb{delimiter}2\n"
    told, rows = imported_rows(bucket, text, InputFormatOptions=options)
    assert counts(told) == ("COMPLETED", None, 2, 2, 0)
    assert told["InputFormatOptions"] == options
    assert rows[0] == {"pk": {"N": "1"}, "sk": {"S": "a"}}


BAD_ROWS = {
    "no number": ("one,a", "COUNTED"),
    "no key": (",a", "COUNTED"),
    "too many": ("1,a,AA==,x,y", "COUNTED"),
    "no Base64": ("1,a,!", "COUNTED"),
    "open quote": ('1,"a', "LAST"),
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_a_row_that_is_no_item_is_counted(bucket, case):
    """S3X-22: one whose end cannot be found is the last."""
    row, kind = BAD_ROWS[case]
    told, rows = imported_rows(bucket, f"pk,sk,g,other\n1,x\n{row}\n2,y\n")
    good = 2 if kind == "COUNTED" else 1
    assert counts(told) == ("FAILED", "ItemValidationError", good + 1, good, 1)
    assert [item["sk"]["S"] for item in rows] == ["x", "y"][:good]


def test_a_file_that_is_no_text_is_one_error(bucket):
    """S3X-22."""
    (bucket / "one.csv").write_bytes(b"pk\n\xff\xfe\n")
    told = ended(with_store(bucket), InputFormat="CSV")
    assert counts(told) == ("FAILED", "ItemValidationError", 1, 0, 1)


# Requests


def test_an_import_obeys_the_rules_of_tables(bucket):
    """S3X-20, CT-3, CT-14."""
    emu = with_store(bucket)
    begin(emu)
    assert refusal(emu, "ImportTable", request_of()) == (
        "ResourceInUseException",
        "Table already exists: tab",
    )
    request = request_of(TableCreationParameters=table(names="pk other"))
    assert refusal(emu, "ImportTable", request) == (
        "ValidationException",
        INVALID + "Number of attributes in KeySchema does not exactly match number of attributes "
        "defined in AttributeDefinitions",
    )


def test_options_of_another_format_are_refused(bucket):
    """S3X-21."""
    request = request_of(InputFormatOptions={"Csv": {"Delimiter": ";"}})
    assert refusal(with_store(bucket), "ImportTable", request) == (
        "ValidationException",
        "Invalid Request: Unsupported InputFormatOptions for the given input format: "
        "DYNAMODB_JSON.",
    )


def test_fifty_imports_run_at_once(bucket):
    """S3X-20."""
    emu = with_store(bucket, transfer_seconds=60)
    for number in range(50):
        begin(emu, TableCreationParameters=table(TableName=f"table{number}"))
    assert refusal(emu, "ImportTable", request_of())[0] == "LimitExceededException"
    emu.clock.advance(60)
    begin(emu)


def test_an_unknown_import_has_no_errors_to_tell(bucket):
    """S3X-23."""
    with pytest.raises(Exception, match="there is no import 'none'"):
        with_store(bucket).import_errors("none")


def test_what_is_told_is_nobody_s_to_change(bucket):
    """A caller that changes its request, or an answer, changes nothing here."""
    emu = with_store(bucket)
    source = {"S3Bucket": "bucket"}
    begun = begin(emu, S3BucketSource=source)
    source["S3Bucket"] = "changed"
    begun["S3BucketSource"]["S3Bucket"] = "changed"
    told = emu.call("DescribeImport", {"ImportArn": begun["ImportArn"]})["ImportTableDescription"]
    assert told["S3BucketSource"]["S3Bucket"] == "bucket"


def test_encryption_that_contradicts_itself_is_refused(bucket):
    """ERR-CT-15, as by CreateTable."""
    request = table() | {"SSESpecification": {"Enabled": False, "SSEType": "KMS"}}
    wanted = refusal(emulator(), "CreateTable", request)
    assert wanted[0] == "ValidationException"
    refused = request_of(TableCreationParameters=request)
    assert refusal(with_store(bucket), "ImportTable", refused) == wanted
