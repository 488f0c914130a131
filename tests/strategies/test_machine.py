"""The state machine for other people's data-access code."""

from types import MappingProxyType

import boto3
import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule, run_state_machine_as_test

from emulator import ApiError, Settings
from emulator.strategies import DynamoDBMachine
from emulator.strategies import machine as machine_module
from emulator.testing.table_notation import create_request
from tests.counted.test_work import Calls

ORDERS = create_request("orders", indexes={"by_status": "status"}, provisioned=(5, 5))
few = settings(max_examples=10, stateful_step_count=10, database=None, derandomize=True)
found = settings(few, max_examples=50, phases=[Phase.generate])  # failing quickly, not minimally
names = st.sampled_from(["a", "b"])


class Orders(DynamoDBMachine):
    """A repository that does as it says."""

    tables = (ORDERS,)
    keeps_expected = True

    @rule(name=names, status=st.sampled_from(["open", "paid"]))
    def save(self, name, status):
        item = {"pk": name, "status": status}
        boto3.resource("dynamodb").Table("orders").put_item(Item=item)
        self.expected["orders"].put(item)

    @rule(name=names)
    def forget(self, name):
        self.table("orders").delete_item(Key={"pk": name})
        self.expected["orders"].delete({"pk": name})


def test_code_that_is_right_passes():
    run_state_machine_as_test(Orders, settings=few)


def test_what_is_not_expected_is_found():
    class Forgetful(Orders):
        @rule(name=names)
        def lose(self, name):
            self.client.delete_item(TableName="orders", Key={"pk": {"S": name}})

    with pytest.raises(AssertionError, match=r"orders holds .*, and .* is expected"):
        run_state_machine_as_test(Forgetful, settings=found)


def test_a_step_that_is_too_dear_is_found():
    class Dear(DynamoDBMachine):
        tables = (ORDERS,)
        budget = MappingProxyType({"wcu": 3, "scans": 0})

        @rule(count=st.integers(1, 3))
        def save(self, count):
            for number in range(count):
                self.table("orders").put_item(Item={"pk": str(number), "status": "open"})

    with pytest.raises(AssertionError, match=r"\d write units were consumed, and the budget is 3"):
        run_state_machine_as_test(Dear, settings=found)


def test_faults_strike_and_pass():
    struck = set()

    class Unlucky(DynamoDBMachine):
        tables = (ORDERS,)
        faults = ("internal_error", "conflict", "throttle")
        capacity = "enforce"
        routes_boto3 = False

        @rule(name=names)
        def save(self, name):
            try:
                self.emu.call("PutItem", {"TableName": "orders", "Item": {"pk": {"S": name}}})
            except ApiError as error:
                struck.add(error.code)

    run_state_machine_as_test(Unlucky, settings=settings(few, max_examples=40))
    assert struck == {
        "InternalServerError",
        "TransactionConflictException",
        "ProvisionedThroughputExceededException",
    }


def test_lags_do_not_look_like_lost_entries():
    class Late(Orders):
        settings = Settings(gsi_lag=10, ec_lag=5)

    run_state_machine_as_test(Late, settings=few)


def test_a_broken_index_is_found():
    class Broken(Orders):
        @rule()
        def break_index(self):
            index = self.emu.account().tables["orders"].indexes["by_status"]
            for position, _ in list(index.store.walk((0,), (2**64,))):
                index.store.remove(position)

    with pytest.raises(AssertionError, match=r"orders.by_status holds \[\], and .* is expected"):
        run_state_machine_as_test(Broken, settings=found)


@pytest.mark.parametrize(
    ("members", "error"),
    [({"faults": ("conflit",)}, ValueError), ({"budget": {"wcus": 1}}, TypeError)],
)
def test_wrong_faults_and_budgets_are_told_where_the_class_is_written(members, error):
    with pytest.raises(error, match=r"conflit|wcus"):
        type("Wrong", (DynamoDBMachine,), members)


def test_a_failing_run_shows_no_invariant_that_is_not_set():
    class Plain(DynamoDBMachine):
        tables = (create_request("orders"),)

        @rule()
        def fail(self):
            raise LookupError

    with pytest.raises(LookupError) as failure:
        run_state_machine_as_test(Plain, settings=found)
    shown = "\n".join(failure.value.__notes__)
    assert "state.fail()" in shown
    assert "agree" not in shown
    assert "budget" not in shown


# Rules that play several callables, or one that dies


class Counters(DynamoDBMachine):
    """Counts with one request, so nothing is lost."""

    tables = (ORDERS,)
    routes_boto3 = False
    is_careless = False

    def __init__(self):
        super().__init__()
        self.done = 0

    def count(self):
        orders = self.table("orders")
        if self.is_careless:
            seen = orders.get_item(Key={"pk": "a"}).get("Item", {"n": 0})["n"]
            orders.put_item(Item={"pk": "a", "n": seen + 1})
        else:
            orders.update_item(
                Key={"pk": "a"}, UpdateExpression="ADD n :n", ExpressionAttributeValues={":n": 1}
            )
        return "counted"

    @rule()
    def count_twice_at_once(self):
        assert self.interleaved(self.count, self.count) == ["counted", "counted"]
        self.done += 2
        assert self.table("orders").get_item(Key={"pk": "a"})["Item"]["n"] == self.done


def test_an_order_that_is_drawn_loses_no_update_of_careful_code():
    run_state_machine_as_test(Counters, settings=few)


def test_an_order_that_is_drawn_finds_a_lost_update():
    class Careless(Counters):
        is_careless = True

    with pytest.raises(AssertionError):
        run_state_machine_as_test(Careless, settings=found)


def test_a_function_that_dies_leaves_half_of_what_it_does():
    class Pair(DynamoDBMachine):
        tables = (ORDERS,)
        routes_boto3 = False

        def place(self):
            self.table("orders").put_item(Item={"pk": "order"})
            self.table("orders").put_item(Item={"pk": "receipt"})

        @rule()
        def place_and_die(self):
            died = self.interrupted(self.place)
            count = self.table("orders").scan()["Count"]
            assert count in ((0, 1, 2) if died else (2,))
            assert count != 1

    with pytest.raises(AssertionError, match="assert 1 != 1"):
        run_state_machine_as_test(Pair, settings=found)


def test_a_table_that_was_not_written_is_not_scanned():
    machine = DynamoDBMachine()
    machine.create(ORDERS)
    machine.create(create_request("others", indexes={"by_status": "status"}))
    with Calls(machine_module._scanned) as calls:
        machine.tables_and_indexes_agree()
        machine.table("others").put_item(Item={"pk": "a", "status": "open"})
        machine.tables_and_indexes_agree()
        machine.tables_and_indexes_agree()
    machine.teardown()

    assert calls["_scanned"] == 4 + 2
