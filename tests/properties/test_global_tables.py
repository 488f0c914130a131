"""Laws of global tables: whatever was written where, and whatever failed, replicas become equal."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from emulator import ApiError, Emulator, ManualClock, Settings
from tests.tables import table

REGIONS = ("us-east-1", "eu-west-1", "ap-south-1")
LAG = 1.0

regions = st.sampled_from(REGIONS)
keys = st.sampled_from("abc")
values = st.integers(0, 3).map(str)
pauses = st.sampled_from((0.0, 0.3, 1.0, 61.0))


class GlobalTable(RuleBasedStateMachine):
    """Writes, pauses, outages, snapshots and replicas that come and go, in any order (GTB-1)."""

    @initialize(capacity=st.sampled_from(("off", "enforce")))
    def begin(self, capacity):
        self.emu = Emulator(
            clock=ManualClock(), capacity=capacity, settings=Settings(replication_lag=LAG)
        )
        self.emu.call("CreateTable", table("pk", indexes={"by_v": "v"}))
        ttl = {"Enabled": True, "AttributeName": "ttl"}
        self.call("UpdateTimeToLive", "us-east-1", TimeToLiveSpecification=ttl)
        self.members = ["us-east-1"]
        self.outages = {}
        for region in REGIONS[1:]:
            self.change("us-east-1", Create={"RegionName": region})
            self.members.append(region)

    def call(self, operation, region, **request):
        return self.emu.call(operation, {"TableName": "tab", **request}, region=region)

    def change(self, region, **update):
        return self.call("UpdateTable", region, ReplicaUpdates=[update])

    def is_up(self, region):
        return region in self.members and region not in self.outages

    @rule(region=regions, key=keys, value=values, pause=pauses)
    def put(self, region, key, value, pause):
        if self.is_up(region):
            self.call("PutItem", region, Item={"pk": {"S": key}, "v": {"S": value}})
        self.emu.clock.advance(pause)

    @rule(region=regions, key=keys)
    def expire_soon(self, region, key):
        if self.is_up(region):
            ttl = {"N": str(int(self.emu.clock.now()) + 2)}
            self.call("PutItem", region, Item={"pk": {"S": key}, "ttl": ttl})

    @rule(region=regions, key=keys, value=values)
    def add(self, region, key, value):
        if self.is_up(region):
            request = {
                "Key": {"pk": {"S": key}},
                "UpdateExpression": "SET v = :v ADD n :n",
                "ExpressionAttributeValues": {":v": {"S": value}, ":n": {"N": "1"}},
            }
            self.call("UpdateItem", region, **request)

    @rule(region=regions, key=keys)
    def delete(self, region, key):
        if self.is_up(region):
            self.call("DeleteItem", region, Key={"pk": {"S": key}})

    @rule(region=regions, pause=pauses)
    def fail(self, region, pause):
        if region not in self.outages:
            self.outages[region] = self.emu.faults.add(kind="outage", regions=region)
        self.emu.clock.advance(pause)

    @rule(region=regions)
    def heal(self, region):
        if region in self.outages:
            self.emu.faults.rules.remove(self.outages.pop(region))

    @rule(region=regions)
    def leave_and_join(self, region):
        if region != "us-east-1" and self.is_up("us-east-1"):
            if region in self.members:
                self.change("us-east-1", Delete={"RegionName": region})
                self.members.remove(region)
            else:
                self.change("us-east-1", Create={"RegionName": region})
                self.members.append(region)

    @rule()
    def go_through_a_snapshot(self):
        state = self.emu.snapshot()
        if self.is_up("us-east-1"):
            self.call("PutItem", "us-east-1", Item={"pk": {"S": "never"}})
        self.emu.restore(state)

    def contents(self, region):
        items = self.call("Scan", region)["Items"]
        entries = self.call("Scan", region, IndexName="by_v")["Items"]
        expected = [item for item in items if "v" in item]
        assert sorted(entries, key=repr) == sorted(expected, key=repr)
        return sorted(items, key=repr)

    def teardown(self):
        if not hasattr(self, "emu"):
            return
        self.emu.faults.clear()
        self.emu.clock.advance(3 * 60)
        contents = [self.contents(region) for region in self.members]
        assert all(content == contents[0] for content in contents), contents
        for region in self.members:
            replicated = self.emu.account(region).replicated.values()
            assert all(not held.replica.inbox and not held.replica.versions for held in replicated)

    @invariant()
    def a_region_that_is_out_answers_nobody(self):
        for region in self.outages if hasattr(self, "emu") else ():
            try:
                self.call("DescribeTable", region)
            except ApiError as error:
                assert error.code == "InternalServerError"
            else:
                raise AssertionError(region)


TestGlobalTable = GlobalTable.TestCase
TestGlobalTable.settings = settings(max_examples=15, stateful_step_count=25, deadline=None)
