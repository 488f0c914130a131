"""The targets, and what one run of everything reached of each."""

from benchmarks.measure import table


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
    for operation, most in (("GetItem", 1.5), ("PutItem", 4.0), ("Query", 6.0)):
        yield at_most(f"Emulator.call {operation}, in J", most, float(calls[operation][4]))
    for operation in ("GetItem", "PutItem"):
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
    yield at_most("bytes per small item with one GSI", 2000, per_item)
    imports = memory["imports_ms"]
    bare = imports["json, decimal, sortedcontainers, mmh3"]
    most = min(60, 1.5 * bare + 30)
    yield at_most("import emulator, in ms", most, imports["emulator"])
    restore = {row[0]: float(row[2]) for row in results["(f) Snapshots"]}
    yield at_most("going back to 10,000 items, in us", 1000, restore["10,000"])


def at_most(name, wanted, reached):
    return [name, f"at most {wanted:g}", f"{reached:.4g}", "yes" if reached <= wanted else "no"]


def at_least(name, wanted, reached):
    return [name, f"at least {wanted:g}", f"{reached:.4g}", "yes" if reached >= wanted else "no"]


def main(results):
    table("Targets", ["target", "wanted", "reached", "met"], list(rows(results)))
