"""The command line: exit codes, one sentence for wrong usage, and ``serve`` from start to end."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import types
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from emulator import __version__
from emulator.__main__ import main
from emulator.http.local_command_line import DATABASE_FILE

SIGNED = {
    "Content-Type": "application/x-amz-json-1.0",
    "X-Amz-Date": "20260101T000000Z",
    "Authorization": "AWS4-HMAC-SHA256 Credential=K/20260101/eu-west-1/dynamodb/aws4_request, "
    "SignedHeaders=host, Signature=00",
}
TABLE = {
    "TableName": "orders",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}


@contextlib.contextmanager
def running(*arguments):
    """Run the command in a process of its own; yield it and the URL it announces."""
    command = [sys.executable, "-m", "emulator", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            announced = (line.split() for line in process.stdout)
            words = next(words for words in announced if "answers" in words)
            yield process, next(word for word in words if word.startswith("http://"))
        finally:
            process.kill()


def call(url, operation, request):
    fields = SIGNED | {"X-Amz-Target": f"DynamoDB_20120810.{operation}"}
    body = json.dumps(request).encode()
    with urllib.request.urlopen(urllib.request.Request(url, body, fields), timeout=10) as answer:
        return json.loads(answer.read())


def control(url, route, members=None):
    body = None if members is None else json.dumps(members).encode()
    with urllib.request.urlopen(f"{url}/_emulator/{route}", body, timeout=10) as answer:
        return json.loads(answer.read())


def stop(process, number=signal.SIGTERM):
    process.send_signal(number)
    return process.wait(10)


@pytest.mark.parametrize("arguments", [["--version"], ["-version"], ["serve", "-version"]])
def test_the_version_is_told(arguments, capsys):
    assert main(arguments) == 0
    assert capsys.readouterr().out == f"dynamometer {__version__}\n"


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["serve", "--help"], ["-help"]])
def test_help_teaches_with_examples(arguments, capsys):
    assert main(arguments) == 0
    assert "examples:\n  dynamometer serve" in capsys.readouterr().out


def test_help_lists_a_command_once(capsys):
    assert main(["--help"]) == 0
    assert capsys.readouterr().out.count("compare key designs under a workload") == 1


def test_the_help_of_serve_tells_the_defaults(capsys):
    assert main(["serve", "--help"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    for default in ("this machine only", "8000", "us-east-1", "000000000000", "0"):
        assert f"default: {default}" in told
    for choice in ("observe", "today's", "system", "local"):
        assert f"{choice} (default)" in told


def test_neither_version_nor_help_loads_the_engine():
    code = (
        "import sys; from emulator.__main__ import main; main(['--version']); main(['--help']);"
        "print(sorted(name for name in sys.modules if name.startswith('emulator')))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert shown.stdout.splitlines()[-1] == (
        "['emulator', 'emulator.__main__', 'emulator.command_line', 'emulator.http',"
        " 'emulator.http.local_command_line', 'emulator.http.session_options', 'emulator.service',"
        " 'emulator.service.catalogue',"
        " 'emulator.service.errors', 'emulator.service.wording']"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["fly"],
        ["serve", "--port", "x"],
        ["serve", "--port", "65536"],
        ["serve", "--port", "-1"],
        ["serve", "--account-id", "12"],
        ["serve", "--capacity", "some"],
        ["serve", "--table-delay", "soon"],
        ["serve", "--table-delay", "nan"],
        ["serve", "--memory", "much"],
        ["serve", "--snapshot", "/nowhere/at/all/file"],
        ["serve", "--s3", "/nowhere/at/all"],
        ["serve", "--import", "/nowhere/at/all"],
        ["serve", "-dbPath", "/nowhere/at/all"],
        ["serve", "--report", "/nowhere/at/all.html"],
        ["serve", "--report", "report.pdf"],
        ["serve", "--report", "/"],
        ["serve", "--budget", "/nowhere/at/all.yaml"],
        ["serve", "--fail-on", "budget"],
        ["serve", "--fail-on", "sin"],
        ["serve", "--rate", "0"],
        ["serve", "--rate", "fast"],
        ["serve", "--rate", "5", "--clock", "manual"],
        ["serve", "--rate", "5", "--capacity", "enforce"],
        ["serve", "-inMemory", "-dbPath", "."],
        ["serve", "--por", "1"],
        ["serve", "--host", "no.such.host.invalid", "--port", "0"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_told_in_one_sentence(arguments, capsys):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("dynamometer: ")
    assert err.count("\n") == 1


def test_a_taken_port_is_told(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        assert main(["serve", "--port", str(port)]) == 2

    assert capsys.readouterr().err == (
        f"dynamometer: port {port} is taken on 127.0.0.1; choose another with --port\n"
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_serve_answers_until_it_is_told_to_stop(number):
    with running("serve", "--port", "0", "--region", "eu-west-1") as (process, url):
        assert call(url, "ListTables", {}) == {"TableNames": []}
        with urllib.request.urlopen(url, timeout=10) as health:
            assert health.read() == b"healthy: dynamodb.eu-west-1.amazonaws.com "

        assert stop(process, number) == 0
        assert process.stderr.read() == ""


def test_a_second_signal_ends_it_at_once():
    with running("serve", "--port", "0") as (process, url):
        host, _, port = url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port))) as client:
            client.sendall(b"GET / HTTP/1.1\r\n")
            call(url, "ListTables", {})  # the server has read the beginning by now
            process.send_signal(signal.SIGINT)
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.5)

            assert stop(process, signal.SIGINT) == 130
        assert process.stderr.read() == ""


def test_serve_logs_what_has_no_effect():
    """WIR-15."""
    with running("serve", "--port", "0") as (process, url):
        call(url, "CreateTable", TABLE | {"Colour": "red"})
        assert stop(process) == 0
        assert process.stderr.read() == (
            "dynamometer: CreateTable: Colour is no member that this emulator knows, and has no "
            "effect: see docs/reference/operations.md\n"
        )


def test_serve_takes_its_options():
    arguments = ("--port=0", "--clock=manual", "--table-delay=60", "--account-id=111122223333")
    with running("serve", *arguments) as (process, url):
        call(url, "CreateTable", TABLE)
        states = []
        for seconds in (0, 61):
            control(url, "clock", {"advance": seconds})
            described = call(url, "DescribeTable", {"TableName": "orders"})
            states.append(described["Table"]["TableStatus"])

        assert states == ["CREATING", "ACTIVE"]
        arn = described["Table"]["TableArn"]
        assert arn == "arn:aws:dynamodb:eu-west-1:111122223333:table/orders"
        assert stop(process) == 0


def test_serve_may_be_called_as_dynamodb_local_is():
    """As a launcher does: it joins by the port, and takes the server for ready by its lines."""
    java = ["-Xms64m", "-Djava.library.path=./DynamoDBLocal_lib", "-jar", "DynamoDBLocal.jar"]
    local = [*java, "-port", "0", "-inMemory", "-sharedDb", "-disableTelemetry", "-cors", "*"]
    with running(*local, "-delayTransientStatuses", "-optimizeDbBeforeStartup") as (process, url):
        call(url, "CreateTable", TABLE)
        elsewhere = SIGNED | {
            "Authorization": SIGNED["Authorization"].replace("eu-west", "us-east")
        }
        fields = elsewhere | {"X-Amz-Target": "DynamoDB_20120810.ListTables"}
        with urllib.request.urlopen(urllib.request.Request(url, b"{}", fields)) as answer:
            assert json.loads(answer.read()) == {"TableNames": ["orders"]}
        with pytest.raises(urllib.error.HTTPError, match="400"):
            urllib.request.urlopen(url, timeout=10)

        assert stop(process) == 0


def test_serve_reports_on_the_tests_that_used_it(tmp_path):
    """In any language: it fails by its budget, ends by a route, and a few calls show no hot key."""
    (tmp_path / "budgets.yaml").write_text("TestOrders: {wcu: 1}\nTestGone: {rcu: 1}\n")
    report = tmp_path / "report.json"
    judged = ("--budget", str(tmp_path / "budgets.yaml"), "--rate", "50")
    with running("serve", "--port", "0", "--report", str(report), *judged) as (process, url):
        call(url, "CreateTable", TABLE)
        control(url, "tests", {"begin": "TestOrders"})
        for _ in range(2):
            call(url, "PutItem", {"TableName": "orders", "Item": {"pk": {"S": "a"}}})
        assert len(control(url, "tests", {"end": "TestOrders"})["failures"]) == 1
        assert control(url, "stop", {}) == {}
        assert process.wait(10) == 1
        said = process.stdout.read()
    assert "throttle from" not in said  # of two calls
    assert "FAILED TestOrders\n  2 write units were consumed, and the budget is 1\n" in said
    assert "no test was called TestGone: its budget was not looked at\n" in said
    tests = {test["test"]: test["rate"] for test in json.loads(report.read_text())["tests"]}
    assert tests == {"TestOrders": 50.0, "K/eu-west-1": 50.0}


def test_serve_ends_with_2_if_a_budget_is_of_no_test(tmp_path):
    """A misspelt name must not hide a budget."""
    (tmp_path / "budgets.yaml").write_text("TestGone: {rcu: 1}\n")
    with running("serve", "--port", "0", "--budget", str(tmp_path / "budgets.yaml")) as (
        process,
        url,
    ):
        call(url, "ListTables", {})
        assert stop(process) == 2
        assert "no test was called TestGone" in process.stdout.read()


@pytest.mark.parametrize("words", [["-foo"], ["-jar", "DynamoDBLocal.jar", "-foo", "-sharedDb"]])
def test_another_flag_of_one_dash_ends_with_2(words, capsys):
    """DynamoDB Local complains in these words and ends with 0, which hides that it did not run."""
    assert main(words) == 2
    said = "Error while parsing options. Unrecognized option: -foo\n"
    assert capsys.readouterr() == ("", said)


def test_a_folder_of_another_owner_is_told_before_anything_is_served(tmp_path, capsys, monkeypatch):
    """Root may write everywhere, so the system's answer is made up."""
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr(os, "getuid", lambda: 10001)
    assert main(["-dbPath", str(tmp_path), "-port", "0"]) == 2
    owner = tmp_path.stat().st_uid
    assert capsys.readouterr() == (
        "",
        f"dynamometer: {tmp_path} belongs to user {owner}, and user 10001 cannot write there: run "
        f"as its owner (in a container: --user {owner}), or give it away (chown 10001)\n",
    )


def test_keys_are_apart_and_the_log_says_where_a_table_is():
    options = ("--namespace-idle", "60", "--memory", "64MB", "--log")
    with running("serve", "--port", "0", *options) as (process, url):
        call(url, "CreateTable", TABLE)
        other = SIGNED["Authorization"].replace("Credential=", "Credential=other")
        fields = SIGNED | {"Authorization": other, "X-Amz-Target": "DynamoDB_20120810.Scan"}
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(urllib.request.Request(url, b'{"TableName": "orders"}', fields))
        refused.value.close()
        assert stop(process) == 0
        assert "; table orders is in " in process.stdout.read()


def test_the_console_is_announced_and_the_end_says_what_throttled():
    arguments = ("serve", "--port", "0", "--console", "read-only", "--clock", "manual")
    units = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    provisioned = {name: value for name, value in TABLE.items() if name != "BillingMode"}
    with running(*arguments) as (process, url):
        call(url, "CreateTable", provisioned | {"ProvisionedThroughput": units})
        for _ in range(2):
            call(url, "PutItem", {"TableName": "orders", "Item": {"pk": {"S": "a"}}})
        assert control(url, "console/state")["console"] == "read-only"
        assert stop(process) == 0
        assert process.stdout.read().splitlines() == [
            f"console: open {url} in a browser",
            "consumed 0 read and 1 write units: $0.000065",
            "would have throttled:",
            "  1 write of orders in K/eu-west-1: provisioned capacity is used up "
            "(TableWriteProvisionedThroughputExceeded)",
        ]


def test_an_address_that_others_reach_is_pointed_out():
    named = ("--allow-host", "dynamodb", "--allow-host", "db")
    with running("serve", "--host", "0.0.0.0", "--port", "0", *named) as (process, url):
        for host, status in (("dynamodb:8000", 200), ("db", 200), ("evil.example", 403)):
            asked = urllib.request.Request(f"{url}/_emulator/health", headers={"Host": host})
            try:
                with urllib.request.urlopen(asked, timeout=10) as answer:
                    assert answer.status == status
            except urllib.error.HTTPError as refusal:
                refusal.close()
                assert refusal.code == status
        assert stop(process) == 0
        assert process.stderr.read() == (
            f"dynamometer: anyone who can reach {url} can read and change this data\n"
        )


@pytest.mark.parametrize("named", [("--snapshot", DATABASE_FILE), ("-dbPath", "")])
def test_a_snapshot_is_saved_and_loaded(tmp_path, named):
    option, name = named
    path = tmp_path / DATABASE_FILE
    arguments = ("serve", "--port", "0", "--console", "off", option, str(tmp_path / name))
    item = {"TableName": "orders", "Item": {"pk": {"S": "a"}}}
    with running(*arguments) as (process, url):
        call(url, "CreateTable", TABLE)
        call(url, "PutItem", item)
        assert stop(process) == 0
        assert process.stdout.read().splitlines() == [
            "consumed 0 read and 1 write units: $0.000000625",
            "nothing would throttle",
            f"saved {path}",
        ]

    with running(*arguments) as (process, url):
        read = call(url, "GetItem", {"TableName": "orders", "Key": item["Item"]})
        assert read == {"Item": item["Item"]}
        assert stop(process) == 0


def test_exports_go_to_a_folder_and_come_from_it(tmp_path):
    """S3X-1, S3X-6: what one server has exported, another begins with."""
    (tmp_path / "bucket").mkdir()
    served = ("serve", "--port", "0", "--region", "eu-west-1")
    with running(*served, "--s3", str(tmp_path)) as (process, url):
        arn = call(url, "CreateTable", TABLE)["TableDescription"]["TableArn"]
        call(url, "PutItem", {"TableName": "orders", "Item": {"pk": {"S": "a"}}})
        spec = {"PointInTimeRecoveryEnabled": True}
        recovery = {"TableName": "orders", "PointInTimeRecoverySpecification": spec}
        call(url, "UpdateContinuousBackups", recovery)
        call(url, "ExportTableToPointInTime", {"TableArn": arn, "S3Bucket": "bucket"})
        stop(process)

    folder = tmp_path / "bucket" / "AWSDynamoDB"
    with running(*served, "--import", str(folder)) as (process, url):
        said = next(line for line in process.stdout if line.startswith("imported"))
        assert said == "imported 1 items into orders, whose key is taken to be pk\n"
        read = call(url, "GetItem", {"TableName": "orders", "Key": {"pk": {"S": "a"}}})
        assert read == {"Item": {"pk": {"S": "a"}}}
        stop(process)


def test_a_damaged_snapshot_is_refused_and_kept(tmp_path, capsys):
    path = tmp_path / "data.snapshot"
    path.write_bytes(b"not a snapshot")

    assert main(["serve", "--port", "0", "--snapshot", str(path)]) == 2

    assert capsys.readouterr().err.startswith(f"dynamometer: {path} cannot be loaded: ")
    assert path.read_bytes() == b"not a snapshot"


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_snapshot_that_cannot_be_saved_fails(tmp_path):
    with running("serve", "--port", "0", "--snapshot", str(tmp_path / "data")) as (process, _url):
        tmp_path.chmod(0o500)
        assert stop(process) == 1


@pytest.mark.parametrize("name", ["lab", "check"])
def test_the_other_commands_live_in_rooms_of_their_own(name, monkeypatch):
    command = types.ModuleType(f"emulator.{name}.command")
    setattr(command, f"add_{name}_arguments", lambda parser: parser.add_argument("file"))
    setattr(command, f"run_{name}", lambda given: len(given.file))
    monkeypatch.setitem(sys.modules, f"emulator.{name}.command", command)

    assert main([name, "abc"]) == 3


@pytest.mark.parametrize(
    ("missing", "sentence"),
    [
        ("emulator.lab.command", "this version comes without 'lab'"),
        ("numpy", "'lab' needs the module numpy: pip install 'dynamometer[lab]'"),
    ],
)
def test_a_missing_lab_is_told(missing, sentence, monkeypatch, capsys):
    def refuse(_name):
        raise ModuleNotFoundError(name=missing)

    monkeypatch.setattr("emulator.__main__.importlib.import_module", refuse)

    assert main(["lab"]) == 2
    assert capsys.readouterr().err == f"dynamometer: {sentence}\n"


def test_the_console_command_is_this_one():
    project = (Path(__file__).parents[1] / "pyproject.toml").read_text()

    assert 'dynamometer = "emulator.__main__:main"' in project
