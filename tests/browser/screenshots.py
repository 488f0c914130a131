"""The pictures of pages in README and docs: ``python -m tests.browser.screenshots``.

Runs the built-in comparison of the lab, a small test suite and a server, opens their pages in
Chromium and writes docs/pictures/*.png, in about three minutes of one core. A comparison that
``--json`` saved can be given instead of a run.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

from emulator import ApiError, Emulator, ManualClock
from emulator.http import ServerThread
from emulator.lab import Comparison
from emulator.lab.report import html_page
from emulator.testing.table_notation import create_request
from tests.browser.webdriver import Browser, missing_programs, running_driver

CONSOLE_SECONDS = 240
PICTURES = Path(__file__).parents[2] / "docs/pictures"
SUITE = """
import pytest
from boto3.dynamodb.conditions import Attr, Key

@pytest.fixture
def orders(ddb_table):
    return ddb_table("orders", "customer", "id", indexes={"by_status": ("status", "id")})

def place(orders, number, status="open"):
    item = {"customer": f"c{number % 400}", "id": f"o{number}", "status": status, "body": "x" * 300}
    orders.put_item(Item=item)

@pytest.mark.ddb(rate=3000)
def test_import_of_a_day(orders):
    for number in range(2500):
        place(orders, number)

def open_orders(orders):
    return orders.scan(FilterExpression=Attr("status").eq("open"))

def test_list_of_open_orders(orders):
    for number in range(80):
        place(orders, number, "open" if number % 8 == 0 else "done")
    open_orders(orders)

def test_order_is_found(orders):
    place(orders, 1)
    for _ in range(25):
        orders.get_item(Key={"customer": "c1", "id": "o1"}, ConsistentRead=True)

@pytest.mark.parametrize("count", [10, 60])
def test_orders_of_a_customer(orders, count):
    for number in range(count):
        place(orders, number)
    orders.query(KeyConditionExpression=Key("customer").eq("c1"))

def test_order_is_closed(orders):
    place(orders, 7)
    orders.update_item(Key={"customer": "c7", "id": "o7"}, UpdateExpression="SET #s = :s",
        ExpressionAttributeNames={"#s": "status"}, ExpressionAttributeValues={":s": "done"})
"""


def write_report(folder: Path, saved: list[str]) -> str:
    """Run the lab, or take a saved comparison; return the address of its page."""
    data = Path(saved[0]) if saved else folder / "report.json"
    if not saved:
        command = [sys.executable, "-m", "emulator", "lab", "--no-html", "--json", str(data)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    page = folder / "report.html"
    page.write_text(html_page(Comparison.from_json(data.read_text())), encoding="utf-8")
    return page.as_uri()


def write_session(folder: Path) -> str:
    """Run a small test suite; return the address of its page."""
    session = folder / "session.html"
    (folder / "test_orders.py").write_text(SUITE)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-q", "test_orders.py", f"--ddb-report={session}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder)
    return session.as_uri()


def heat_map(browser: Browser) -> bytes:
    """Show partitions that divide, with values under the pointer and one cursor."""
    chart = browser.find("#hour-key-by-device-table-heat svg.live")
    browser.run("arguments[0].closest('details').scrollIntoView({behavior: 'instant'})", chart)
    left, top, width, height = chart.box
    browser.devtools(
        "Input.dispatchMouseEvent", type="mouseMoved", x=left + width * 0.2, y=top + height * 0.62
    )
    return browser.screenshot()


def console(browser: Browser, emulator: Emulator) -> bytes:
    """Show a table while one of its keys is asked for more than a partition carries."""
    browser.wait_until("document.querySelector('.chart')")
    pause = threading.Event()
    for second in range(CONSOLE_SECONDS):
        customers = ["celebrity"] * (4 if second < CONSOLE_SECONDS // 4 else 13)
        customers += [f"customer#{(7 * second + number) % 90}" for number in range(10)]
        for number, customer in enumerate(customers):
            item = {"customer": {"S": customer}, "id": {"S": f"{number % 8}#{second % 60}"}}
            item["body"] = {"S": "x" * 100_000}
            with contextlib.suppress(ApiError):
                emulator.call("PutItem", {"TableName": "orders", "Item": item})
        emulator.clock.advance(1)
        pause.wait(0.15)  # the page asks about twice a second, and shows a minute of real time
    return browser.screenshot()


def top(browser: Browser) -> bytes:
    """Show what the window shows."""
    return browser.screenshot()


def side_by_side(browser: Browser) -> bytes:
    """Show the designs in one chart each."""
    browser.run("document.getElementById('side-by-side').scrollIntoView({behavior: 'instant'})")
    return browser.screenshot()


def main() -> None:
    """Write every picture, and say how large it is."""
    if missing := missing_programs():
        sys.exit(f"not on this machine: {', '.join(missing)}")
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        lab, session = write_report(Path(folder), sys.argv[1:]), write_session(Path(folder))
        shots: tuple[tuple[str, str, int, int, str, Callable[[Browser], bytes]], ...] = (
            ("report-heat", lab, 1200, 860, "dark", heat_map),
            ("report-side-by-side", lab, 1200, 1020, "light", side_by_side),
            ("report-phone", lab, 390, 844, "light", side_by_side),
            ("session", session, 1200, 1000, "light", top),
        )
        with running_driver() as address, Browser(address) as browser:
            for name, page, width, height, scheme, take in shots:
                browser.show(width=width, height=height, scheme=scheme)
                browser.open(page)
                picture = PICTURES / f"{name}.png"
                picture.write_bytes(take(browser))
                _tell(picture)
            picture = PICTURES / "console.png"
            picture.write_bytes(_console(browser))
            _tell(picture)


def _tell(picture: Path) -> None:
    print(f"{picture.relative_to(PICTURES.parents[1])}: {picture.stat().st_size:,} bytes")


def _console(browser: Browser) -> bytes:
    emulator = Emulator(clock=ManualClock(), capacity="enforce")
    emulator.call("CreateTable", create_request("orders", "customer", "id"))
    browser.show(width=1200, height=940, scheme="light")
    with ServerThread(emulator) as server:
        browser.open(f"{server.endpoint_url}/#/live?namespace=*/us-east-1&table=orders")
        return console(browser, emulator)


if __name__ == "__main__":
    main()
