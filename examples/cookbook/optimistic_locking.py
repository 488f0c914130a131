"""Two clients with optimistic locking never lose an update, under injected conflicts.

Both clients read a counter, add one and write it back, in any interleaving; some requests fail
with an internal error or a conflict, and the clients try again. With a version condition the
counter always equals the increments that were reported as done. Without one, hypothesis finds
the four steps in which an update is lost.
"""

from hypothesis import Phase, settings
from hypothesis.stateful import invariant, precondition, rule, run_state_machine_as_test

from emulator import ApiError, Emulator
from emulator.strategies import DynamoDBMachine, create_request

COUNTERS = create_request("counters")
KEY = {"pk": {"S": "visits"}}


class Counter:
    """A client that reads, adds one, and writes if nobody was faster."""

    condition = "attribute_not_exists(version) OR version = :version"

    def __init__(self, call):
        self.call = call
        self.seen = None

    def read(self):
        item = self.call("GetItem", {"TableName": "counters", "Key": KEY}).get("Item", {})
        self.seen = int(item.get("n", {"N": "0"})["N"])

    def write(self):
        """Write one more than was read."""
        seen, self.seen = self.seen, None
        item = {**KEY, "n": {"N": str(seen + 1)}, "version": {"N": str(seen + 1)}}
        request = {"TableName": "counters", "Item": item}
        if self.condition:
            request["ConditionExpression"] = self.condition
            request["ExpressionAttributeValues"] = {":version": {"N": str(seen)}}
        self.call("PutItem", request)


class CarelessCounter(Counter):
    condition = None


class TwoClients(DynamoDBMachine):
    tables = (COUNTERS,)
    faults = ("internal_error", "conflict")
    routes_boto3 = False
    counter = Counter

    def __init__(self):
        super().__init__()
        self.clients = {name: self.counter(self.emu.call) for name in ("ann", "bob")}
        self.done = 0
        self.steps = []

    @rule()
    def ann_reads(self):
        self._step("read", self.clients["ann"].read)

    @rule()
    def bob_reads(self):
        self._step("read", self.clients["bob"].read)

    @precondition(lambda self: self.clients["ann"].seen is not None)
    @rule()
    def ann_writes(self):
        self.done += self._step("write", self.clients["ann"].write)

    @precondition(lambda self: self.clients["bob"].seen is not None)
    @rule()
    def bob_writes(self):
        self.done += self._step("write", self.clients["bob"].write)

    def _step(self, name, action):
        """Do something, and say whether it was done; a client that is refused reads again."""
        try:
            action()
        except ApiError:
            return False
        self.steps.append(name)  # not whose: either client may write first
        return True

    @invariant()
    def every_update_counts(self):
        unharmed = Emulator(clock=self.clock)
        unharmed.restore(self.emu.snapshot())
        reader = Counter(unharmed.call)
        reader.read()
        assert reader.seen == self.done, (self.steps, reader.seen, self.done)


class TwoCarelessClients(TwoClients):
    faults = ()
    counter = CarelessCounter


def play(machine):
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=60,
            stateful_step_count=15,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate, Phase.shrink],
        ),
    )


def main():
    play(TwoClients)
    print("with a version condition: no update is lost")
    try:
        play(TwoCarelessClients)
    except AssertionError as error:
        steps, held, done = error.args[0]
        print(f"without: {', '.join(steps)}: {done} updates were done and {held} counted")


if __name__ == "__main__":
    main()
