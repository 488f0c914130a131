"""The targets, and what one run of everything reached of each."""

from benchmarks.call_cost import TARGETS
from benchmarks.measure import table

EMULATOR = "emulator.Emulator"


def ratio(cell):
    """Return the ratio in a cell such as ``912 (1.00)``."""
    return float(cell.partition("(")[2].rstrip(")"))


def column(part, name):
    """Return the ratios under a name, by operation; those without an answer are left out."""
    place = part["names"].index(name) + 1 if name in part["names"] else None
    if place is None:
        return {}
    return {row[0]: ratio(row[place]) for row in part["rows"] if row[place] != "-"}


def rows(results):
    """Yield target, wanted, reached and whether that is enough."""
    calls = {row[0]: row for row in results["(a) Call cost"]["rows"]}
    for operation, most in TARGETS.items():
        yield at_most(f"Emulator.call {operation}, in J", most, float(calls[operation][4]))
    for operation in ("GetItem", "PutItem", "DeleteItem"):
        name = f"what admission adds to {operation}"
        yield at_most(name, 1.25, float(calls[operation][5]))
    ours = column(results["(a) boto3 in-process"], "dynamometer")
    for operation in ("GetItem", "PutItem", "UpdateItem"):
        yield at_most(f"boto3 {operation}, against its floor", 1.2, ours[operation])
    moto = column(results["(b) Peers"]["in_process"], "moto")
    for operation, slower in moto.items():
        least = 50 if operation == "Query" else 3
        yield at_least(f"boto3 {operation}, moto against ours", least, slower)
    over_http = results["(b) Peers"]["over_http"]
    for name, least in (("DynamoDB Local", 1.0), ("dynoxide", 0.5)):
        found = column(over_http, name)
        if found:
            worst = min(found.values())
            yield at_least(f"a request over HTTP, {name} against ours, the least", least, worst)
    growth = {row[0]: ratio(row[-1]) for row in results["(c) Growth"]["items"]}
    for operation in ("Query", "Scan"):
        yield at_most(f"{operation}, the largest table against 1,000 items", 1.5, growth[operation])
    memory = results["(d, e) Memory and importing"]
    per_item = memory["bytes"] / memory["items"]
    yield at_most("bytes per small item with one GSI", 750, per_item)
    imports = memory["imports"]
    bare = imports["json, decimal, sortedcontainers, mmh3"][0]
    most = min(60, 1.5 * bare + 30)
    yield at_most("import emulator, in ms", most, imports["emulator"][0])
    yield at_most("from emulator import Emulator, in bare imports", 3.5, imports[EMULATOR][1])
    yield at_most("the first call, in bare imports", 4, imports["first call"][1])
    yield at_most(
        "dynamometer --version, in ms", 120, memory["commands_ms"]["dynamometer --version"]
    )
    fixtures = {row[0]: float(row[1]) for row in results["(f) Fixtures"]}
    yield at_most("a test with a table, in ms", 0.7, fixtures["ddb and a table"])
    yield at_most("a test with a table and a boto3 client, in ms", 4, fixtures["boto3 and a table"])
    yield from under_load(results["(g) Servers under load"]["by_operation"])
    waits = {row[0]: float(row[3]) for row in results["(g) Waiting for pages"]}
    for lane, most in (("dynamometer, fast", 20), ("dynamometer", 60)):
        if lane in waits:
            yield at_most(f"the wait beside a page of 1 MB, {lane}, in ms", most, waits[lane])
    restore = {row[0]: float(row[2]) for row in results["(f) Snapshots"]}
    yield at_most("going back to 10,000 items, in us", 1000, restore["10,000"])


def under_load(rows):
    """Yield what the Rust peer reaches of us at the most connections, if it is there."""
    theirs = {row[0]: row for row in rows if row[1] == "dynoxide"}
    for operation in ("GetItem", "Query, 10 items", "Scan, 100 items"):
        if operation in theirs:
            name = f"{operation} at 64 connections, dynoxide's rate against ours"
            yield at_most(name, 1, ratio(theirs[operation][2]))
    if "GetItem" in theirs:
        reached = 1 / ratio(theirs["GetItem"][4])
        yield at_most("GetItem at 64 connections, our p99 against dynoxide's", 1.5, reached)


def at_most(name, wanted, reached):
    return [name, f"at most {wanted:g}", f"{reached:.4g}", "yes" if reached <= wanted else "no"]


def at_least(name, wanted, reached):
    return [name, f"at least {wanted:g}", f"{reached:.4g}", "yes" if reached >= wanted else "no"]


def main(results):
    table("Targets", ["target", "wanted", "reached", "met"], list(rows(results)))
