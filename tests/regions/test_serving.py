"""How a request is served where there are global tables, and what others pay for that: nothing."""

import subprocess
import sys

NO_REPLICA = """
import sys, tempfile
from emulator import Emulator, ManualClock
from emulator.strategies import create_request

emu = Emulator(clock=ManualClock())
emu.call("CreateTable", create_request("orders", "id", indexes={"by_day": "day"}))
table, key = {"TableName": "orders"}, {"id": {"S": "a"}}
item = {**key, "day": {"S": "mon"}}
emu.call("PutItem", {**table, "Item": item})
emu.call("UpdateItem", {**table, "Key": key, "UpdateExpression": "REMOVE nothing"})
emu.call("GetItem", {**table, "Key": key})
emu.call("Scan", table)
emu.call("BatchWriteItem", {"RequestItems": {"orders": [{"PutRequest": {"Item": item}}]}})
emu.call("TransactWriteItems", {"TransactItems": [{"Delete": {**table, "Key": key}}]})
ttl = {"AttributeName": "until", "Enabled": True}
emu.call("UpdateTimeToLive", {**table, "TimeToLiveSpecification": ttl})
emu.call("UpdateTable", {**table, "DeletionProtectionEnabled": False})
emu.call("DescribeTable", table)
emu.clock.advance(3600)
emu.restore(emu.snapshot())
with tempfile.NamedTemporaryFile() as file:
    emu.save(file.name)
    Emulator.load(file.name)
emu.call("DeleteTable", table, region="us-east-1")
emu.call("ListTables", {}, region="eu-west-1", access_key="another")
print([name for name in sys.modules if name.startswith("emulator.regions")])
if len(sys.argv) > 1:
    emu.call("CreateTable", create_request("orders", "id"))
    emu.call("UpdateTable", {**table, "ReplicaUpdates": [{"Create": {"RegionName": "eu-west-1"}}]})
    print("emulator.regions" in sys.modules)
"""


def test_an_account_without_replicas_never_loads_the_room():
    """GTB-5: all that it may be asked; the first replica loads it."""
    command = [sys.executable, "-c", NO_REPLICA, "and then a replica"]
    assert subprocess.check_output(command, text=True).split() == ["[]", "True"]
