"""A browser, driven through chromedriver: the few commands of WebDriver that the tests need.

    with running_driver() as address, Browser(address) as browser:
        browser.show(width=390, scheme="dark")
        browser.open(page.as_uri())
        browser.find("h1").text

Real pointers and keys move through the browser's own event handling, so a test sees what a
reader would.
"""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
REBOUND_NAME = "rebound.test"
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--hide-scrollbars"),
    *("--disable-dev-shm-usage", "--force-color-profile=srgb"),
    # A name that leads here, as one does whose owner points it at a visitor's own machine.
    f"--host-resolver-rules=MAP {REBOUND_NAME} 127.0.0.1",
)
KEYS = {
    "ArrowLeft": "\ue012",
    "ArrowRight": "\ue014",
    "ArrowUp": "\ue013",
    "ArrowDown": "\ue015",
    "Home": "\ue011",
    "End": "\ue010",
    "Enter": "\ue007",
    "Escape": "\ue00c",
    "Tab": "\ue004",
}


class WebDriverError(Exception):
    """What the driver refused, in its own words."""


def missing_programs() -> list[str]:
    """Return which of the programs are not on this machine."""
    missing = [] if chromium() else ["chromium"]
    return missing if shutil.which("chromedriver") else [*missing, "chromedriver"]


def chromium() -> str | None:
    """Return the path of the browser, if there is one."""
    return next(filter(None, map(shutil.which, CHROMIUM)), None)


@contextmanager
def running_driver() -> Iterator[str]:
    """Start chromedriver on a free port; yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        ["chromedriver", f"--port={port}", "--log-level=SEVERE"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(150):
            try:
                if _send("GET", f"{address}/status")["ready"]:
                    break
            except urllib.error.URLError:
                time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=30)


def _send(method: str, address: str, body: Any = None) -> Any:
    data = None if method != "POST" else json.dumps(body or {}).encode()
    request = urllib.request.Request(
        address, data=data, method=method, headers={"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)["value"]
    except urllib.error.HTTPError as error:
        value = json.load(error)["value"]
        raise WebDriverError(f"{value['error']}: {value['message']}") from None


class Element(NamedTuple):
    """A node of the page."""

    browser: Browser
    id: str

    @property
    def text(self) -> Any:
        """What a reader sees of it."""
        return self.browser.command("GET", f"element/{self.id}/text")

    def attribute(self, name: str) -> Any:
        """Return an attribute as it is in the markup."""
        return self.browser.run("return arguments[0].getAttribute(arguments[1])", self, name)

    def click(self) -> None:
        """Click in its middle, where it can be seen."""
        self.scroll_into_view()
        self.browser.command("POST", f"element/{self.id}/click")

    def type(self, text: str) -> None:
        """Type a text, or the name of a key such as ``ArrowLeft``."""
        self.browser.command("POST", f"element/{self.id}/value", {"text": KEYS.get(text, text)})

    def all(self, selector: str) -> Any:
        """Return the nodes inside it that a selector names."""
        return self.browser.run(
            "return [...arguments[0].querySelectorAll(arguments[1])]", self, selector
        )

    def find(self, selector: str) -> Any:
        """Return the first of them."""
        return self.all(selector)[0]

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, width and height in the window."""
        script = (
            "const b = arguments[0].getBoundingClientRect();"
            "return [b.left, b.top, b.width, b.height]"
        )
        left, top, width, height = self.browser.run(script, self)
        return left, top, width, height

    def scroll_into_view(self) -> None:
        """Bring it to the middle of the window."""
        self.browser.run(
            "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", self
        )


class Browser:
    """One window. ``console_errors`` is what the page complained about since it was opened."""

    def __init__(self, address: str) -> None:
        options = {"args": FLAGS, "binary": chromium()}
        capabilities = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"},
        }
        self._session = f"{address}/session"
        answer = _send("POST", self._session, {"capabilities": {"alwaysMatch": capabilities}})
        self._session += f"/{answer['sessionId']}"
        self._said: list[str] = []

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        _send("DELETE", self._session)

    def command(self, method: str, path: str, body: Any = None) -> Any:
        """Send one command of WebDriver."""
        return self._read(_send(method, f"{self._session}/{path}", body))

    def _read(self, value: Any) -> Any:
        if isinstance(value, dict) and ELEMENT in value:
            return Element(self, value[ELEMENT])
        if isinstance(value, list):
            return [self._read(entry) for entry in value]
        return value

    def devtools(self, command: str, **arguments: Any) -> Any:
        """Send one command of the browser's own protocol."""
        return self.command("POST", "goog/cdp/execute", {"cmd": command, "params": arguments})

    def show(self, *, width: int = 1400, height: int = 900, scheme: str = "light") -> None:
        """Be a window of that size for a reader of that taste; a narrow one is a phone."""
        is_phone = width < 600
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=is_phone,
        )
        self.devtools("Emulation.setTouchEmulationEnabled", enabled=is_phone)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.devtools("Emulation.setEmulatedMedia", features=[feature])

    def without_scripts(self, *, disabled: bool = True) -> None:
        """Run no script of the page, or run them again."""
        self.devtools("Emulation.setScriptExecutionDisabled", value=disabled)

    def open(self, address: str) -> None:
        """Load a page, and forget what the last one said."""
        self.console_errors()
        self._said.clear()
        self.command("POST", "url", {"url": address})

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page; return what it returns."""
        given = [{ELEMENT: one.id} if isinstance(one, Element) else one for one in arguments]
        return self.command("POST", "execute/sync", {"script": script, "args": given})

    def all(self, selector: str) -> Any:
        """Return the nodes that a selector names."""
        return self.command("POST", "elements", {"using": "css selector", "value": selector})

    def find(self, selector: str) -> Any:
        """Return the first of them."""
        return self.command("POST", "element", {"using": "css selector", "value": selector})

    def wait_until(self, script: str, *arguments: Any, seconds: float = 10.0) -> Any:
        """Return what an expression is as soon as it is true."""
        deadline = time.monotonic() + seconds
        while True:
            value = self.run(f"return ({script})", *arguments)
            if value:
                return value
            assert time.monotonic() < deadline, f"never true: {script}"
            time.sleep(0.05)

    def point_at(self, element: Element, x: float = 0.5, y: float = 0.5) -> None:
        """Move the mouse to a place of an element, in shares of its width and height."""
        self._act("mouse", self._move(element, x, y))

    def drag(
        self, element: Element, start: float, end: float, y: float = 0.5, kind: str = "mouse"
    ) -> None:
        """Press the mouse, or a finger, at one place, move, and let go at another."""
        middle = (start + end) / 2
        self._act(
            kind,
            self._move(element, start, y),
            {"type": "pointerDown", "button": 0},
            self._move(element, middle, y),
            self._move(element, end, y),
            {"type": "pointerUp", "button": 0},
        )

    def tap(self, element: Element, x: float = 0.5, y: float = 0.5) -> None:
        """Touch a place of an element with a finger."""
        self._act(
            "touch",
            self._move(element, x, y),
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        )

    def _move(self, element: Element, x: float, y: float) -> dict[str, Any]:
        element.scroll_into_view()
        left, top, width, height = element.box
        place = {"x": round(left + width * x), "y": round(top + height * y)}
        return {"type": "pointerMove", "duration": 0, "origin": "viewport", **place}

    def _act(self, kind: str, *actions: dict[str, Any]) -> None:
        pointer = {"type": "pointer", "id": kind, "parameters": {"pointerType": kind}}
        self.command("POST", "actions", {"actions": [{**pointer, "actions": actions}]})

    def press(self, key: str) -> None:
        """Press a key where the focus is."""
        value = KEYS.get(key, key)
        strokes = [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self.command(
            "POST", "actions", {"actions": [{"type": "key", "id": "keys", "actions": strokes}]}
        )

    def console_errors(self) -> list[str]:
        """Return what the page's console said at the level of a warning or worse."""
        entries = self.command("POST", "se/log", {"type": "browser"})
        self._said += [e["message"] for e in entries if e["level"] in ("SEVERE", "WARNING")]
        return list(self._said)

    def screenshot(self) -> bytes:
        """Return what the window shows as PNG."""
        return base64.b64decode(self.command("GET", "screenshot"))
