"""Every benchmark in one command.

    python -m benchmarks [--items 10000] [--most 1000000]
    python -m benchmarks --short        a few minutes: whether all of it runs, and about where it is

Prints the tables, and writes ``benchmarks/RESULTS.md``, ``results.json`` and ``peers.svg``
beside itself; figures of commands that run on their own stay in RESULTS.md.
"""

import argparse
import contextlib
import io
import json
import os
import platform
import re
from pathlib import Path

from benchmarks import (
    boto_floor,
    call_cost,
    fixtures,
    footprint,
    growth,
    interpreters,
    lab_engines,
    page_latency,
    peers,
    profile,
    server_load,
    snapshots,
    targets,
)
from benchmarks.plot import bars

HERE = Path(__file__).parent
RESULTS = HERE / "RESULTS.md"
#: What a short run leaves out.
LONG = ("profile", "interpreters", "lab_engines")
#: What follows this line in RESULTS.md comes from commands that run on their own, and is kept.
KEPT = "<!-- Below this line: figures of commands that run on their own; kept. -->\n"


def machine():
    """Return what the figures were taken on."""
    return (
        f"{platform.python_implementation()} {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    )


def steps(items, most, *, short):
    """Return what is run: title, command, and the function."""
    every = [
        ("(a) Call cost", "call_cost", call_cost.main),
        ("(a) Profile", "profile", profile.main),
        ("(a) Interpreters", "interpreters", interpreters.main),
        (
            "(a) boto3 in-process",
            "boto_floor",
            lambda: boto_floor.main(*((3, 5) if short else (20, 25))),
        ),
        (
            "(b) Peers",
            f"peers --items {items}",
            lambda: peers.main(items, *((3, 2) if short else (15, 10))),
        ),
        ("(c) Growth", f"growth --most {most}", lambda: growth.main(most)),
        (
            "(d, e) Memory and importing",
            f"footprint --items {most}",
            lambda: footprint.main(most, 3 if short else 15),
        ),
        ("(f) Fixtures", "fixtures", lambda: fixtures.main(*((60, 1) if short else (200, 3)))),
        ("(f) Snapshots", "snapshots", snapshots.main),
        ("(g) Servers under load", "server_load", lambda: server_load.main(0.6 if short else 5.0)),
        ("(g) Waiting for pages", "page_latency", lambda: page_latency.main(5 if short else 40)),
        ("(h) The lab's engines", "lab_engines", lab_engines.main),
    ]
    return [step for step in every if not (short and step[1] in LONG)]


def run(items, most, *, short=False):
    """Run all; return the results and what was printed."""
    results, pages = {}, []
    for title, command, step in steps(items, most, short=short):
        results[title], shown = printed(step)
        pages.append(page(title, f"`python -m benchmarks.{command}`", shown))
    pages.insert(0, targets_page(results))
    return results, pages


def page(title, about, shown):
    return f"## {title}\n{about}\n\n```{shown}\n```\n"


def targets_page(results):
    _, shown = printed(lambda: targets.main(results))
    return f"## Targets\n\n```{shown}\n```\n"


def run_again(names, items, most):
    """Run some steps again, and put what they say in place of what they said."""
    results = json.loads((HERE / "results.json").read_text())
    text, kept = RESULTS.read_text().split(KEPT)
    head, *pages = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    titles = [old.partition("\n")[0].removeprefix("## ") for old in pages]
    for title, command, step in steps(items, most, short=False):
        if command.split()[0] in names:
            results[title], shown = printed(step)
            about = f"`python -m benchmarks.{command}`, run again by itself"
            pages[titles.index(title)] = page(title, about, shown) + "\n"
    pages[0] = targets_page(results) + "\n"
    RESULTS.write_text(head + "".join(pages) + KEPT + kept)
    (HERE / "results.json").write_text(json.dumps(results, indent=1) + "\n")


def printed(step):
    """Run a step; return its result and what it printed, which is shown as well."""
    caught = io.StringIO()
    with contextlib.redirect_stdout(caught):
        result = step()
    print(caught.getvalue(), end="", flush=True)
    return result, caught.getvalue().rstrip()


def chart(results):
    """Return the chart of single requests over HTTP."""
    over_http = results["(b) Peers"]["over_http"]
    groups = {
        row[0]: [
            (name, float(cell.split()[0]))
            for name, cell in zip(over_http["names"], row[1:], strict=True)
            if cell != "-"
        ]
        for row in over_http["rows"]
        if row[0] in ("GetItem", "PutItem", "Query")
    }
    return bars("One request over HTTP", groups, "milliseconds, less is better")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--items", type=int, default=10_000, help="items in the peers' tables")
    parser.add_argument("--most", type=int, default=1_000_000, help="items of the largest table")
    parser.add_argument(
        "--short", action="store_true", help="fewer rounds and smaller tables; writes nothing"
    )
    parser.add_argument(
        "--again", nargs="+", metavar="NAME", help="steps to run again, such as call_cost"
    )
    given = parser.parse_args()
    if given.again:
        run_again(given.again, given.items, given.most)
        return
    if given.short:
        run(min(given.items, 1_000), min(given.most, 10_000), short=True)
        return
    results, pages = run(given.items, given.most)
    command = f"python -m benchmarks --items {given.items} --most {given.most}"
    head = (
        f"# Benchmark results\n\n{machine()}. One run of `{command}`; "
        "see [README.md](README.md) for the method. Compare ratios, not times.\n\n"
    )
    kept = RESULTS.read_text().partition(KEPT)[2] if RESULTS.exists() else ""
    RESULTS.write_text(head + "\n".join(pages) + "\n" + KEPT + kept)
    (HERE / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    (HERE / "peers.svg").write_text(chart(results))


if __name__ == "__main__":
    main()
