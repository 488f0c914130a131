"""The console in a browser, driven while an application works with the same server."""

from __future__ import annotations

import http.server
import json
import threading
import urllib.request
from contextlib import contextmanager

import boto3
import pytest
from botocore.config import Config

from emulator import Emulator, ManualClock, Settings
from emulator.http import ServerOptions, ServerThread
from tests.browser.webdriver import REBOUND_NAME

HOSTILE = "<img src=x onerror=\"document.title='owned'\">"
HERE = "*/us-east-1"
VIEWS = ("overview", "live", "items", "table", "requests", "controls")
TABLE = {
    "TableName": "orders",
    "AttributeDefinitions": [
        {"AttributeName": "customer", "AttributeType": "S"},
        {"AttributeName": "created", "AttributeType": "S"},
        {"AttributeName": "status", "AttributeType": "S"},
    ],
    "KeySchema": [
        {"AttributeName": "customer", "KeyType": "HASH"},
        {"AttributeName": "created", "KeyType": "RANGE"},
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "byStatus",
            "KeySchema": [{"AttributeName": "status", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
    "BillingMode": "PAY_PER_REQUEST",
}


@contextmanager
def serving(emulator=None, *, host="127.0.0.1", tables=(TABLE,), **options):
    """Serve an emulator with some tables."""
    emulator = emulator or Emulator()
    for table in tables:
        emulator.call("CreateTable", table)
    quick = {"grace_seconds": 1.0, "drain_seconds": 0.02}
    with ServerThread(emulator, host, options=ServerOptions(**quick, **options)) as server:
        yield server


@pytest.fixture
def server():
    with serving() as running:
        yield running


def client_of(server):
    return boto3.client(
        "dynamodb",
        endpoint_url=server.endpoint_url,
        region_name="us-east-1",
        aws_access_key_id="any",
        aws_secret_access_key="any",
        config=Config(retries={"max_attempts": 0}),
    )


def address(server, view, table="orders", namespace=HERE, index=None):
    chosen = f"namespace={namespace}&table={table}" + (f"&index={index}" if index else "")
    return f"{server.endpoint_url}/#/{view}?{chosen}"


def order(customer, created="2026-11-17", **attributes):
    named = {name: {"S": value} for name, value in attributes.items()}
    return {"customer": {"S": customer}, "created": {"S": created}, **named}


@contextmanager
def load(work):
    """Do some work again and again in a thread, until the block ends."""
    ended = threading.Event()

    def go_on():
        number = 0
        while not ended.wait(0.01):
            work(number)
            number += 1

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def button(browser, label, within="document"):
    """Return the button with this label, as soon as it is there."""
    return browser.wait_until(
        f"[...{within}.querySelectorAll('button')].find((b) => b.textContent === arguments[0])",
        label,
    )


def field(browser, label):
    """Return the control that a label, or an aria-label, names."""
    return browser.wait_until(
        """[...document.querySelectorAll('label')].find((l) => l.textContent === arguments[0])
            ?.control ?? document.querySelector(`[aria-label="${arguments[0]}"]`)""",
        label,
    )


def set_value(browser, control, value):
    """Give a control another value, as a reader does who pastes it."""
    browser.run(
        """arguments[0].value = arguments[1];
        for (const name of ["input", "change"])
          arguments[0].dispatchEvent(new Event(name, { bubbles: true }));""",
        control,
        value,
    )


def wait_for_text(browser, text, selector="main"):
    """Wait until a part of the page says something."""
    browser.wait_until(
        "document.querySelector(arguments[0])?.innerText.includes(arguments[1])", selector, text
    )


# While an application works


def test_a_hot_key_shows_as_the_hottest_and_a_throttle_with_its_reason(browser):
    units = {"ReadCapacityUnits": 50, "WriteCapacityUnits": 5}
    index = TABLE["GlobalSecondaryIndexes"][0] | {"ProvisionedThroughput": units}
    provisioned = {
        **{name: value for name, value in TABLE.items() if name != "BillingMode"},
        "ProvisionedThroughput": units,
        "GlobalSecondaryIndexes": [index],
    }
    emulator = Emulator(capacity="enforce")
    with serving(emulator, tables=[provisioned]) as server:
        client = client_of(server)

        def work(number):
            customer = "hot" if number % 3 else f"cold{number}"
            try:
                client.put_item(TableName="orders", Item=order(customer, str(number)))
            except client.exceptions.ProvisionedThroughputExceededException:
                return

        browser.open(address(server, "live"))
        with load(work):
            wait_for_text(browser, "TableWriteProvisionedThroughputExceeded")
            browser.wait_until(
                "document.querySelector('[aria-label=\"Hottest partition keys\"] tbody td')"
                "?.textContent === 'hot'"
            )
            wait_for_text(browser, "provisioned capacity is used up")
            browser.wait_until("document.querySelector('.chart path.t0, .chart path.t1')")
            assert browser.find(".tile .m-bad").text != "0"
            browser.open(address(server, "requests"))
            wait_for_text(browser, "ProvisionedThroughputExceededException")
            wait_for_text(browser, "provisioned capacity is used up")


def test_a_split_shows_as_a_new_row(browser):
    emulator = Emulator(settings=Settings(partition_bytes=20_000))
    units = {"ReadCapacityUnits": 50, "WriteCapacityUnits": 50}
    table = {
        "TableName": "orders",
        "AttributeDefinitions": [{"AttributeName": "customer", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "customer", "KeyType": "HASH"}],
        "ProvisionedThroughput": units,
    }
    with serving(emulator, tables=[table]) as server:
        client = client_of(server)
        labels = "[...document.querySelectorAll('.chart .tick.end')].map((t) => t.textContent)"
        browser.open(address(server, "live"))
        browser.wait_until(f"{labels}.includes('P0')")
        for number in range(30):
            item = {"customer": {"S": str(number)}, "note": {"S": "x" * 1000}}
            client.put_item(TableName="orders", Item=item)
        browser.wait_until(f"{labels}.includes('P1') && {labels}.includes('P2')", seconds=20)
        browser.wait_until("document.querySelector('.chart .splitdot')")
        wait_for_text(browser, "partition P0 was split into P1 and P2, for size")


def test_the_log_has_receipts_and_is_filtered_and_paused(server, browser):
    client = client_of(server)
    browser.open(address(server, "requests"))
    wait_for_text(browser, "requests")
    browser.wait_until("document.querySelector('.badge.fine')")
    client.put_item(TableName="orders", Item=order("ada"))
    client.query(
        TableName="orders",
        KeyConditionExpression="customer = :c",
        ExpressionAttributeValues={":c": {"S": "ada"}},
    )
    rows = "[...document.querySelectorAll('table.log tbody tr')].map((r) => r.innerText)"
    browser.wait_until(f"{rows}.length === 2")
    query, put = [row.split("\t") for row in browser.run(f"return {rows}")]
    assert (put[1], put[2].strip(), put[3]) == ("PutItem", "orders", "ada · 2026-11-17")
    assert (put[5], put[7], put[9]) == ("1", "1", "ok")
    assert (query[1], query[4]) == ("Query", "0.5")
    set_value(browser, field(browser, "Filter"), "put ada")
    assert len(browser.run(f"return {rows}")) == 1
    set_value(browser, field(browser, "Filter"), "")
    button(browser, "Pause").click()
    client.put_item(TableName="orders", Item=order("bob"))
    wait_for_text(browser, "paused, 1 new")
    assert len(browser.run(f"return {rows}")) == 2
    button(browser, "Resume").click()
    assert len(browser.run(f"return {rows}")) == 3


# Items


def test_an_item_is_edited_in_the_page_and_read_back_through_boto3(server, browser):
    client = client_of(server)
    client.put_item(TableName="orders", Item=order("ada", total="12"))
    key = {"customer": {"S": "ada"}, "created": {"S": "2026-11-17"}}
    browser.open(address(server, "items"))
    button(browser, "Open").click()
    text = browser.wait_until("document.querySelector('dialog textarea')")
    item = json.loads(browser.run("return arguments[0].value", text))
    assert item == {"customer": "ada", "created": "2026-11-17", "total": "12"}
    set_value(browser, text, json.dumps(item | {"total": 13, "tags": ["a", None, True]}))
    button(browser, "Save").click()
    wait_for_text(browser, "The item was saved.")
    read = client.get_item(TableName="orders", Key=key)["Item"]
    assert read["total"] == {"N": "13"}
    assert read["tags"] == {"L": [{"S": "a"}, {"NULL": True}, {"BOOL": True}]}

    button(browser, "New item").click()
    text = browser.wait_until("document.querySelector('dialog textarea')")
    set_value(browser, text, '{"customer": "ada", "created": "2026-11-17"}')
    button(browser, "Save").click()
    wait_for_text(browser, "ConditionalCheckFailedException", "dialog")
    set_value(browser, text, '{"customer": "bob"}')
    button(browser, "Save").click()
    wait_for_text(browser, "Missing the key created in the item", "dialog")
    set_value(browser, text, "{")
    button(browser, "Save").click()
    wait_for_text(browser, "This is not JSON", "dialog")
    button(browser, "Close").click()

    button(browser, "Open").click()
    button(browser, "Delete").click()
    button(browser, "Really delete").click()
    wait_for_text(browser, "The item was deleted.")
    assert "Item" not in client.get_item(TableName="orders", Key=key)


def test_a_set_keeps_its_type_in_the_editor(server, browser):
    client = client_of(server)
    item = order("ada") | {"tags": {"SS": ["a", "b"]}, "big": {"N": "1" * 30}}
    client.put_item(TableName="orders", Item=item)
    browser.open(address(server, "items"))
    button(browser, "Open").click()
    text = browser.wait_until("document.querySelector('dialog textarea')")
    assert json.loads(browser.run("return arguments[0].value", text)) == item
    button(browser, "JSON").click()
    wait_for_text(browser, "need DynamoDB JSON", "dialog")
    button(browser, "Save").click()
    wait_for_text(browser, "The item was saved.")
    assert client.scan(TableName="orders")["Items"] == [item]


def test_the_builder_shows_expression_units_waste_and_code(server, browser):
    client = client_of(server)
    for number in range(8):
        status = "open" if number % 4 == 0 else "paid"
        client.put_item(
            TableName="orders", Item=order("ada", f"2026-11-{number:02d}", status=status)
        )
    browser.open(address(server, "items"))
    wait_for_text(browser, "Scan")
    set_value(browser, field(browser, "customer: value"), "ada")
    set_value(browser, field(browser, "created: condition"), "begins_with")
    set_value(browser, field(browser, "created: value"), "2026-11")
    button(browser, "Add a filter").click()
    set_value(browser, field(browser, "Filter: attribute"), "status")
    set_value(browser, field(browser, "Filter: value"), "open")
    button(browser, "Run").click()
    wait_for_text(browser, "2 items", ".receipt")
    receipt = browser.find(".receipt").text
    assert receipt.startswith("Query")
    assert "0.5 read units" in receipt
    assert "the filter threw away 6 of 8 items read (75 %)" in receipt
    assert "#n0 = :v0 AND begins_with(#n1, :v1)" in receipt
    assert 'customer = "ada" AND begins_with(created, "2026-11")' in receipt
    browser.run("document.querySelector('.samples details').open = true")
    python, shell = [part.text for part in browser.all(".copyable pre")]
    found = {}
    code = python.replace("client.query(", "found['answer'] = client.query(")
    exec(code, {"found": found})  # what is offered to be copied runs
    assert found["answer"]["Count"] == 2
    assert "aws dynamodb query" in shell
    assert "--key-condition-expression '#n0 = :v0 AND begins_with(#n1, :v1)'" in shell

    set_value(browser, field(browser, "Read"), "byStatus")
    set_value(browser, field(browser, "status: value"), "paid")
    button(browser, "Remove").click()
    button(browser, "Run").click()
    wait_for_text(browser, "6 items", ".receipt")
    set_value(browser, field(browser, "Page size"), "4")
    button(browser, "Run").click()
    wait_for_text(browser, "there is more", ".receipt")
    button(browser, "Next page").click()
    wait_for_text(browser, "6 items", ".receipt")


# Strangers


def test_hostile_strings_stay_text(server, browser):
    """In keys, attribute names, values, access keys, operations and errors."""
    client = client_of(server)
    hostile = order(HOSTILE, HOSTILE, status=HOSTILE) | {
        HOSTILE: {"S": HOSTILE},
        "nested": {"M": {HOSTILE: {"L": [{"S": HOSTILE}]}}},
        "__proto__": {"S": HOSTILE},
    }
    browser.open(address(server, "requests"))
    browser.wait_until("document.querySelector('.badge.fine')")
    client.put_item(TableName="orders", Item=hostile)
    fields = {
        "Content-Type": "application/x-amz-json-1.0",
        "X-Amz-Target": f"DynamoDB_20120810.{HOSTILE}",
        "X-Amz-Date": "20260101T000000Z",
        "Authorization": f"AWS4-HMAC-SHA256 Credential={HOSTILE}/20260101/us-east-1/dynamodb/a, "
        "SignedHeaders=host, Signature=00",
    }
    body = json.dumps({"TableName": HOSTILE}).encode()
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(urllib.request.Request(server.endpoint_url, body, fields))
    wait_for_text(browser, HOSTILE)
    for view, index in [
        *((view, None) for view in VIEWS),
        ("live", "byStatus"),
        ("items", "byStatus"),
    ]:
        browser.open(address(server, view, index=index))
        browser.wait_until("document.querySelector('main h1')")
        if view in ("live", "items"):
            wait_for_text(browser, HOSTILE)
        assert browser.run("return [...document.images].length") == 0
        assert browser.run("return document.title") == "dynamometer console"
    button(browser, "Open").click()
    text = browser.wait_until("document.querySelector('dialog textarea')")
    assert json.loads(browser.run("return arguments[0].value", text))["__proto__"] == HOSTILE
    browser.open(f"{server.endpoint_url}/#/live?namespace={HOSTILE}&table={HOSTILE}")
    wait_for_text(browser, "There is no table")
    assert browser.run("return [...document.images].length") == 0


def test_a_page_of_another_origin_reads_and_changes_nothing(server, browser):
    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>strange</title>")

        def log_message(self, *_):
            """Say nothing."""

    strange = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=strange.serve_forever, daemon=True).start()
    try:
        browser.open(f"http://127.0.0.1:{strange.server_port}/")
        browser.run(
            """
            const base = arguments[0], told = window.told = {};
            const call = { namespace: "*/us-east-1", operation: "DeleteTable",
              request: { TableName: "orders" } };
            const attempts = {
              read: fetch(base + "console/state").then((r) => r.text()),
              reset: fetch(base + "reset", { method: "POST", mode: "no-cors" })
                .then(async (r) => r.type + (await r.text())),
              call: fetch(base + "console/call", { method: "POST", body: JSON.stringify(call) })
                .then((r) => r.text()),
              script: import(base + "console/web/console/main.js").then(() => "loaded"),
            };
            for (const [name, attempt] of Object.entries(attempts))
              attempt.then((t) => told[name] = t, (e) => told[name] = e.name);
            const frame = document.createElement("iframe");
            frame.src = base.replace("_emulator/", "");
            document.body.append(frame);
            """,
            f"{server.endpoint_url}/_emulator/",
        )
        browser.wait_until("Object.keys(told).length === 4")
        assert browser.run("return told") == {
            "read": "TypeError",
            "reset": "opaque",
            "call": "TypeError",
            "script": "TypeError",
        }
        assert client_of(server).list_tables()["TableNames"] == ["orders"]
    finally:
        strange.shutdown()
        strange.server_close()
        browser.open("about:blank")  # what the browser refused, it has said


def test_a_server_of_this_machine_gives_no_page_to_a_rebound_name(browser):
    with serving() as server:
        browser.open(f"http://{REBOUND_NAME}:{server.port}/")
        assert "ERR_INVALID_RESPONSE" in browser.find("body").text  # refused, and not as a page
        browser.open("about:blank")


def test_a_page_under_a_rebound_name_reads_and_changes_nothing(browser):
    """A server that others may call answers to any name, but not its private routes."""

    def status(method, route):
        return browser.run(
            "const r = new XMLHttpRequest(); r.open(arguments[0], arguments[1], false);"
            "r.send(arguments[0] === 'POST' ? '{}' : null); return r.status",
            method,
            route,
        )

    with serving(host="0.0.0.0") as server:
        browser.open(f"http://{REBOUND_NAME}:{server.port}/")
        assert browser.find("body").text.startswith("healthy")
        for method, route in (
            ("GET", "/_emulator/console/state"),
            ("GET", "/_emulator/partitions"),
            ("POST", "/_emulator/reset"),
        ):
            assert status(method, route) == 403, route
        assert client_of(server).list_tables()["TableNames"] == ["orders"]
        browser.open("about:blank")


def test_read_only_shows_and_changes_nothing(browser):
    with serving(console="read-only") as server:
        client_of(server).put_item(TableName="orders", Item=order("ada"))
        browser.open(address(server, "items"))
        button(browser, "Open").click()
        browser.wait_until("document.querySelector('dialog textarea').readOnly")
        labels = browser.run(
            "return [...document.querySelectorAll('button')].map((b) => b.textContent)"
        )
        assert not {"Save", "Delete", "New item"} & set(labels)
        browser.open(address(server, "controls"))
        wait_for_text(browser, "This console is read-only.")
        assert (
            browser.run(
                "const r = new XMLHttpRequest(); r.open('POST', '/_emulator/reset', false);"
                "r.send('{}'); return r.status"
            )
            == 403
        )
        browser.open("about:blank")
        assert client_of(server).list_tables()["TableNames"] == ["orders"]


def test_off_has_no_page(browser):
    with serving(console="off") as server:
        browser.open(server.endpoint_url)
        assert browser.find("body").text.startswith("healthy")
        browser.open("about:blank")  # a text has no icon, and the browser says so


# Controls


def test_controls_change_clock_capacity_faults_and_snapshots(browser):
    with serving(Emulator(clock=ManualClock())) as server:
        emulator, client = server.emulator, client_of(server)
        start = emulator.clock.now()
        browser.open(address(server, "controls"))
        set_value(browser, field(browser, "Seconds"), "90")
        button(browser, "Advance").click()
        wait_for_text(browser, "was advanced")
        assert emulator.clock.now() == start + 90
        set_value(browser, field(browser, "Mode"), "enforce")
        wait_for_text(browser, "capacity enforce", "header")
        assert emulator.capacity == "enforce"
        button(browser, "Take a snapshot").click()
        button(browser, "Restore")
        client.put_item(TableName="orders", Item=order("ada"))
        button(browser, "Restore").click()
        wait_for_text(browser, "Snapshot 1 was restored.")
        assert client.scan(TableName="orders")["Count"] == 0
        set_value(browser, field(browser, "Operations"), "PutItem")
        button(browser, "Inject").click()
        wait_for_text(browser, "The fault is active.")
        with pytest.raises(client.exceptions.ClientError, match=r"Throttling|Throughput"):
            client.put_item(TableName="orders", Item=order("ada"))
        button(browser, "Remove all").click()
        wait_for_text(browser, "All faults were removed.")
        client.put_item(TableName="orders", Item=order("ada"))
        browser.run("window.confirm = () => true")
        button(browser, "Reset everything").click()
        wait_for_text(browser, "Everything was deleted.")
        assert client.list_tables()["TableNames"] == []


def test_the_capacity_mode_of_a_table_is_changed(server, browser):
    browser.open(address(server, "table"))
    set_value(browser, field(browser, "Capacity mode"), "PROVISIONED")
    set_value(browser, field(browser, "Write units"), "7")
    button(browser, "Change capacity").click()
    wait_for_text(browser, "provisioned 5 read, 7 write")
    described = client_of(server).describe_table(TableName="orders")["Table"]
    assert described["ProvisionedThroughput"]["WriteCapacityUnits"] == 7


def test_the_traffic_just_seen_becomes_a_report(server, browser):
    client = client_of(server)
    browser.open(address(server, "controls"))
    wait_for_text(browser, "requests")
    browser.wait_until("document.querySelector('.badge.fine')")
    for number in range(20):
        client.put_item(TableName="orders", Item=order(f"c{number % 4}", str(number)))
    wait_for_text(browser, "20 requests")
    button(browser, "Create the report").click()
    browser.wait_until("document.querySelector('main a[target=_blank]')", seconds=120)
    page = browser.run("return document.querySelector('main a[target=_blank]').href")
    browser.open(page)
    wait_for_text(browser, "Traffic seen on orders", "body")
    assert browser.run("return window.origin") == "null"


def test_a_table_of_another_namespace_is_pointed_at(server, browser):
    browser.open(address(server, "live", namespace="other/eu-west-1"))
    wait_for_text(browser, "There is no table orders in other/eu-west-1.")
    browser.find("main li a").click()
    wait_for_text(browser, "Partitions")


# How it looks


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_fits_its_window_and_names_its_controls(server, every_view, view):
    for number in range(12):
        item = order(f"customer#{number}", f"2026-11-17T{number}", note="x" * 300, status="open")
        server.emulator.call("PutItem", {"TableName": "orders", "Item": item})
    every_view.open(address(server, view))
    every_view.wait_until(
        "document.querySelector('main h1') && document.querySelector('.badge.fine')"
    )
    if view == "live":
        every_view.wait_until("document.querySelectorAll('svg.chart').length >= 3")
    assert every_view.run("return document.documentElement.scrollWidth - innerWidth") <= 0
    unnamed = every_view.run(
        """return [...document.querySelectorAll("input, select, textarea, button, a")]
          .filter((node) => !node.closest("[hidden]"))
          .filter((node) => !(node.labels?.length || node.getAttribute("aria-label") ||
            node.textContent.trim())).map((node) => node.outerHTML)"""
    )
    assert unnamed == []
