"""A number of the service has one home: what follows from it follows."""

import subprocess
import sys

import pytest

CHANGED = """
import sys
from importlib.util import find_spec, module_from_spec

spec = find_spec("emulator.service.limits")
source = spec.loader.get_source(spec.name)
line = "ON_DEMAND_PARTITIONS: Final = 4"
assert line in source
module = sys.modules[spec.name] = module_from_spec(spec)
exec(source.replace(line, "ON_DEMAND_PARTITIONS: Final = {count}"), module.__dict__)
import emulator.service

emulator.service.limits = module

from emulator import Emulator

emu = Emulator(capacity="enforce")
emu.client().create_table(
    TableName="events",
    BillingMode="PAY_PER_REQUEST",
    AttributeDefinitions=[{{"AttributeName": "pk", "AttributeType": "S"}}],
    KeySchema=[{{"AttributeName": "pk", "KeyType": "HASH"}}],
)
described = emu.client().describe_table(TableName="events")["Table"]["WarmThroughput"]
account = emu.account()
resource = account.tables["events"].resource
buckets = resource.meter.partitions.values()
print(
    described["ReadUnitsPerSecond"],
    described["WriteUnitsPerSecond"],
    *(sum(pair[axis].rate for pair in buckets) for axis in (0, 1)),
    *resource.growth.warm,
)
"""


@pytest.mark.parametrize("count", [2, 6])
def test_one_constant_is_the_start_of_on_demand(count):
    """CAP-502, CAP-509: what is described, what is admitted, and from where it grows."""
    shown = subprocess.run(
        [sys.executable, "-c", CHANGED.format(count=count)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert [int(float(text)) for text in shown.split()] == [3_000 * count, 1_000 * count] * 3
