"""The pytest plugin in other people's projects: fixtures, markers, options, budgets, reports."""

import json
import socket
import subprocess
import sys
from xml.etree import ElementTree

# A pytest in this process forgets the modules it loads, but not what they patched: so the
# modules that patch and are patched are loaded here, before any.
import aiobotocore.session  # noqa: F401
import boto3
import pytest

import emulator.sdk.boto  # noqa: F401

pytest_plugins = ["pytester"]

INI = """
[pytest]
asyncio_default_fixture_loop_scope = function
asyncio_mode = auto
"""


@pytest.fixture
def project(pytester):
    pytester.makeini(INI)
    return pytester


#: Plugins that every run would begin with, and that have no part in this.
OTHERS = (
    *("anyio", "cacheprovider", "hypothesispytest", "platformdirs", "pytest_cov", "randomly"),
    *("xdist", "xdist.looponfail"),
    # They look for garbage five times at the end of every run; the run around it does so, too.
    *("threadexception", "unraisableexception"),
)


def run(project, *arguments):
    without = [option for name in OTHERS for option in ("-p", f"no:{name}")]
    return project.runpytest_inprocess(*without, *arguments)


# Fixtures


def test_every_fixture_serves_the_same_emulator(project):
    project.makepyfile(
        """
        import urllib.request

        import boto3
        from emulator import Emulator, ManualClock

        def test_all(
            ddb, ddb_client, ddb_resource, ddb_table, ddb_clock, ddb_endpoint, ddb_report
        ):
            assert isinstance(ddb, Emulator)
            items = [{"customer": "c", "created": 1}]
            orders = ddb_table("orders", "customer", "created:N", items=items)
            assert ddb_client.list_tables()["TableNames"] == ["orders"]
            assert boto3.client("dynamodb").list_tables()["TableNames"] == ["orders"]
            assert ddb_resource.Table("orders").scan()["Count"] == 1
            assert orders.get_item(Key={"customer": "c", "created": 1})["Item"]["created"] == 1
            assert ddb.clock is ddb_clock
            assert isinstance(ddb_clock, ManualClock)
            assert b"healthy" in urllib.request.urlopen(ddb_endpoint).read()
            assert (ddb_report.read_units, ddb_report.scans) == (2.5, 1)
            assert "test_every_fixture" in ddb_report.entries[0].where
        """
    )
    run(project).assert_outcomes(passed=1)


def test_without_a_region_the_emulator_has_that_of_the_clients(project, monkeypatch):
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    project.makeconftest(
        """
        import pytest

        @pytest.fixture(scope="session")
        def ddb_template(ddb_build):
            return ddb_build(tables=lambda emu: emu.client().create_table(
                TableName="orders",
                KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
                AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                BillingMode="PAY_PER_REQUEST",
            ))
        """
    )
    project.makepyfile(
        """
        import boto3
        import pytest

        early = boto3.client("dynamodb")

        def test_it(ddb, ddb_table):
            ddb_table("users")
            assert ddb.region == "eu-west-1"
            assert early.list_tables()["TableNames"] == ["orders", "users"]

        @pytest.mark.ddb(region="eu-north-1")
        def test_told(ddb):
            assert ddb.region == "eu-north-1"
        """
    )
    run(project).assert_outcomes(passed=2)


def test_making_a_table_in_the_body_is_set_up(project):
    project.makepyfile(
        """
        import pytest
        from emulator import ApiError

        @pytest.mark.ddb(capacity="enforce", clock="manual")
        @pytest.mark.ddb_budget(wcu=1, throttles=0)
        @pytest.mark.ddb_faults("internal_error", times=1)
        def test_it(ddb, ddb_table, ddb_report):
            items = [{"pk": str(number)} for number in range(400)]
            orders = ddb_table("orders", provisioned=(1, 1), items=items)
            assert ddb_report.calls == 0
            assert ddb.metrics.sum("ConsumedWriteCapacityUnits", table="orders") == 0
            with pytest.raises(ddb.client().exceptions.InternalServerError):
                orders.put_item(Item={"pk": "a"})
            orders.put_item(Item={"pk": "a"})
            with pytest.raises(ApiError, match="already exists"):
                ddb_table("orders")
            assert ddb_report.write_units == 1
        """
    )
    run(project).assert_outcomes(passed=1)


def test_each_test_has_an_account_of_its_own(project):
    project.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("number", [1, 2])
        def test_alone(ddb, ddb_table, number):
            assert ddb.call("ListTables", {}) == {"TableNames": []}
            ddb_table("orders")
        """
    )
    run(project).assert_outcomes(passed=2)


def test_real_credentials_are_hidden_and_put_back(project, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAREAL")
    monkeypatch.setenv("AWS_PROFILE", "production")
    project.makepyfile(
        """
        import os

        def test_hidden(ddb):
            assert os.environ["AWS_ACCESS_KEY_ID"] == "emulator"
            assert "AWS_PROFILE" not in os.environ

        def test_put_back():
            assert os.environ["AWS_ACCESS_KEY_ID"] == "AKIAREAL"
            assert os.environ["AWS_PROFILE"] == "production"
        """
    )
    run(project).assert_outcomes(passed=2)


def test_a_clock_that_is_asked_for_too_late_is_refused(project):
    project.makepyfile(
        """
        def test_late(ddb, request):
            request.getfixturevalue("ddb_clock")
        """
    )
    result = run(project)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["ddb_clock needs a manual clock, but this test's emulator was*"])


def test_an_emulator_that_is_asked_for_in_the_body_is_held_to_the_budget(project):
    project.makepyfile(
        """
        def test_late(request):
            report = request.getfixturevalue("ddb_report")
            request.getfixturevalue("ddb_table")("orders").put_item(Item={"pk": "a"})
            assert report.write_units == 1.0
        """
    )
    run(project).assert_outcomes(passed=1)


# Markers and options


def test_the_closest_marker_wins_argument_by_argument(project):
    project.makeini(INI + "ddb_capacity = off\nddb_region = eu-west-1\nddb_settings = gsi_lag=0.5")
    project.makepyfile(
        """
        import pytest
        from emulator import ManualClock, SystemClock

        pytestmark = pytest.mark.ddb(capacity="observe", start="2026-02-01")

        @pytest.mark.ddb(capacity="enforce")
        class TestClass:
            def test_class(self, ddb):
                assert (ddb.capacity, ddb.region) == ("enforce", "eu-west-1")
                assert ddb.clock.now() == 1769904000.0
                assert ddb.settings.gsi_lag == 0.5

            @pytest.mark.ddb(region="us-west-2", clock="system", settings={"ec_lag": 1})
            def test_function(self, ddb):
                assert (ddb.capacity, ddb.region) == ("enforce", "us-west-2")
                assert isinstance(ddb.clock, SystemClock)
                assert ddb.settings.ec_lag == 1

        def test_module(ddb):
            assert ddb.capacity == "observe"
        """
    )
    run(project).assert_outcomes(passed=3)


def test_the_command_line_wins_over_the_ini_file(project):
    project.makeini(INI + "ddb_capacity = off\nddb_clock = system")
    project.makepyfile(
        """
        def test_it(ddb):
            assert (ddb.capacity, ddb.region) == ("enforce", "ap-south-1")
            assert ddb.clock.now() == 1780272000.0
        """
    )
    options = ("--ddb-capacity=enforce", "--ddb-clock=manual", "--ddb-start=2026-06-01")
    run(project, *options, "--ddb-region=ap-south-1").assert_outcomes(passed=1)


def test_a_marked_test_needs_no_fixture(project):
    project.makepyfile(
        """
        import unittest

        import boto3
        import pytest

        @pytest.mark.ddb
        def test_function():
            assert boto3.client("dynamodb").list_tables()["TableNames"] == []

        @pytest.mark.ddb_budget(wcu=0)
        class TestCase(unittest.TestCase):
            def setUp(self):
                self.client = boto3.client("dynamodb")

            def test_method(self):
                assert self.client.list_tables()["TableNames"] == []
        """
    )
    run(project, "--strict-markers").assert_outcomes(passed=2)


def test_wrong_arguments_are_told_at_collection_with_file_and_line(project):
    project.makepyfile(
        test_wrong="""
        import pytest

        @pytest.mark.ddb(capacity="on", clock=3)
        def test_one(): ...

        @pytest.mark.ddb(colour="red")
        @pytest.mark.ddb_budget(3)
        @pytest.mark.ddb_faults("thunder")
        def test_two(): ...

        @pytest.mark.ddb(tables="none.tf")
        @pytest.mark.ddb_budget(wcu="many")
        @pytest.mark.ddb_faults("throttle", "twice")
        def test_three(): ...

        @pytest.mark.ddb(start="yesterday")
        @pytest.mark.ddb(settings={"gsi_lag": "long"})
        @pytest.mark.ddb(tables=3)
        @pytest.mark.ddb(seed=0.5)
        @pytest.mark.ddb(region=1)
        @pytest.mark.ddb(clock="slow")
        def test_four(): ...

        @pytest.mark.ddb_faults
        @pytest.mark.ddb_faults("throttle", operations="put_item")
        @pytest.mark.ddb_faults("throttle", key={"pk": "a"})
        def test_five(): ...
        """,
        test_right="def test_right(): ...",
    )
    result = run(project)
    result.assert_outcomes(errors=1)
    # With CI set, pytest tells errors once more in its summary.
    found = list(dict.fromkeys(one for one in result.outlines if one.startswith("test_wrong.py:")))
    assert found == [
        "test_wrong.py:3: @pytest.mark.ddb: capacity is one of off, observe, enforce, not 'on'",
        "test_wrong.py:6: @pytest.mark.ddb: there is no argument 'colour'; there are capacity, "
        "clock, start, rate, region, seed, tables, settings",
        "test_wrong.py:6: @pytest.mark.ddb_budget: arguments are given by name",
        "test_wrong.py:6: @pytest.mark.ddb_faults: a fault's kind is one of throttle, "
        "internal_error, latency, unprocessed, conflict, replication_conflict, outage, not "
        "'thunder'",
        f"test_wrong.py:11: @pytest.mark.ddb: tables: there is no file 'none.tf' in {project.path}",
        "test_wrong.py:11: @pytest.mark.ddb_budget: a budget's wcu is a number, not 'many'",
        "test_wrong.py:11: @pytest.mark.ddb_faults: only the kind may be given without a name",
        "test_wrong.py:16: @pytest.mark.ddb: clock is 'system', 'manual' or a clock, not 'slow'",
        "test_wrong.py:16: @pytest.mark.ddb: region is text, not 1",
        "test_wrong.py:16: @pytest.mark.ddb: seed is a file of JSON lines, a folder of exports, "
        "items by table name, a function of the emulator, or a number for the faults, not 0.5",
        "test_wrong.py:16: @pytest.mark.ddb: tables is a design file, a folder of exports, "
        "CreateTable requests or a function of the emulator, not 3",
        "test_wrong.py:16: @pytest.mark.ddb: Settings.gsi_lag must be a number, not 'long'",
        "test_wrong.py:16: @pytest.mark.ddb: start is a date, ISO text or epoch seconds, not "
        "'yesterday'",
        "test_wrong.py:24: @pytest.mark.ddb_faults: a fault's key is in wire form, as "
        "{'pk': {'S': 'a'}}, not {'pk': 'a'}",
        "test_wrong.py:24: @pytest.mark.ddb_faults: a fault's operations are such as PutItem, not "
        "'put_item'",
        "test_wrong.py:24: @pytest.mark.ddb_faults: a fault's kind is one of throttle, "
        "internal_error, latency, unprocessed, conflict, replication_conflict, outage, not None",
    ]


def test_a_setting_that_is_none_is_told_with_those_that_are(project):
    project.makepyfile(
        """
        import pytest

        @pytest.mark.ddb(settings={"gsi_lagg": 1})
        def test_it(): ...
        """
    )
    result = run(project)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*: there is no argument 'gsi_lagg'; there are *gsi_lag,*"])


def test_mocks_and_the_fixtures_of_a_test_join_each_other(project):
    """As with moto: a fixture enters the mock, and the test that is decorated sees its table."""
    project.makepyfile(
        """
        import boto3
        import pytest
        from emulator import mock_dynamodb

        SCHEMA = {
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "BillingMode": "PAY_PER_REQUEST",
        }

        @pytest.fixture(scope="module", autouse=True)
        def shared():
            with mock_dynamodb(join=False) as emulator:
                yield emulator

        @pytest.fixture
        def table():
            with mock_dynamodb(join=False):
                yield boto3.resource("dynamodb").create_table(TableName="tab", **SCHEMA)

        @pytest.fixture
        async def async_table():
            with mock_dynamodb(join=False):
                yield boto3.resource("dynamodb").create_table(TableName="tab", **SCHEMA)

        def names():
            return boto3.client("dynamodb").list_tables()["TableNames"]

        @mock_dynamodb
        def test_decorated(table):
            assert names() == ["tab"]

        @mock_dynamodb
        async def test_decorated_and_asynchronous(async_table):
            assert names() == ["tab"]

        @mock_dynamodb
        class TestDecorated:
            def setup_method(self):
                assert names() == []

            @mock_dynamodb
            def test_twice(self, table):
                assert names() == ["tab"]

        @mock_dynamodb
        def test_decorated_with_ours(ddb_table):
            ddb_table("ours")
            assert names() == ["ours"]

        def test_ours_inside_a_mock(table, ddb, ddb_client):
            assert ddb_client.list_tables()["TableNames"] == ["tab"]

        def test_ours_of_a_certain_kind(table, ddb, ddb_clock):
            assert names() == []

        def test_ours_inside_a_mock_that_tests_share(shared, ddb):
            assert ddb is not shared
        """
    )
    run(project).assert_outcomes(passed=7)


def test_a_mock_in_the_body_is_held_to_the_tests_budget_and_faults(project):
    project.makepyfile(
        """
        import boto3
        import pytest
        from emulator import ManualClock, mock_dynamodb

        TABLE = {
            "TableName": "orders",
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "BillingMode": "PAY_PER_REQUEST",
        }

        def put():
            item = {"pk": {"S": "a"}}
            return boto3.client("dynamodb").put_item(TableName="orders", Item=item)

        @pytest.mark.ddb_budget(wcu=1)
        @mock_dynamodb
        def test_budget():
            boto3.client("dynamodb").create_table(**TABLE)
            put()
            put()

        @pytest.mark.ddb_budget(wcu=1)
        def test_again(ddb, ddb_table):
            ddb_table("orders")
            with mock_dynamodb(ddb):
                put()

        @pytest.mark.ddb_faults("throttle", times=2)
        @mock_dynamodb(clock=ManualClock())
        def test_faults():
            boto3.client("dynamodb").create_table(**TABLE)
            assert put()["ResponseMetadata"]["RetryAttempts"] == 2
        """
    )
    result = run(project)
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["2 write units were consumed, and the budget is 1"])


def test_a_failure_says_that_the_tables_are_in_another_region(project):
    project.makepyfile(
        """
        import boto3

        def test_missed(ddb, ddb_table):
            ddb_table("orders")
            client = boto3.client("dynamodb", region_name="eu-west-1")
            client.put_item(TableName="orders", Item={"pk": {"S": "a"}})

        def test_another_failure(ddb, ddb_table):
            ddb_table("orders")
            assert ddb.table("orders").scan()["Count"] == 1
        """
    )
    result = run(project)
    result.assert_outcomes(failed=2)
    assert [line for line in result.outlines if "requests went" in line] == [
        "requests went to eu-west-1, which has no tables; us-east-1 has orders. Each region has "
        'its own tables: set the region with @pytest.mark.ddb(region="eu-west-1") or ddb_region.'
    ]


@pytest.mark.parametrize(
    ("ini", "arguments", "message"),
    [
        ("ddb_capacity = may", [], "ddb: capacity is one of off, observe, enforce, not 'may'"),
        (
            "ddb_scope = all",
            [],
            "ddb: ddb_scope is one of function, class, module, package, session, not 'all'",
        ),
        ("ddb_settings = gsi_lag=x", [], "ddb: Settings.gsi_lag must be a number, not 'x'"),
        ("", ["--ddb-report=a.txt"], "--ddb-report: a.txt does not end in .json or .html"),
    ],
)
def test_wrong_settings_are_told_before_anything_runs(project, ini, arguments, message):
    project.makeini(INI + ini)
    project.makepyfile("def test_it(ddb): ...")
    result = run(project, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.errlines[0] == f"ERROR: {message}"


def test_the_markers_and_options_are_documented(project):
    markers = run(project, "--markers").stdout.str()
    assert [line for line in markers.splitlines() if line.startswith("@pytest.mark.ddb")] == [
        "@pytest.mark.ddb(capacity, clock, start, rate, region, seed, tables, settings): the test "
        "has an emulated DynamoDB of this kind, and boto3 is routed to it",
        "@pytest.mark.ddb_budget(rcu, wcu, calls, usd, throttles, scans, filtered): the test fails "
        "if it consumes more than this; usd is the cost of a million runs",
        "@pytest.mark.ddb_allow(*kinds): findings of these kinds in the test are not reported and "
        "do not fail it",
        "@pytest.mark.ddb_faults(kind, operations, tables, key, share, times, regions, after, "
        "until, latency, seed): some of the test's requests to its emulated DynamoDB fail",
        "@pytest.mark.ddb_event_source(table, handler, handlers, ...): a table's stream is "
        "delivered to a handler, or to those that stand for the functions of a design",
    ]
    assert "--ddb-report=PATH" in run(project, "--help").stdout.str()


# Budgets and faults


def test_a_budget_fails_the_test_with_the_calls_and_their_places(project):
    project.makepyfile(
        shop="""
        def save(table, count):
            for number in range(count):
                table.put_item(Item={"pk": str(number)})
        """,
        test_shop="""
        import pytest
        from shop import save

        @pytest.fixture
        def table(ddb_table):
            return ddb_table("orders", items=[{"pk": f"old{n}"} for n in range(50)])

        @pytest.mark.ddb_budget(wcu=2)
        class TestBudget:
            def test_within(self, table):
                save(table, 2)

            def test_above(self, table):
                save(table, 3)

            @pytest.mark.ddb_budget(wcu=3, filtered=10)
            def test_own(self, table):
                save(table, 3)
                table.scan(FilterExpression="pk = :a", ExpressionAttributeValues={":a": "1"})

        def test_block(ddb, table):
            with ddb.budget(rcu=1):
                table.get_item(Key={"pk": "a"}, ConsistentRead=True)
                table.get_item(Key={"pk": "a"})
        """,
    )
    result = run(project)
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(
        [
            "3 write units were consumed, and the budget is 2",
            "",
            "rcu  wcu  calls  throttled  what            where",
            "  0    3      3          0  PutItem orders  shop.py:3",
            "*",
            "52 items were read and thrown away by filters, and the budget is 10",
            "*",
            "thrown away by filters, and paid for:",
            "read  kept  bytes wasted  what         where",
            "  53     1 *  Scan orders  test_shop.py:19",
            "*BudgetExceeded: 1.5 read units were consumed, and the budget is 1",
        ],
        consecutive=False,
    )


def test_faults_strike_in_the_body_only_and_leave_with_it(project):
    project.makeini(INI + "ddb_scope = module")
    project.makepyfile(
        """
        import pytest

        @pytest.fixture
        def table(ddb, request):
            ddb.call("ListTables", {})
            return ddb

        @pytest.mark.ddb_faults("internal_error", operations="ListTables", times=1)
        @pytest.mark.ddb_faults(kind="throttle", operations="DescribeLimits", share=0.5, seed=4)
        def test_struck(table):
            assert len(table.faults.rules) == 2
            with pytest.raises(Exception, match="failed"):
                table.call("ListTables", {})
            assert table.call("ListTables", {}) == {"TableNames": []}

        def test_spared(table):
            assert table.faults.rules == []

        @pytest.mark.ddb(seed=7)
        @pytest.mark.ddb_faults("latency", latency=1)
        def test_seeded(ddb):
            assert ddb.faults.rules[0].seed == 7
        """
    )
    run(project).assert_outcomes(passed=3)


# What is reported


COSTLY = """
    import pytest

    def test_cheap(ddb_table):
        ddb_table("orders").get_item(Key={"pk": "a"})

    def test_hot(ddb_table, ddb_clock):
        table = ddb_table("events", provisioned=(1, 1))
        for number in range(4):
            table.put_item(Item={"pk": "10:00", "n": number})

    def test_scan(ddb_table):
        from shop import search
        search(ddb_table("orders", items=[{"pk": "a"}, {"pk": "b"}]))
"""
SHOP = """
def search(table):
    table.scan(FilterExpression="pk = :a", ExpressionAttributeValues={":a": "a"})

def load(table, keys):
    for key in keys:
        table.get_item(Key={"pk": key}, ConsistentRead=True)

def save(table, number):
    for key in range(number):
        table.put_item(Item={"pk": str(key)})

def save_one(table, key):
    table.put_item(Item={"pk": key})
"""


def test_the_summary_shows_throttles_scans_and_costs(project):
    project.makepyfile(test_it=COSTLY, shop=SHOP)
    result = run(project)
    result.assert_outcomes(passed=3)
    lines = result.outlines
    start = next(n for n, line in enumerate(lines) if "= dynamometer =" in line)
    assert lines[start + 1 : -1] == [
        "1 test would have throttled:",
        "  test_it.py::test_hot",
        "    3 x TableWriteProvisionedThroughputExceeded on events, hottest key 10:00 (100 %)",
        "    raise the provisioned write units of events, or choose on-demand billing",
        "could be improved in 1 place:",
        "  scan at shop.py:2 (test_it.py::test_scan): Scan orders, 2 items read, 1 kept",
        "    a Query of the table or of an index with the right key reads only what is kept",
        "most expensive:",
        "  rcu  wcu  calls  test",
        "    0    4      4  test_it.py::test_hot",
        "    2    0      1  test_it.py::test_scan",
        "  0.5    0      1  test_it.py::test_cheap",
    ]


@pytest.mark.parametrize("arguments", [["-q", "-k", "cheap"], ["-o", "ddb_summary=false"]])
def test_the_summary_is_silent_when_there_is_nothing_to_say(project, arguments):
    project.makepyfile(test_it=COSTLY, shop=SHOP)
    assert "= dynamometer =" not in run(project, *arguments).stdout.str()


def test_the_summary_is_silent_when_no_test_uses_the_fixtures(project):
    project.makepyfile("def test_it(): ...")
    assert "= dynamometer =" not in run(project).stdout.str()


def test_the_report_is_written_as_json_and_as_html(project):
    project.makepyfile(test_it=COSTLY, shop=SHOP)
    run(project, "--ddb-report=out/report.json").stdout.fnmatch_lines(["report: *report.json"])
    report = json.loads((project.path / "out/report.json").read_text())
    assert (report["form"], [test["test"] for test in report["tests"]]) == (
        1,
        ["test_it.py::test_cheap", "test_it.py::test_hot", "test_it.py::test_scan"],
    )
    assert report["tests"][1]["throttles"] == [
        {
            "reason": "TableWriteProvisionedThroughputExceeded",
            "table": "events",
            "index": None,
            "times": 3,
            "hottest_key": ["10:00"],
            "share": 1.0,
            "waiting": None,
        }
    ]
    run(project, "--ddb-report=report.html")
    page = (project.path / "report.html").read_text()
    assert "<code>test_it.py::<wbr>test_hot</code>" in page
    assert page.count("<table") == 6


def test_workers_send_their_records_to_the_one_that_reports(project, monkeypatch):
    pytest.importorskip("xdist")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    project.makeini("")
    project.makepyfile(test_it=COSTLY, shop=SHOP)
    recorded = {"rcu": 1, "wcu": 0, "calls": 1, "scans": 1, "lines": {}}
    (project.path / "ddb-budgets.json").write_text(
        json.dumps({"version": 1, "tests": {"test_it.py::test_scan": recorded}})
    )
    plugins = ("-p", "xdist", "-p", "dynamometer")
    result = project.runpytest_subprocess(*plugins, "-n", "2", "--ddb-report=report.json")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "  2 read units: 1 on record, and 0 % more is allowed",
            "2 tests not on record: --ddb-budget-update-new adds them",
        ]
    )
    result.stdout.fnmatch_lines(["1 test would have throttled:", "could be improved in 1 place:"])
    report = json.loads((project.path / "report.json").read_text())
    assert [test["test"] for test in report["tests"]] == [
        "test_it.py::test_cheap",
        "test_it.py::test_hot",
        "test_it.py::test_scan",
    ]


# Throughput at a rate

HOT = """
    import os, time
    import pytest

    @pytest.fixture
    def put_all(ddb_table):
        table = ddb_table("events", provisioned=(1, 2))
        def put():
            for number in range(20):
                time.sleep(float(os.environ["TAKES"]))
                table.put_item(Item={"pk": "10:00", "n": number})
        return put

    def test_configured(put_all):
        put_all()

    @pytest.mark.ddb(rate=1)
    def test_slow(put_all):
        put_all()

    @pytest.mark.ddb_budget(throttles=0)
    def test_budget(put_all):
        put_all()

    @pytest.mark.ddb_budget(throttles=0)
    def test_mock():
        import boto3
        from emulator import mock_dynamodb
        from emulator.testing.table_notation import create_request
        with mock_dynamodb(join=False):
            client = boto3.client("dynamodb", region_name="us-east-1")
            client.create_table(**create_request("events", provisioned=(1, 2)))
            for number in range(20):
                client.put_item(TableName="events", Item={"pk": {"S": "a"}})
"""


@pytest.mark.parametrize("takes", ["0", "0.02"])
def test_the_summary_is_the_same_however_fast_the_machine_is(project, monkeypatch, takes):
    monkeypatch.setenv("TAKES", takes)
    project.makepyfile(test_it=HOT)
    project.makeini(INI + "ddb_rate = 4")
    result = run(project)
    result.assert_outcomes(passed=2, failed=2)
    lines = result.outlines
    start = lines.index("3 tests would have throttled:")
    assert lines[start + 1 : start + 10 : 3] == [
        f"  test_it.py::test_{name} (at 4 requests a second; it does from 2 on)"
        for name in ("budget", "configured", "mock")
    ]
    assert all(line.startswith("    8 x ") for line in lines[start + 2 : start + 11 : 3])


def test_without_a_rate_no_throttle_is_counted(project, monkeypatch):
    monkeypatch.setenv("TAKES", "0")
    project.makepyfile(test_it=HOT)
    result = run(project)
    result.assert_outcomes(passed=4)
    assert "would have throttled" not in result.stdout.str()
    result.stdout.fnmatch_lines(
        [
            "  throttles from 2 requests (0.1 runs) a second on: test_it.py::test_budget",
            "2 tests not judged for throttles: on the system clock that needs a rate*",
        ]
    )


@pytest.mark.parametrize("rate", ["fast", "0", "-1", "inf", "nan"])
def test_a_rate_is_a_number_of_requests(project, rate):
    project.makepyfile("def test_it(ddb): ...")
    result = run(project, f"--ddb-rate={rate}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*rate is a number of requests a second, above 0, not*"])


def test_a_rate_and_a_manual_clock_are_refused_in_one_marker(project):
    project.makepyfile(
        """
        import pytest

        @pytest.mark.ddb(rate=1, clock="manual")
        def test_it(): ...
        """
    )
    run(project).stdout.fnmatch_lines(["*rate is for real time: on a manual clock*"])


def test_a_test_that_is_refused_says_what_to_change(project):
    project.makepyfile(
        """
        import pytest

        @pytest.mark.ddb(capacity="enforce", clock="manual")
        def test_refused(ddb_table):
            table = ddb_table("orders", "pk", provisioned=(1, 1))
            for _ in range(2_000):
                table.put_item(Item={"pk": "a"})
        """
    )
    run(project).stdout.fnmatch_lines(
        [
            "*- dynamometer -*",
            "throttled 1 x: TableWriteProvisionedThroughputExceeded on orders, hottest key a (*",
            "what to change:",
            "  raise the provisioned write units of orders, or choose on-demand billing",
        ]
    )


def test_manual_clocks_and_enforce_are_not_paced(project):
    project.makepyfile(
        """
        import pytest

        @pytest.mark.ddb_budget(throttles=1)
        def test_manual(ddb_table, ddb_clock):
            table = ddb_table("events", provisioned=(1, 1))
            for _ in range(2):
                table.put_item(Item={"pk": "a"})

        @pytest.mark.ddb(capacity="enforce")
        def test_enforce(ddb_table):
            table = ddb_table("events", provisioned=(1, 1))
            table.put_item(Item={"pk": "a"})
            with pytest.raises(Exception, match="exceeded"):
                table.put_item(Item={"pk": "a"})
        """
    )
    run(project, "--ddb-rate=0.001").assert_outcomes(passed=2)


# Findings

WASTEFUL = """
    import pytest
    import shop

    @pytest.fixture
    def table(ddb_table):
        return ddb_table("orders", items=[{"pk": "a"}, {"pk": "b"}])

    def test_search(table):
        shop.search(table)

    def test_load(table):
        shop.load(table, "abcde")

    def test_save(table):
        shop.save(table, 5)

    @pytest.mark.ddb_allow("scan", "write-loop")
    def test_allowed(table):
        shop.search(table)
        shop.save(table, 5)

    def test_of_its_own(table):
        for key in "abcdef":
            shop.save_one(table, key)
            shop.load(table, key)
        table.scan()
        for key in "abcdef":
            table.put_item(Item={"pk": key})

    @pytest.mark.ddb(rate=3)
    def test_hot(ddb_table):
        shop.save(ddb_table("orders", provisioned=(1, 1)), 4)
"""


@pytest.fixture
def wasteful(project):
    project.makepyfile(test_it=WASTEFUL, shop=SHOP)
    return project


def failures_of(result):
    lines = result.stdout.lines
    return [line.split("::")[1].split()[0] for line in lines if line.startswith("FAILED")]


IGNORED = "ddb_ignore=scan ord*\nwrite-loop * file=shop.py function=s*"


@pytest.mark.parametrize(
    ("arguments", "failed"),
    [
        (("--ddb-fail-on=throttle,repeated-get",), ["test_load", "test_hot"]),
        (("-o", "ddb_fail_on=write-loop consistent-read"), ["test_load", "test_save"]),
        (("-o", "ddb_findings=fail"), ["test_search", "test_load", "test_save", "test_hot"]),
        (("-o", IGNORED, "-o", "ddb_findings=fail"), ["test_load", "test_hot"]),
    ],
)
def test_findings_fail_tests_if_the_project_says_so(wasteful, arguments, failed):
    result = run(wasteful, "-rf", "-W", "error", *arguments)
    assert failures_of(result) == failed


def test_a_test_that_fails_for_a_finding_says_line_and_cure(wasteful):
    result = run(wasteful, "--ddb-fail-on=scan,throttle")
    result.stdout.fnmatch_lines(
        [
            "this could be improved, and the session fails on it:",
            "  scan at shop.py:2: Scan orders, 2 items read, 1 kept; a Query of the table or*",
            "  would-throttle at shop.py:10: PutItem orders, 2 times of 4 calls; raise the*",
            "5 tests not judged for throttles: on the system clock that needs a rate*",
        ]
    )


def test_findings_that_were_there_before_may_stay(wasteful):
    """ICH-112: a baseline without lines and counts."""
    failing = ("-rf", "-o", "ddb_findings=fail")
    assert failures_of(run(wasteful, *failing, "--ddb-update-baseline")) == []
    baseline = json.loads((wasteful.path / "ddb-baseline.json").read_text())
    assert baseline["version"] == 1
    assert {"kind": "scan", "label": "orders", "file": "shop.py", "function": "search"} in baseline[
        "findings"
    ]
    known = (*failing, "--ddb-baseline=ddb-baseline.json")

    assert failures_of(run(wasteful, *known)) == []

    shop = wasteful.path / "shop.py"
    shop.write_text(f"# a line more\n{shop.read_text()}\ndef find(table):\n    table.scan()\n")
    test = wasteful.path / "test_it.py"
    test.write_text(f"{test.read_text()}\ndef test_find(table):\n    shop.find(table)\n")
    assert failures_of(run(wasteful, *known)) == ["test_find"]


def test_a_partial_update_keeps_what_it_did_not_run(wasteful):
    run(wasteful, "--ddb-update-baseline", "-o", "ddb_baseline=accepted.json")
    path = wasteful.path / "accepted.json"
    other = {"kind": "scan", "label": "users", "file": "users.py", "function": "all"}
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "findings": [*document["findings"], other]}))
    run(wasteful, "--ddb-update-baseline", "-o", "ddb_baseline=accepted.json", "-k", "search")
    kept = json.loads(path.read_text())["findings"]
    assert other in kept
    assert [finding["kind"] for finding in kept if finding["file"] == "shop.py"] == ["scan"]


def test_findings_are_written_as_sarif(wasteful):
    """ICH-82, ICH-112."""
    run(wasteful, "--ddb-sarif=ddb.sarif", "--ddb-fail-on=scan")
    [found] = json.loads((wasteful.path / "ddb.sarif").read_text())["runs"]
    results = {result["ruleId"]: result for result in found["results"]}
    assert {"scan", "write-loop", "would-throttle"} <= set(results)
    place = results["scan"]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("shop.py")
    assert place["region"] == {"startLine": 2}
    assert (results["scan"]["level"], results["write-loop"]["level"]) == ("error", "warning")
    assert "A Query of the table" in results["scan"]["message"]["text"]


def test_a_build_gets_its_summary(wasteful, monkeypatch):
    """ICH-83."""
    summary = wasteful.path / "summary"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    run(wasteful)
    text = summary.read_text()
    assert text.startswith("### DynamoDB in the tests\n")
    assert "| scan | shop.py:2 |" in text
    assert "| `test_it.py::test_hot` | 2 x " in text
    assert "| most expensive tests | read units | write units | calls |" in text


def test_findings_can_be_switched_off(wasteful):
    text = run(wasteful, "-o", "ddb_findings=off").stdout.str()
    assert "could be improved" not in text
    assert "1 test would have throttled:" in text


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--ddb-fail-on=scans",), "there is no finding 'scans'; there are throttle, would-*"),
        (
            ("--ddb-baseline=none.json",),
            "there is no baseline *none.json; create it: pytest --ddb-update-*",
        ),
        (("--ddb-baseline=shop.py",), "*shop.py is not a baseline of findings: expected JSON*"),
        (("--ddb-compare-fail=wcu",), "compare_fail: 'wcu' is not of the form FIELD:NUMBER*"),
        (("--ddb-compare=shop.py",), "*shop.py is not a record of budgets: it is not JSON"),
        (
            ("--ddb-compare=none.json",),
            "there is no record of budgets *none.json; create it: pytest --ddb-*",
        ),
    ],
)
def test_a_wrong_setting_of_findings_and_records_is_one_sentence(wasteful, arguments, sentence):
    result = run(wasteful, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: ddb: {sentence}"])


def test_a_wrong_kind_is_told_at_collection(project):
    project.makepyfile(
        """
        import pytest

        @pytest.mark.ddb_allow("scans")
        def test_it(): ...
        """
    )
    run(project).stdout.fnmatch_lines(["*@pytest.mark.ddb_allow: there is no finding 'scans'*"])


def test_a_test_that_runs_again_begins_anew(wasteful):
    wasteful.makeconftest(
        """
        from _pytest.runner import runtestprotocol

        def pytest_runtest_protocol(item, nextitem):
            for _ in range(2):
                reports = runtestprotocol(item, nextitem=nextitem, log=False)
            for report in reports:
                item.ihook.pytest_runtest_logreport(report=report)
            return True
        """
    )
    run(wasteful, "-k", "save", "--ddb-report=report.json", "--junitxml=junit.xml")
    [record] = json.loads((wasteful.path / "report.json").read_text())["tests"]
    assert record["write_units"] == 5
    [case] = ElementTree.parse(wasteful.path / "junit.xml").iter("testcase")
    assert len(list(case.iter("property"))) == 6


def test_what_tests_consumed_is_in_the_junit_file(wasteful):
    run(wasteful, "--junitxml=junit.xml")
    cases = ElementTree.parse(wasteful.path / "junit.xml").iter("testcase")
    of_save = next(case for case in cases if case.get("name") == "test_save")
    properties = {each.get("name"): each.get("value") for each in of_save.iter("property")}
    assert properties == {
        "ddb_calls": "5",
        "ddb_read_units": "0.0",
        "ddb_write_units": "5.0",
        "ddb_usd": "3.125",
        "ddb_throttles": "0",
        "ddb_findings": "write-loop",
    }


# Budgets by record

GROWN = WASTEFUL.replace("shop.save(table, 5)", "shop.save(table, 6)", 1)


def test_budgets_are_put_on_record_and_held(wasteful):
    run(wasteful, "--ddb-budget-update").assert_outcomes(passed=6)
    document = json.loads((wasteful.path / "ddb-budgets.json").read_text())
    assert (document["version"], len(document["tests"])) == (1, 6)
    assert document["tests"]["test_it.py::test_save"] == {
        "calls": 5,
        "lines": {"shop.py save PutItem orders": {"calls": 5, "rcu": 0, "wcu": 5}},
        "rcu": 0,
        "scans": 0,
        "wcu": 5,
    }
    run(wasteful).assert_outcomes(passed=6)

    wasteful.makepyfile(test_it=GROWN)
    run(wasteful, "--ddb-compare-fail=wcu:20%").assert_outcomes(passed=6)
    result = run(wasteful, "--ddb-compare-fail=wcu:5%")
    result.assert_outcomes(passed=5, failed=1)
    result.stdout.fnmatch_lines(
        [
            "this consumes more than ddb-budgets.json records:",
            "  6 write units: 5 on record, and 5 % more is allowed",
            "grown:",
            "  shop.py:10 in save: PutItem orders: 6 write units, 5 on record",
            "what to change:",
            "  write-loop at shop.py:10: PutItem orders 6 times, one by one; BatchWriteItem*",
            "if that is intended, record it: pytest --ddb-budget-update",
        ]
    )
    run(wasteful, "--ddb-budget-update", "-k", "save").assert_outcomes(passed=1, deselected=5)
    run(wasteful).assert_outcomes(passed=6)


def test_new_tests_pass_with_a_note_and_can_be_added_alone(wasteful):
    run(wasteful, "--ddb-budget-update", "-k", "save")
    path = wasteful.path / "ddb-budgets.json"
    before = json.loads(path.read_text())["tests"]
    run(wasteful).stdout.fnmatch_lines(["5 tests not on record: --ddb-budget-update-new adds them"])
    wasteful.makepyfile(test_it=GROWN)
    run(wasteful, "--ddb-budget-update-new").assert_outcomes(passed=6)
    after = json.loads(path.read_text())["tests"]
    assert len(after) == 6
    assert after["test_it.py::test_save"] == before["test_it.py::test_save"]


def test_what_fails_is_not_recorded_and_what_is_gone_is_forgotten(project):
    project.makepyfile(
        test_it="""
        def test_failing(ddb_table):
            ddb_table("orders").scan()
            assert False
        """,
        test_gone="def test_gone(ddb_client): ddb_client.list_tables()",
    )
    run(project, "--ddb-budget-update")
    path = project.path / "ddb-budgets.json"
    assert list(json.loads(path.read_text())["tests"]) == ["test_gone.py::test_gone"]
    (project.path / "test_gone.py").unlink()
    project.makepyfile(test_it="def test_it(ddb_client): ddb_client.list_tables()")
    run(project, "--ddb-budget-update")
    assert list(json.loads(path.read_text())["tests"]) == ["test_it.py::test_it"]

    project.makepyfile(test_it="def test_it(ddb_table): ddb_table('orders').scan()")
    result = run(project, "--ddb-compare-fail=scans:100%")
    result.stdout.fnmatch_lines(["  1 page of Scan: 0 on record, and 100 % more is allowed"])


# The guard


def test_the_guard_refuses_what_no_fixture_serves(project, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "any")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "any")
    project.makepyfile(
        """
        import boto3

        client = boto3.client("dynamodb", region_name="us-east-1")

        def test_forgotten():
            client.list_tables()

        def test_served(ddb):
            client.list_tables()

        def test_endpoint(ddb_endpoint):
            at = {"region_name": "us-east-1", "endpoint_url": ddb_endpoint}
            boto3.client("dynamodb", **at).list_tables()
        """
    )
    result = run(project, "-o", "ddb_guard=true")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        ["*ListTables was about to be sent to dynamodb.us-east-1.amazonaws.com, and no fixture*"]
    )


def test_nobody_is_asked_for_credentials_where_the_guard_stands(project, monkeypatch):
    """Neither while modules are imported, when it does not stand yet, nor by a test."""
    attempts = []

    def refuse(*address):
        attempts.append(address)
        raise OSError("no network in this test")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_EC2_METADATA_DISABLED"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, "/dev/null")
    monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/credentials")
    making = "boto3.session.Session().client('dynamodb', region_name='us-east-1')"
    project.makeconftest(f"import boto3\n{making}")
    project.makepyfile(
        f"""
        import os

        import boto3

        client = {making}

        def test_forgotten():
            client.list_tables()

        def test_made_here():
            {making}.list_tables()

        def test_other_services_may_ask():
            assert "AWS_EC2_METADATA_DISABLED" not in os.environ
            assert "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI" in os.environ
        """
    )
    result = run(project, "-o", "ddb_guard=true")
    result.assert_outcomes(passed=1, failed=2)
    assert attempts == []


def test_a_debugger_says_where_the_console_of_the_test_is(project):
    project.makepyfile(
        """
        import sys

        def test_pdb(ddb_endpoint, request):
            request.config.hook.pytest_enter_pdb(config=request.config, pdb=None)

        def test_editor(monkeypatch, request):
            monkeypatch.setitem(sys.modules, "debugpy", sys)
            request.getfixturevalue("ddb_endpoint")

        def test_no_server(ddb, request):
            request.config.hook.pytest_enter_pdb(config=request.config, pdb=None)
        """
    )
    result = run(project)
    result.assert_outcomes(passed=3)
    lines = [line for line in result.outlines if "the console of this test is" in line]
    assert len(lines) == 2
    assert all(
        line.startswith("dynamometer: the console of this test is at http://") for line in lines
    )


def test_a_design_that_needs_an_extra_says_which(project, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    (project.path / "template.yaml").write_text("")
    project.makepyfile(
        """
        import pytest

        @pytest.mark.ddb(tables="template.yaml")
        def test_it(): ...
        """
    )
    result = run(project)
    result.assert_outcomes(errors=1)
    sentence = "reading it needs the module yaml: pip install 'dynamometer[[]designs]'"
    result.stdout.fnmatch_lines([f"{project.path / 'template.yaml'}: {sentence}"])
    assert "Traceback" not in result.stdout.str()
    assert "another exception" not in result.stdout.str()


# Templates


def test_a_template_is_built_once_and_every_test_finds_it_whole(project):
    project.makeconftest(
        """
        import boto3
        import pytest

        @pytest.fixture(scope="session")
        def ddb_template(ddb_build):
            template = ddb_build(tables=[{
                "TableName": "orders",
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
            }])
            with template as emu:
                assert emu.capacity == "off"
                for number in range(20):
                    boto3.resource("dynamodb").Table("orders").put_item(Item={"pk": str(number)})
                emu.clock.advance(3600)
            return template
        """
    )
    project.makepyfile(
        """
        import pytest

        @pytest.mark.ddb(capacity="enforce")
        @pytest.mark.parametrize("number", [1, 2, 3])
        def test_whole(ddb, ddb_clock, number):
            assert ddb_clock.now() == 1767225600 + 3600
            table = ddb.table("orders")
            assert table.scan()["Count"] == 20
            table.delete_item(Key={"pk": "1"})
            assert table.scan()["Count"] == 19
        """
    )
    run(project).assert_outcomes(passed=3)


def test_tables_and_data_come_from_files_named_in_markers_or_in_the_ini_file(project):
    (project.path / "main.tf").write_text(
        """
        resource "aws_dynamodb_table" "orders" {
          name         = "orders"
          billing_mode = "PAY_PER_REQUEST"
          hash_key     = "pk"
          attribute {
            name = "pk"
            type = "S"
          }
        }
        """
    )
    (project.path / "orders.jsonl").write_text('{"pk": {"S": "a"}}\n{"Item": {"pk": {"S": "b"}}}\n')
    project.makepyfile(
        test_marked="""
        import pytest

        @pytest.mark.ddb(tables="main.tf", seed="orders.jsonl")
        def test_marked(ddb):
            assert ddb.table("orders").scan()["Count"] == 2

        @pytest.mark.ddb(tables="main.tf", seed={"orders": [{"pk": "c", "n": 1}]})
        def test_values(ddb):
            assert ddb.table("orders").get_item(Key={"pk": "c"})["Item"]["n"] == 1

        @pytest.mark.ddb(tables=lambda emu: emu.call("CreateTable", {
            "TableName": "made",
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "BillingMode": "PAY_PER_REQUEST",
        }))
        def test_code(ddb):
            assert ddb.call("ListTables", {}) == {"TableNames": ["made"]}
        """,
        test_ini="""
        def test_ini(ddb):
            assert ddb.table("orders").scan()["Count"] == 2
        """,
    )
    run(project, "test_marked.py").assert_outcomes(passed=3)
    project.makeini(INI + "ddb_tables = main.tf\nddb_seed = orders.jsonl")
    run(project, "test_ini.py").assert_outcomes(passed=1)


# Beside other plugins


def test_asynchronous_tests_are_served_too(project):
    project.makepyfile(
        """
        import boto3
        import pytest
        from aiobotocore.session import get_session

        async def test_asyncio(ddb, ddb_table):
            ddb_table("orders")
            async with get_session().create_client("dynamodb") as client:
                assert (await client.list_tables())["TableNames"] == ["orders"]

        @pytest.mark.ddb_budget(rcu=1)
        async def test_budget(ddb_table):
            ddb_table("orders").get_item(Key={"pk": "a"})
        """
    )
    run(project).assert_outcomes(passed=2)
    project.makepyfile(
        test_anyio="""
        import boto3
        import pytest

        pytestmark = pytest.mark.anyio

        @pytest.fixture
        def anyio_backend():
            return "asyncio"

        async def test_anyio(ddb_table):
            ddb_table("orders")
            assert boto3.client("dynamodb").list_tables()["TableNames"] == ["orders"]
        """
    )
    plugins = ("-p", "no:asyncio", "-p", "anyio")
    run(project, *plugins, "-o", "addopts=", "test_anyio.py").assert_outcomes(passed=1)


def test_fixtures_may_be_overridden_and_have_a_wider_scope(project):
    project.makeini(INI + "ddb_scope = module")
    project.makepyfile(
        test_scope="""
        import pytest

        @pytest.fixture(scope="module")
        def orders(ddb_table):
            return ddb_table("orders", items=[{"pk": "a"}])

        def test_one(orders):
            orders.put_item(Item={"pk": "b"})

        @pytest.mark.ddb_budget(wcu=1)
        def test_two(orders):
            assert orders.scan()["Count"] == 2
            orders.put_item(Item={"pk": "c"})
        """,
        test_override="""
        import pytest

        @pytest.fixture(scope="module")
        def ddb(ddb):
            ddb.call("ListTables", {})
            yield ddb

        def test_it(ddb, ddb_client):
            assert ddb_client.list_tables()["TableNames"] == []
        """,
    )
    run(project).assert_outcomes(passed=3)


def test_any_order_of_tests_gives_the_same_results(project):
    pytest.importorskip("pytest_randomly")
    project.makepyfile(test_it=COSTLY, shop=SHOP)
    for seed in (1, 2):
        result = project.runpytest_inprocess("-p", "no:cacheprovider", f"--randomly-seed={seed}")
        result.assert_outcomes(passed=3)


def test_loading_the_plugin_loads_neither_the_engine_nor_boto3(project):
    project.makepyfile("def test_it(): ...")
    script = """
import sys
import pytest

class Check:
    def pytest_unconfigure(self):
        heavy = ("boto", "botocore", "mmh3", "sortedcontainers", "hypothesis", "emulator")
        print("LOADED", sorted(m for m in sys.modules if m.split(".")[0] in heavy))

others = ("hypothesispytest", "cacheprovider", "randomly", "asyncio", "anyio", "pytest_cov")
sys.exit(pytest.main(["-q", *("-pno:" + name for name in others)], [Check()]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "LOADED []"


# Races


RACE = """
    from emulator.testing import every_interleaving

    def test_visits(ddb, ddb_table):
        visits = ddb_table("visits", "page")

        def visit():
            seen = visits.get_item(Key={"page": "home"}).get("Item", {"n": 0})["n"]
            visits.put_item(Item={"page": "home", "n": seen + 1})

        runs = [run.schedule for run in every_interleaving(ddb, visit, visit)]
        assert ddb.call("Scan", {"TableName": "visits"})["Count"] == 0
        print("played", *runs)
        assert runs == []
"""


def test_a_failing_test_shows_the_last_run_that_it_played(project):
    project.makepyfile(RACE)
    result = run(project)
    result.stdout.fnmatch_lines(
        ["played aabb bbaa *", "*dynamometer: the last run*", "*PutItem visits home*"]
    )
    result.stdout.fnmatch_lines(["play it again: pytest --ddb-schedule 'bba~a'"])


def test_one_schedule_can_be_played_again(project):
    project.makepyfile(RACE)
    run(project, "--ddb-schedule", "abba").stdout.fnmatch_lines(["played abba"])


UNREAD = """
    import pytest

    @pytest.fixture
    def orders(ddb_table):
        return ddb_table("orders", indexes={"by_status": "status"})

    def test_write(orders):
        orders.put_item(Item={"pk": "a", "status": "open"})

    def test_other(orders):
        orders.get_item(Key={"pk": "a"})
"""
READ = """
    def test_read(orders):
        orders.scan(IndexName="by_status")
"""
SKIPPED = """
    @pytest.mark.skip
    def test_skipped(orders): ...
"""


def test_an_index_that_no_test_of_a_whole_suite_reads_is_named_with_a_line(project):
    project.makepyfile(test_it=UNREAD)
    result = project.runpytest("-p", "dynamometer")
    result.stdout.fnmatch_lines(
        [
            "unread-index at test_it.py:8: no test reads orders.by_status, and 1 write unit went *",
            "  drop it, or test the query that needs it",
        ]
    )


@pytest.mark.parametrize(
    ("more", "options"),
    [(READ, ()), (SKIPPED, ()), ("", ("-k", "write")), ("", ("test_it.py",))],
    ids=["read", "skipped", "deselected", "named"],
)
def test_an_index_may_be_unread_by_a_part_of_the_tests(project, more, options):
    project.makepyfile(test_it=UNREAD + more)
    result = project.runpytest("-p", "dynamometer", *options)
    assert "unread-index" not in result.stdout.str()
