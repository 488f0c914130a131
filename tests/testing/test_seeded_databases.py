"""Seeded databases: built once, restored for every test."""

import gzip
import sys

import pytest

from emulator import Emulator, EmulatorError, ManualClock, Settings, SystemClock
from emulator.clock import DEFAULT_START
from emulator.testing.seeded_databases import SeededDatabase, SeededDatabases, fill, make_clock
from emulator.testing.table_notation import create_request

ORDERS = create_request("orders", provisioned=(1, 1))


def count(emu, table="orders"):
    return emu.call("Scan", {"TableName": table})["Count"]


def restored(template):
    emu = Emulator(clock=ManualClock(template.now), capacity="enforce")
    emu.restore(template.snapshot)
    return emu


def test_filling_draws_on_nothing():
    template = SeededDatabase(tables=ORDERS, seed={"orders": [{"pk": str(n)} for n in range(50)]})
    emu = restored(template)
    emu.call("PutItem", {"TableName": "orders", "Item": {"pk": {"S": "new"}}})
    assert emu.partitions("orders")[0].consumed_write == 1.0


def test_copies_are_independent():
    template = SeededDatabase(tables=ORDERS, seed={"orders": [{"pk": "a"}]})
    one, other = restored(template), restored(template)
    one.call("DeleteItem", {"TableName": "orders", "Key": {"pk": {"S": "a"}}})
    assert (count(one), count(other), count(restored(template))) == (0, 1, 1)


def test_a_template_may_be_entered_again():
    template = SeededDatabase(tables=ORDERS)
    assert count(restored(template)) == 0
    with template as emu:
        emu.table("orders").put_item(Item={"pk": "a"})
    assert count(restored(template)) == 1


def test_a_template_may_be_built_on_another():
    base = SeededDatabase(tables=ORDERS, seed={"orders": [{"pk": "a"}]})
    more = SeededDatabase(base=base, tables=create_request("more"), seed={"orders": [{"pk": "b"}]})
    assert (count(restored(more)), count(restored(base))) == (2, 1)
    assert restored(more).call("ListTables", {}) == {"TableNames": ["more", "orders"]}


def test_a_template_of_an_emulator_or_a_snapshot_has_its_region():
    emu = Emulator(region="eu-west-3")
    emu.call("CreateTable", ORDERS)
    assert SeededDatabase.of(emu).region == SeededDatabase.of(emu.snapshot()).region == "eu-west-3"
    assert SeededDatabase(base=SeededDatabase.of(emu)).region == "eu-west-3"


def test_boto3_is_routed_to_a_template_in_the_making():
    import boto3

    def create(_emu):
        boto3.client("dynamodb").create_table(**ORDERS)

    template = SeededDatabase(
        tables=create,
        seed=lambda _emu: boto3.resource("dynamodb").Table("orders").put_item(Item={"pk": "a"}),
    )
    assert count(restored(template)) == 1


def test_emulators_and_snapshots_are_templates_too():
    emu = Emulator(clock=ManualClock(2_000_000_000))
    emu.call("CreateTable", ORDERS)
    for value in (emu, emu.snapshot()):
        template = SeededDatabase.of(value)
        assert template.now == 2_000_000_000
        assert count(restored(template)) == 0
    with pytest.raises(EmulatorError, match="ddb_template returns what ddb_build returned"):
        SeededDatabase.of(3)


def test_the_same_tables_and_data_are_built_once():
    calls = []
    templates = SeededDatabases()
    shape = {"start": None, "region": "us-east-1", "settings": Settings()}
    for _ in range(2):
        templates.get(None, calls.append, None, **shape)
        templates.get(None, [dict(ORDERS)], {"orders": [{"pk": "a"}]}, **shape)
    assert (len(calls), len(templates._built)) == (1, 2)
    assert templates.get(None, None, None, **shape) is None
    emu = Emulator()
    assert templates.of_fixture(emu) is templates.of_fixture(emu)


def test_restoring_takes_the_same_work_however_many_items_there_are():
    """Every call and return is counted, C's included."""
    tables = create_request("orders", indexes={"by_n": "n:N"})
    taken = []
    for number in (10, 1_000):
        items = [{"pk": str(n), "n": n} for n in range(number)]
        template = SeededDatabase(tables=tables, seed={"orders": items})
        emu, events = Emulator(), []
        emu.restore(template.snapshot)  # what is worked out once is not counted
        sys.setprofile(lambda *_, events=events: events.append(None))
        emu.restore(template.snapshot)
        sys.setprofile(None)
        assert count(emu) == number
        taken.append(len(events))
    few, many = taken
    assert many == few


# Time


def test_a_template_ends_where_its_clock_and_its_tables_do():
    template = SeededDatabase(tables=ORDERS, settings=Settings(table_delay=60))
    assert template.now == DEFAULT_START + 60
    with template as emu:
        emu.clock.advance(3600)
    assert template.now == DEFAULT_START + 3600


def test_a_template_is_never_built_after_the_present():
    assert SeededDatabase(start=9e9).now < 9e9


def test_the_clock_of_a_test_goes_on_where_the_template_ended():
    template = SeededDatabase()
    with template as emu:
        emu.clock.advance(10)
    assert make_clock("manual", template, start=None).now() == DEFAULT_START + 10
    assert make_clock("manual", template, start=DEFAULT_START + 20).now() == DEFAULT_START + 20
    assert make_clock("manual", None, start=None).now() == DEFAULT_START
    assert make_clock("manual", None, start=5).now() == 5
    assert isinstance(make_clock("system", template, start=None), SystemClock)
    own = ManualClock()
    assert make_clock(own, template, start=None) is own
    with pytest.raises(EmulatorError, match="before the template was finished"):
        make_clock("manual", template, start=DEFAULT_START)


# Data


@pytest.fixture
def emu():
    emu = Emulator()
    emu.call("CreateTable", ORDERS)
    return emu


def test_lines_may_be_compressed_bare_or_exported(emu, tmp_path):
    path = tmp_path / "export.json.gz"
    with gzip.open(path, "wt") as file:
        file.write('{"Item": {"pk": {"S": "a"}}}\n\n')
        file.write('{"pk": {"S": "b"}}\n')
    fill(emu, path)
    assert count(emu) == 2


def test_lines_find_their_table(emu, tmp_path):
    emu.call("CreateTable", create_request("users"))
    path = tmp_path / "users.jsonl"
    path.write_text('{"pk": {"S": "a"}}\n')
    fill(emu, path)
    assert (count(emu, "users"), count(emu, "orders")) == (1, 0)
    fill(emu, {"orders": path})
    assert (count(emu, "users"), count(emu, "orders")) == (1, 1)
    fill(emu, [path, {"users": [{"pk": "z"}]}])
    assert count(emu, "users") == 2
    unknown = tmp_path / "things.jsonl"
    unknown.write_text('{"pk": {"S": "a"}}')
    with pytest.raises(EmulatorError, match=r"things\.jsonl: which table is it for"):
        fill(emu, unknown)


@pytest.mark.parametrize("line", ["{", "[]", '{"sk": {"S": "a"}}'])
def test_a_bad_line_is_named_and_nothing_is_put(emu, tmp_path, line):
    path = tmp_path / "orders.jsonl"
    path.write_text('{"pk": {"S": "a"}}\n' + line)
    with pytest.raises(EmulatorError) as caught:
        fill(emu, path)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert count(emu) == 0


def test_a_file_that_is_not_compressed_is_named(emu, tmp_path):
    path = tmp_path / "orders.json.gz"
    path.write_text("{}")
    with pytest.raises(EmulatorError, match=r"orders\.json\.gz: not a file of DynamoDB JSON lines"):
        fill(emu, path)


def test_a_saved_snapshot_is_a_template(emu, tmp_path):
    fill(emu, {"orders": [{"pk": "a"}]})
    path = tmp_path / "shop.snapshot"
    emu.save(path)
    assert count(restored(SeededDatabase(tables=path))) == 1
    assert count(restored(SeededDatabase.of(str(path)))) == 1
    assert count(restored(SeededDatabase(tables=[path, create_request("more")]))) == 1
    with pytest.raises(EmulatorError, match=r"none\.snapshot: No such file or directory"):
        SeededDatabase(tables=tmp_path / "none.snapshot")


def test_a_folder_of_exports_is_tables_and_seed(emu, tmp_path):
    """S3X-6: as the service has written them."""
    (tmp_path / "bucket").mkdir()
    source = Emulator(settings=Settings(s3=tmp_path))
    arn = source.call("CreateTable", create_request("orders"))["TableDescription"]["TableArn"]
    fill(source, {"orders": [{"pk": "a"}, {"pk": "b"}]})
    spec = {"PointInTimeRecoveryEnabled": True}
    recovery = {"TableName": "orders", "PointInTimeRecoverySpecification": spec}
    source.call("UpdateContinuousBackups", recovery)
    source.call("ExportTableToPointInTime", {"TableArn": arn, "S3Bucket": "bucket"})
    folder = tmp_path / "bucket"
    assert count(restored(SeededDatabase(tables=folder))) == 2
    fill(emu, folder)
    assert count(emu) == 2
    database = SeededDatabase(tables=create_request("copy"), seed={"copy": folder})
    assert len(restored(database).table("copy").scan()["Items"]) == 2
    (tmp_path / "empty").mkdir()
    with pytest.raises(EmulatorError, match="holds no export of DynamoDB"):
        SeededDatabase(tables=tmp_path / "empty")


def test_a_missing_file_is_named(emu, tmp_path):
    with pytest.raises(EmulatorError, match=r"none\.jsonl: No such file or directory"):
        fill(emu, tmp_path / "none.jsonl")


def test_a_table_that_the_service_refuses_is_named(tmp_path):
    with pytest.raises(EmulatorError, match=r"^or: 1 validation error detected"):
        SeededDatabase(tables=create_request("or"))


def test_time_to_live_comes_with_the_design(tmp_path):
    path = tmp_path / "main.tf"
    path.write_text(
        """
        resource "aws_dynamodb_table" "orders" {
          hash_key = "pk"
          billing_mode = "PAY_PER_REQUEST"
          attribute {
            name = "pk"
            type = "S"
          }
          ttl {
            attribute_name = "ttl"
          }
        }
        """
    )
    emu = restored(SeededDatabase(tables=str(path)))
    told = emu.call("DescribeTimeToLive", {"TableName": "orders"})["TimeToLiveDescription"]
    assert told["AttributeName"] == "ttl"


def test_items_for_a_table_that_is_not_there_are_refused():
    with pytest.raises(EmulatorError, match="there is no table 'order' in us-east-1: create it"):
        SeededDatabase(tables=ORDERS, seed={"order": [{"pk": "a"}]}, region="us-east-1")
