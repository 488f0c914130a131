"""No sequence of orders makes this single-table design lose an index entry.

One table holds customers and their orders. Open orders are listed through a sparse global index:
an order is in it while it has ``open_since``. The machine plays orders in any sequence, lets time
pass, and after every step compares the index with the table and with a plain dictionary.

A second repository has the mistake that tests with three fixed orders do not show: paying marks
the order, and forgets to take it out of the index. Hypothesis finds the shortest way there.
"""

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, invariant, rule, run_state_machine_as_test

from emulator.strategies import DynamoDBMachine, create_request

SHOP = create_request("shop", "PK", "SK", indexes={"open_orders": ("PK", "open_since:N")})
CUSTOMERS = st.sampled_from(["ann", "bob"])
NUMBERS = st.integers(1, 3)


class Orders:
    """The data-access code under test."""

    def __init__(self, table):
        self.table = table

    def place(self, customer, number, now):
        key = {"PK": f"CUSTOMER#{customer}", "SK": f"ORDER#{number}"}
        self.table.put_item(Item={**key, "status": "open", "open_since": now})

    def pay(self, customer, number):
        self.table.update_item(
            Key={"PK": f"CUSTOMER#{customer}", "SK": f"ORDER#{number}"},
            UpdateExpression="SET #status = :paid REMOVE open_since",
            ExpressionAttributeNames={"#status": "status"},
            ExpressionAttributeValues={":paid": "paid"},
        )

    def open_orders(self, customer):
        found = self.table.query(
            IndexName="open_orders",
            KeyConditionExpression="PK = :customer",
            ExpressionAttributeValues={":customer": f"CUSTOMER#{customer}"},
        )
        return {item["SK"] for item in found["Items"]}


class ForgetfulOrders(Orders):
    def pay(self, customer, number):
        self.table.update_item(
            Key={"PK": f"CUSTOMER#{customer}", "SK": f"ORDER#{number}"},
            UpdateExpression="SET #status = :paid",
            ExpressionAttributeNames={"#status": "status"},
            ExpressionAttributeValues={":paid": "paid"},
        )


class Shop(DynamoDBMachine):
    tables = (SHOP,)
    routes_boto3 = False
    repository = Orders
    placed = Bundle("placed")

    def __init__(self):
        super().__init__()
        self.orders = self.repository(self.table("shop"))
        self.open = {"ann": set(), "bob": set()}
        self.steps = []

    @rule(target=placed, customer=CUSTOMERS, number=NUMBERS)
    def place(self, customer, number):
        self.steps.append(f"place({customer}, {number})")
        self.orders.place(customer, number, int(self.clock.now()))
        self.open[customer].add(f"ORDER#{number}")
        return customer, number

    # What is paid was placed, so that shrinking has one number to lower, and not two at once.
    @rule(order=placed)
    def pay(self, order):
        customer, number = order
        self.steps.append(f"pay({customer}, {number})")
        self.orders.pay(customer, number)
        self.open[customer].discard(f"ORDER#{number}")

    @invariant()
    def the_index_lists_the_open_orders(self):
        for customer, expected in self.open.items():
            listed = self.orders.open_orders(customer)
            assert listed == expected, (self.steps, listed)


class ForgetfulShop(Shop):
    repository = ForgetfulOrders


def play(machine, examples):
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=12,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate, Phase.shrink],
        ),
    )


def main():
    play(Shop, 30)
    print("Orders: no sequence found that loses or keeps an index entry wrongly.")
    try:
        play(ForgetfulShop, 30)
    except AssertionError as error:
        steps, listed = error.args[0]
        print(f"ForgetfulOrders: after {', '.join(steps)} the index still lists {sorted(listed)}.")


if __name__ == "__main__":
    main()
