"""The page in a real browser, where there is one: no error, values under the pointer, exports."""

import json
import re
import shutil
import subprocess

import pytest

from emulator.lab.report import html_page
from tests.lab.report.comparisons import afternoon

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--hide-scrollbars", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--enable-logging=stderr", "--virtual-time-budget=4000", "--dump-dom"),
)
PROBE = """
<script>
addEventListener("load", async () => {
  const found = {tips: [], saved: [], wide: document.documentElement.scrollWidth - innerWidth};
  found.ground = getComputedStyle(document.body).backgroundColor;
  for (const meta of document.querySelectorAll("metadata[data-kind]")) {
    const svg = meta.ownerSVGElement, [left, top, right, bottom] = meta.dataset.box.split(",");
    svg.scrollIntoView();
    const box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
    svg.dispatchEvent(new PointerEvent("pointermove", {bubbles: true,
      clientX: box.left + (+left + 1) * scale, clientY: box.top + (+bottom - 3) * scale}));
    found.tips.push(document.getElementById("tip").textContent);
    svg.dispatchEvent(new PointerEvent("pointerleave"));
  }
  HTMLAnchorElement.prototype.click = function () { found.saved.push(this.download); };
  document.querySelector("[data-save=svg]").click();
  document.querySelector("[data-save=json]").click();
  document.querySelector("[data-save=png]").click();
  await new Promise((done) => setTimeout(done, 2000));
  const note = document.createElement("pre");
  note.id = "found";
  note.textContent = JSON.stringify(found);
  document.body.append(note);
});
</script></body>
"""

pytestmark = pytest.mark.skipif(not BROWSER, reason="no Chromium on this machine")


def visited(directory, *flags):
    """Open the page; return what the probe found, and what the console said."""
    page = directory / "report.html"
    page.write_text(html_page(afternoon()).replace("</body>", PROBE), encoding="utf-8")
    command = [BROWSER, *FLAGS, f"--user-data-dir={directory / 'profile'}", *flags, page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.S)[1]
    return json.loads(found), [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def test_the_page_works_in_a_browser(tmp_path):
    found, console = visited(tmp_path, "--window-size=1200,900")
    assert console == []
    assert found["wide"] <= 0
    assert found["saved"] == [
        "by-hour-events-heat.svg",
        "report.json",
        "by-hour-events-heat.png",
    ]
    assert found["tips"][:2] == [
        "0:00:00  partition 4\nload 0 % of what one carries",
        "0:00:00\nconsumed 2,400/s\navailable 5,000/s\nburst reserve 216,000",
    ]
    assert "" not in found["tips"]


def test_the_page_follows_the_scheme_and_fits_a_phone(tmp_path):
    found, console = visited(
        tmp_path, "--window-size=500,900", "--blink-settings=preferredColorScheme=0"
    )
    assert console == []
    assert found["ground"] == "rgb(11, 16, 21)"
    assert found["wide"] <= 0
