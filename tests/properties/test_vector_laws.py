"""Laws of vector indexes: each is the projection of its table, and a search is a sort of it."""

import struct
from decimal import Decimal

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from emulator import Emulator, ManualClock
from emulator.errors import ApiError
from emulator.model.wire import dump_value
from tests.tables import described, nearest, types, vector_index, vector_table

KEYS = "abc"
INDEXES = {
    "vix": vector_index(filters="kind"),
    "scoped": vector_index("scoped", partition="tenant", filters="kind", distance="EUCLIDEAN"),
    "later": vector_index("later", project="KEYS_ONLY", distance="DOT_PRODUCT"),
}
#: What each index carries beside the key; everything where None.
CARRIED = {"vix": None, "scoped": None, "later": {"pk"}}
numbers = st.sampled_from([0, 1, -1, 2, Decimal("0.1"), Decimal("16777217"), Decimal("1e-40")])
vectors = st.one_of(
    st.lists(numbers, min_size=2, max_size=2).map(tuple), st.just((1,)), st.just("no vector")
)
attributes = st.fixed_dictionaries(
    {},
    optional={
        "emb": vectors,
        "tenant": st.sampled_from(["t", "u"]),
        "kind": st.sampled_from(["x", "y"]),
        "more": st.just("m"),
        "ttl": st.sampled_from([100, 10**12]),
    },
)


def single(number):
    return struct.unpack("f", struct.pack("f", float(number)))[0]


def wire(item):
    return {
        name: dump_value(
            tuple(map(Decimal, value))
            if isinstance(value, tuple)
            else Decimal(value)
            if isinstance(value, int)
            else value
        )
        for name, value in item.items()
    }


def naive_score(distance, query, vector):
    """Return a score as one would on paper, in floats."""
    dot = sum(left * right for left, right in zip(query, vector, strict=True))
    if distance == "DOT_PRODUCT":
        return dot
    if distance == "EUCLIDEAN":
        return sum((left - right) ** 2 for left, right in zip(query, vector, strict=True)) ** 0.5
    norms = [sum(number**2 for number in side) ** 0.5 for side in (query, vector)]
    return 1.0 if 0 in norms else 1 - dot / (norms[0] * norms[1])


class VectorMachine(RuleBasedStateMachine):
    """All ways to write against a dictionary of items."""

    @initialize()
    def begin(self):
        self.emu = Emulator(clock=ManualClock(50.0), capacity="enforce")
        self.emu.call(
            "CreateTable",
            vector_table(INDEXES["vix"], INDEXES["scoped"], names="pk tenant kind"),
        )
        specification = {"Enabled": True, "AttributeName": "ttl"}
        request = {"TableName": "tab", "TimeToLiveSpecification": specification}
        self.emu.call("UpdateTimeToLive", request)
        self.items = {}
        self.live = ["vix", "scoped"]
        self.kept = None

    def write(self, operation, request, key, item):
        """Ask for a write; what is refused changes nothing."""
        fits = isinstance(item.get("emb", ()), tuple) and len(item.get("emb", (0, 0))) == 2
        try:
            self.emu.call(operation, request)
        except ApiError:
            assert not fits, item
        else:
            assert fits, item
            self.items[key] = item

    @rule(key=st.sampled_from(KEYS), drawn=attributes, way=st.integers(0, 3))
    def put(self, key, drawn, way):
        item = {"pk": key} | drawn
        written = wire(item)
        if way == 0:
            self.write("PutItem", {"TableName": "tab", "Item": written}, key, item)
        elif way == 1:
            requests = {"tab": [{"PutRequest": {"Item": written}}]}
            self.write("BatchWriteItem", {"RequestItems": requests}, key, item)
        elif way == 2:
            action = {"Put": {"TableName": "tab", "Item": written}}
            self.write("TransactWriteItems", {"TransactItems": [action]}, key, item)
        else:
            names = [name for name in written if name != "pk"]
            request = {"TableName": "tab", "Key": {"pk": {"S": key}}}
            if names:
                clauses = ", ".join(f"#{name} = :{name}" for name in names)
                request |= {
                    "UpdateExpression": f"SET {clauses}",
                    "ExpressionAttributeNames": {f"#{name}": name for name in names},
                    "ExpressionAttributeValues": {f":{name}": written[name] for name in names},
                }
            before = self.items.get(key, {})
            self.write("UpdateItem", request, key, before | item)

    @rule(key=st.sampled_from(KEYS), name=st.sampled_from(["emb", "tenant", "kind"]))
    def remove_attribute(self, key, name):
        if key in self.items:
            request = {"TableName": "tab", "Key": {"pk": {"S": key}}}
            self.emu.call("UpdateItem", request | {"UpdateExpression": f"REMOVE {name}"})
            self.items[key] = {n: v for n, v in self.items[key].items() if n != name}

    @rule(key=st.sampled_from(KEYS))
    def delete(self, key):
        self.emu.call("DeleteItem", {"TableName": "tab", "Key": {"pk": {"S": key}}})
        self.items.pop(key, None)

    @rule()
    def expire(self):
        self.emu.clock.advance(120)
        now = self.emu.clock.now()
        self.items = {k: item for k, item in self.items.items() if item.get("ttl", now) >= now}

    @rule(name=st.sampled_from(sorted(INDEXES)))
    def add_or_drop_index(self, name):
        request = {"TableName": "tab", "AttributeDefinitions": types("tenant kind")}
        if name in self.live:
            update = {"Delete": {"IndexName": name}}
            self.live.remove(name)
        else:
            update = {"Create": INDEXES[name]}
            self.live.append(name)
        self.emu.call("UpdateTable", request | {"VectorIndexUpdates": [update]})

    @rule()
    def snapshot(self):
        self.kept = (self.emu.snapshot(), dict(self.items), list(self.live))

    @rule()
    def restore(self):
        if self.kept is not None:
            snapshot, items, live = self.kept
            self.emu.restore(snapshot)
            self.items, self.live = dict(items), list(live)

    def expected(self, name):
        """Return what an index holds: the projection of the table (VIX-30, VIX-33)."""
        entries = {}
        for key, item in self.items.items():
            if "emb" in item and (name != "scoped" or "tenant" in item):
                rest = {n: v for n, v in item.items() if n != "emb"}
                if CARRIED[name] is not None:
                    rest = {n: v for n, v in rest.items() if n in CARRIED[name]}
                entries[key] = (rest, [single(number) for number in item["emb"]])
        return entries

    @invariant()
    def an_index_is_the_projection_of_its_table(self):
        table = self.emu.account().tables.get("tab")
        for name in self.live:
            store = table.vectors.live[name].store
            store.check()
            held = {position[1]: entry for position, entry in store}
            expected = self.expected(name)
            assert held.keys() == expected.keys()
            for key, (rest, vector) in expected.items():
                assert wire(rest) == {
                    n: dump_value(v) for n, v in held[key].item.attributes.items()
                }
                assert list(held[key].vector) == vector
        shown = {
            index["IndexName"]: index for index in described(self.emu).get("VectorIndexes", ())
        }
        assert {n: index["ItemCount"] for n, index in shown.items()} == {
            name: len(self.expected(name)) for name in self.live
        }

    @rule(
        name=st.sampled_from(sorted(INDEXES)),
        query=st.tuples(numbers, numbers),
        most=st.integers(1, 3),
        tenant=st.sampled_from(["t", "u"]),
        kind=st.sampled_from([None, "x"]),
    )
    def search(self, name, query, most, tenant, kind):
        if name not in self.live:
            return
        wanted = {} if kind is None or name == "later" else {"kind": kind}
        if name == "scoped":
            wanted["tenant"] = tenant
        members = {}
        if wanted:
            members = {
                "SearchConditionExpression": " AND ".join(f"{n} = :{n}" for n in wanted),
                "ExpressionAttributeValues": {f":{n}": {"S": v} for n, v in wanted.items()},
            }
        found = nearest(self.emu, *query, index=name, most=most, **members)["SearchResults"]
        singles = [single(number) for number in query]
        distance = INDEXES[name]["DistanceFunction"]
        sign = -1 if distance == "DOT_PRODUCT" else 1
        scores = sorted(
            sign * naive_score(distance, singles, vector)
            for key, (_, vector) in self.expected(name).items()
            if all(self.items[key].get(n) == v for n, v in wanted.items())
        )
        assert [sign * hit["Score"] for hit in found] == pytest.approx(
            scores[:most], rel=1e-6, abs=1e-6
        )


TestVectors = VectorMachine.TestCase
TestVectors.settings = settings(max_examples=settings().max_examples // 4, stateful_step_count=15)
