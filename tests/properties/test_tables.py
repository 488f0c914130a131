"""The house's own machine: random tables and indexes against the naive model.

Every answer and every error is compared, and after every step every index with its table.
"""

import json
from copy import copy
from dataclasses import replace
from decimal import Decimal

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from emulator import ApiError
from emulator.clock import DEFAULT_START
from emulator.model import IndexSchema, KeyAttribute, KeySchema, Projection
from emulator.model.wire import dump_item
from emulator.service.errors import TransactionCanceledException
from emulator.strategies import DynamoDBMachine, table_schemas
from emulator.strategies.expression_trees import condition_fragment, merged, update_fragment
from emulator.strategies.expressions import (
    condition_trees,
    key_condition_trees,
    update_trees,
)
from emulator.strategies.oracle.expressions import holds
from emulator.strategies.schemas import ATTRIBUTES, model_items, model_keys

#: Few values of each type, so that keys meet again.
POOLS = {
    "S": ["a", "ab", "b", "é"],
    "N": [0, 1, 10, Decimal("-1.5")],
    "B": [b"\x00", b"\x01", b"\xff", b"\xff\x00"],
}
EXPIRY = st.sampled_from([DEFAULT_START + seconds for seconds in (-10, 30, 90, 1_000)])
#: Made once: a strategy is judged whenever it is new, which takes longer than drawing from it.
CONDITIONS = condition_trees({**ATTRIBUTES, "expires": "N"})
ANY_OR_NO_CONDITION = st.none() | CONDITIONS


class Tables(DynamoDBMachine):
    """One table, written, read, queried, scanned and transacted in every way."""

    capacity = "off"
    routes_boto3 = False
    keeps_expected = True

    @initialize(schema=table_schemas())
    def make(self, schema):
        self.create(schema)
        self.emu.call(
            "UpdateTimeToLive",
            {
                "TableName": "table",
                "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "expires"},
            },
        )
        self.attributes = {
            **ATTRIBUTES,
            "expires": EXPIRY,
            **{name: st.sampled_from(POOLS[kind]) for name, kind in schema.key_types.items()},
        }
        self.keys = model_keys(schema, self.attributes)
        self.items = model_items(schema, self.attributes)

    @property
    def naive(self):
        return self.expected["table"]

    # Drawing

    def updates(self):
        return update_trees(self.naive.schema, self.attributes, total=False)

    # Comparing

    def compare(self, operation, parameters, naive):
        """Ask both, and return both answers if neither refuses."""
        try:
            wanted, refusal = naive(), None
        except ApiError as error:
            wanted, refusal = None, error.code
        try:
            answer, code = self.emu.call(operation, {"TableName": "table"} | parameters), None
        except ApiError as error:
            answer, code = None, error.code
        assert code == refusal
        return answer, wanted

    # Writes

    @rule(data=st.data())
    def put(self, data):
        item, condition = data.draw(self.items), data.draw(ANY_OR_NO_CONDITION)
        answer, old = self.compare(
            "PutItem",
            {"Item": dump_item(item), "ReturnValues": "ALL_OLD"} | _conditioned(condition),
            lambda: self.naive.put(item, condition),
        )
        if answer is not None:
            assert answer == ({} if old is None else {"Attributes": dump_item(old)})

    @rule(data=st.data(), value=st.sampled_from([True, "", Decimal(7), b"", "text"]))
    def put_a_wrong_key(self, data, value):
        name = data.draw(st.sampled_from(sorted(self.naive.schema.key_types)))
        item = data.draw(self.items) | {name: value}
        self.compare("PutItem", {"Item": dump_item(item)}, lambda: self.naive.put(item))

    @rule(data=st.data())
    def update(self, data):
        key, condition = data.draw(self.keys), data.draw(ANY_OR_NO_CONDITION)
        actions = data.draw(self.updates())
        expression = merged(update_fragment(actions), _conditioned(condition))
        answer, images = self.compare(
            "UpdateItem",
            {"Key": dump_item(key), "ReturnValues": "ALL_NEW"} | expression,
            lambda: self.naive.update(key, actions, condition),
        )
        if answer is not None:
            new = images[1]
            assert answer == ({} if new is None else {"Attributes": dump_item(new)})

    @rule(data=st.data())
    def delete(self, data):
        key, condition = data.draw(self.keys), data.draw(ANY_OR_NO_CONDITION)
        answer, old = self.compare(
            "DeleteItem",
            {"Key": dump_item(key), "ReturnValues": "ALL_OLD"} | _conditioned(condition),
            lambda: self.naive.delete(key, condition),
        )
        if answer is not None:
            assert answer == ({} if old is None else {"Attributes": dump_item(old)})

    @rule(data=st.data())
    def transact(self, data):
        keys = data.draw(st.lists(self.keys, min_size=1, max_size=3, unique_by=self.naive.key_of))
        trial = copy(self.naive)
        trial.items = dict(self.naive.items)
        actions, fine = [], True
        for key in keys:
            action, accepted = self._transacted(data, trial, key)
            actions.append(action)
            fine = fine and accepted
        try:
            self.emu.call("TransactWriteItems", {"TransactItems": actions})
            cancelled = False
        except TransactionCanceledException:
            cancelled = True
        assert cancelled is not fine
        if fine:
            self.naive.items = trial.items

    def _transacted(self, data, trial, key):
        """Draw an action on a key, and try it on a copy of the model."""
        kind = data.draw(st.sampled_from(["Put", "Update", "Delete", "ConditionCheck"]))
        condition = data.draw(ANY_OR_NO_CONDITION)
        body = {"TableName": "table", "Key": dump_item(key)} | _conditioned(condition)
        if kind == "Put":
            item = data.draw(self.items) | key
            del body["Key"]
            body["Item"] = dump_item(item)
            attempt = lambda: trial.put(item, condition)  # noqa: E731
        elif kind == "Update":
            actions = data.draw(self.updates())
            body = merged(body, update_fragment(actions))
            attempt = lambda: trial.update(key, actions, condition)  # noqa: E731
        elif kind == "ConditionCheck" and condition is not None:
            return {kind: body}, holds(condition, trial.items.get(trial.key_of(key), {}))
        else:
            kind = "Delete"
            attempt = lambda: trial.delete(key, condition)  # noqa: E731
        try:
            attempt()
        except ApiError:
            return {kind: body}, False
        return {kind: body}, True

    @rule(data=st.data())
    def write_a_batch(self, data):
        items = data.draw(st.lists(self.items, min_size=1, max_size=4, unique_by=self.naive.key_of))
        writes = []
        for item in items:
            if data.draw(st.booleans()):
                self.naive.put(item)
                writes.append({"PutRequest": {"Item": dump_item(item)}})
            else:
                key = {name: item[name] for name in self.naive.schema.key.names}
                self.naive.delete(key)
                writes.append({"DeleteRequest": {"Key": dump_item(key)}})
        answer = self.emu.call("BatchWriteItem", {"RequestItems": {"table": writes}})
        assert answer == {"UnprocessedItems": {}}

    # Reads

    @rule(data=st.data())
    def get(self, data):
        key = data.draw(self.keys)
        answer = self.emu.call("GetItem", {"TableName": "table", "Key": dump_item(key)})
        item = self.naive.items.get(self.naive.key_of(key))
        assert answer == ({} if item is None else {"Item": dump_item(item)})

    @rule(data=st.data(), reverse=st.booleans(), limit=st.none() | st.integers(1, 3))
    def query(self, data, reverse, limit):
        index = data.draw(self._indexes())
        key = self.naive.schema.key_of(index)
        tree = data.draw(key_condition_trees(key, self.attributes))
        request = condition_fragment(tree, "KeyConditionExpression", "k")
        answer = self._pages("Query", index, request | {"ScanIndexForward": not reverse}, limit)
        assert answer == [dump_item(item) for item in self.naive.read(index, tree, reverse=reverse)]

    @rule(data=st.data(), limit=st.none() | st.integers(1, 3))
    def scan_with_a_filter(self, data, limit):
        index = data.draw(self._indexes())
        tree = data.draw(CONDITIONS)
        request = condition_fragment(tree, "FilterExpression", "f")
        found = self._pages("Scan", index, request, limit)
        # An index sees only what it projects (QRY-10).
        wanted = [item for item in self.naive.read(index) if holds(tree, item)]
        assert _unordered(found) == _unordered(map(dump_item, wanted))

    def _indexes(self):
        return st.sampled_from([None, *(index.name for index in self.naive.schema.indexes)])

    def _pages(self, operation, index, request, limit):
        """Return all items of all pages."""
        request = {"TableName": "table"} | request
        if index is not None:
            request["IndexName"] = index
        if limit is not None:
            request["Limit"] = limit
        found = []
        while True:
            page = self.emu.call(operation, request)
            assert len(page["Items"]) == page["Count"] <= page["ScannedCount"]
            found += page["Items"]
            if "LastEvaluatedKey" not in page:
                return found
            request["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    # Time and indexes

    @rule(seconds=st.integers(0, 120))
    def time_passes(self, seconds):
        """Expired items go at whole minutes (TTL-4, CAP-1101)."""
        before = self.clock.now() // 60
        self.clock.advance(seconds)
        minute = self.clock.now() // 60
        if minute > before:
            self.naive.items = {
                key: item
                for key, item in self.naive.items.items()
                if not isinstance(item.get("expires"), Decimal)
                or not _expired(item["expires"], minute * 60)
            }

    @precondition(lambda self: len(self.naive.schema.indexes) < 4)
    @rule(data=st.data(), projection=st.sampled_from([Projection("ALL"), Projection("KEYS_ONLY")]))
    def add_an_index(self, data, projection):
        """Items that the new index cannot hold are passed over (MAK-26)."""
        schema = self.naive.schema
        possible = [
            *schema.key.attributes,
            KeyAttribute("total", "N"),
            KeyAttribute("expires", "N"),
        ]
        chosen = data.draw(st.lists(st.sampled_from(possible), min_size=1, unique=True))
        hashes = data.draw(st.integers(1, len(chosen)))
        index = IndexSchema(
            f"added{len(schema.indexes)}",
            KeySchema(tuple(chosen[:hashes]), tuple(chosen[hashes:])),
            projection,
            is_global=True,
            table_key=schema.key,
        )
        after = replace(schema, indexes=(*schema.indexes, index))
        wired = after.create_request()
        self.emu.call(
            "UpdateTable",
            {
                "TableName": "table",
                "AttributeDefinitions": wired["AttributeDefinitions"],
                "GlobalSecondaryIndexUpdates": [{"Create": wired["GlobalSecondaryIndexes"][-1]}],
            },
        )
        self.naive.schema = after
        self.items = model_items(after, self.attributes)


def _expired(expiry, now):
    return now - 5 * 365 * 24 * 3600 < expiry < now


def _conditioned(condition):
    return {} if condition is None else condition_fragment(condition, "ConditionExpression", "c")


def _unordered(items):
    return sorted(json.dumps(item, sort_keys=True) for item in items)


Tables.TestCase.settings = settings(
    max_examples=settings().max_examples // 4,
    stateful_step_count=settings().stateful_step_count // 2,
    suppress_health_check=list(HealthCheck),
    phases=set(Phase) - {Phase.explain},  # explaining a machine takes minutes
)
TestTables = Tables.TestCase
