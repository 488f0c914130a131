"""A bulk put goes on after its file is loaded."""

import json

from emulator import Emulator, ManualClock, Settings
from tests.tables import described, table

#: What makes an item take four units.
LARGE = {"x": {"S": "x" * 4000}}


def test_a_file_holds_a_running_bulk_put_with_what_is_left(tmp_path):
    for bucket in ("in", "out"):
        (tmp_path / bucket).mkdir()
    lines = [json.dumps({"Item": LARGE | {"pk": {"S": str(number)}}}) for number in range(512)]
    (tmp_path / "in" / "items").write_text('{"Item": {}}\n' + "\n".join(lines) + "\nnone")
    settings = Settings(s3=tmp_path)
    emu = Emulator(clock=ManualClock(), settings=settings)
    emu.call("CreateTable", table())
    job = emu.call(
        "StartBulkPutItems",
        {
            "TableName": "tab",
            "InputS3Configuration": {"S3Bucket": "in", "InputFormat": "DYNAMODB_JSON"},
            "OutputS3Configuration": {"S3Bucket": "out", "OutputType": ["ERROR"]},
            "MaxWriteRequestUnits": 1024,
        },
    )["BulkOperationDescription"]
    arn = {"BulkOperationArn": job["BulkOperationArn"]}
    emu.clock.advance(1)
    before = emu.call("DescribeBulkOperation", arn)
    assert before["BulkOperationDescription"]["ProcessedItemCount"] == 258
    emu.save(tmp_path / "file")
    again = Emulator.load(tmp_path / "file", clock=ManualClock(emu.clock.now()), settings=settings)
    assert again.call("DescribeBulkOperation", arn) == before
    again.clock.advance(1)
    emu.clock.advance(1)
    ended = again.call("DescribeBulkOperation", arn)
    assert ended == emu.call("DescribeBulkOperation", arn)
    assert ended["BulkOperationDescription"]["BulkOperationStatus"] == "COMPLETED_WITH_ERRORS"
    assert described(again)["ItemCount"] == 512
    again.save(tmp_path / "file")
    last = Emulator.load(tmp_path / "file", clock=ManualClock(again.clock.now()))
    assert last.call("DescribeBulkOperation", arn) == ended
    (report,) = (tmp_path / "out").rglob("error.json")
    assert len(report.read_text().splitlines()) == 2
