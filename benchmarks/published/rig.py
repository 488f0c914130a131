"""What plays an experiment: a table under virtual time, clients that wait, and open-loop load.

``Rig.call`` is the emulator's one way in. ``Rig.offer`` draws on the engine's buckets below it, for
loads of which there are too many requests to send; splits, growth and scaling are the engine's own.
"""

import random
from collections import Counter

from emulator import Emulator, ManualClock, Settings
from emulator.capacity import READ, WRITE, admit, record
from emulator.capacity.retries import LEGACY
from emulator.clock import NANOSECONDS
from emulator.engine.events import Scaled, Split, SplitRefused
from emulator.service.errors import ApiError
from emulator.storage import HASH_SPACE, key_position

TABLE = "published"
AXES = {"R": READ, "W": WRITE}
#: Seconds from a refused batch to its answer.
ROUND_TRIP = 0.025
GOLDEN = (5**0.5 - 1) / 2


class Rig:
    """One table on a clock of its own; ``time`` is seconds since its creation."""

    def __init__(self, *, seed=0, read=None, write=None, sort=False, gsi=None, **settings):
        self.emu = Emulator(
            clock=ManualClock(), capacity="enforce", settings=Settings(seed=seed, **settings)
        )
        self.account = self.emu.account()
        self.start_ns = self.account.now_ns
        self.create(read, write, sort, gsi)
        self.table = self.account.tables[TABLE]
        self.resource = self.table.resource
        self.splits, self.refused_splits, self.scaled = [], [], []
        self.emu.events.subscribe(self._note)

    def create(self, read, write, sort, gsi):
        keys = ["pk", *(["sk"] if sort else [])]
        request = {
            "TableName": TABLE,
            "KeySchema": _schema(keys),
            **_throughput(read, write),
        }
        if gsi is not None:
            keys += [name for name in gsi["keys"] if name not in keys]
            request["GlobalSecondaryIndexes"] = [
                {
                    "IndexName": "index",
                    "KeySchema": _schema(gsi["keys"]),
                    "Projection": gsi["projection"],
                    "ProvisionedThroughput": _units(gsi["read"], gsi["write"]),
                }
            ]
        request["AttributeDefinitions"] = [
            {"AttributeName": name, "AttributeType": "S"} for name in keys
        ]
        self.emu.call("CreateTable", request)

    def _note(self, event):
        seconds = (event.time_ns - self.start_ns) / NANOSECONDS
        if isinstance(event, Split):
            self.splits.append((seconds, event.cause, len(self.resource.partitions)))
        elif isinstance(event, SplitRefused):
            self.refused_splits.append((seconds, event.cause))
        elif isinstance(event, Scaled):
            self.scaled.append((seconds, event.before, event.after))

    def heat_splits(self, after=0.0):
        """Return when partitions were split for heat, from a moment on."""
        return [seconds for seconds, cause, _ in self.splits if cause == "heat" and seconds > after]

    @property
    def time(self):
        return (self.account.now_ns - self.start_ns) / NANOSECONDS

    def call(self, operation, **request):
        return self.emu.call(operation, {"TableName": TABLE, **request})

    def sleep(self, seconds):
        self.emu.clock.advance(seconds)

    def reserve(self, axis="W", *, index=None):
        """Return the units that the table, or its index, has at hand."""
        resource = self.resource if index is None else self.table.indexes[index].resource
        bucket = resource.meter.own[AXES[axis]]
        bucket.refill(self.account.now_ns)
        return bucket.tokens

    def position(self, pk, *sk):
        return key_position((pk, *sk), self.emu.settings.placement_salt)

    def offer(self, seconds, axis, units, position, strong=True):
        """Ask for units at a moment; return the reasons of a refusal, ``()`` if served."""
        now_ns = self.start_ns + round(seconds * NANOSECONDS)
        self.account.catch_up(now_ns)
        charge = self.resource.charge(AXES[axis], units, position)
        factor = self.emu.settings.eventual_read_factor
        if not strong and factor != 1:
            charge = charge._replace(partition_units=units / factor)
        reasons = admit((charge,), now_ns)
        record((charge,), now_ns, reasons)
        return reasons

    def run(self, load, until, after=0.0, *, strong=True, stop=None):
        """Offer a load second by second; return one ``Second`` for each.

        Args:
            load: From the second to an iterable of (moment in it, axis, units, position).
            until: When it ends.
            after: When it begins.
            strong: Whether reads are strongly consistent.
            stop: From the seconds so far to whether enough was seen.
        """
        seconds = []
        for second in range(int(after), int(until)):
            seen = Second()
            for moment, axis, units, position in load(second):
                reasons = self.offer(second + moment, axis, units, position, strong)
                seen.offered[axis] += units
                if reasons:
                    seen.refused[axis] += units
                    seen.reasons.update(reason.reason for reason in reasons)
                else:
                    seen.served[axis] += units
            seconds.append(seen)
            if stop is not None and stop(seconds):
                break
        return seconds


class Second:
    """What one second of a load asked for and got, in units by axis."""

    def __init__(self):
        self.offered, self.served, self.refused = Counter(), Counter(), Counter()
        self.reasons = Counter()


def _schema(names):
    kinds = ("HASH", "RANGE")
    return [
        {"AttributeName": name, "KeyType": kind} for name, kind in zip(names, kinds, strict=False)
    ]


def _units(read, write):
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": write}


def _throughput(read, write):
    if read is None:
        return {"BillingMode": "PAY_PER_REQUEST"}
    return {"ProvisionedThroughput": _units(read, write)}


# Loads


def spread(rig, rates, slots=16):
    """Return a load on one item collection: sort keys at equal distances, others in each second.

    Args:
        rig: The table.
        rates: Axis to units per second.
        slots: How many groups of requests a second is made of; each stands for its share.
    """
    order = _mixed(slots)
    hot = rig.position("hot")

    def load(second):
        offset = second * GOLDEN % 1
        for number, slot in enumerate(order):
            place = (*hot, f"{(slot + offset) / slots:.6f}")
            for axis, rate in rates.items():
                yield number / slots, axis, rate / slots, place

    return load


def even(rig, rates, slots=64):
    """Return a load on keys at equal distances over the whole table; rates may depend on time."""
    del rig
    places = [(HASH_SPACE * (2 * slot + 1) // (2 * slots), f"key {slot}") for slot in range(slots)]
    return _steady([places[slot] for slot in _mixed(slots)], rates)


def _mixed(slots):
    """Return the slots in an order that rises and falls: by their bits, read backwards."""
    return sorted(range(slots), key=lambda slot: f"{slot:b}".zfill(12)[::-1])


def single(rig, rates, per_second):
    """Return a load of equal requests on one item."""
    return _steady([rig.position("hot", "item")] * per_second, rates)


def _steady(places, rates):
    step = 1 / len(places)

    def load(second):
        for number, place in enumerate(places):
            for axis, rate in rates.items():
                units = (rate(second) if callable(rate) else rate) * step
                if units:
                    yield number * step, axis, units, place

    return load


def requests(rig, rates, *, seed, weight=1, batch=25):
    """Return a load of single requests with random sort keys under one key, in batches.

    Args:
        rig: The table.
        rates: Axis to units per second.
        seed: For the keys.
        weight: How many of the real requests one of these stands for.
        batch: Requests that come at the same moment.
    """
    draw = random.Random(seed)
    hot = rig.position("hot")

    def load(second):
        for axis, rate in rates.items():
            batches = rate / weight / batch
            first, last = round(second * batches), round((second + 1) * batches)
            for number in range(first, last):
                moment = number / batches - second
                for _ in range(batch):
                    yield max(moment, 0.0), axis, weight, (*hot, f"{draw.random():.12f}")

    return load


# Clients


class SerialClient:
    """One client that sends a request, waits for the answer, and retries as boto3's legacy mode."""

    def __init__(self, rig, latency):
        self.rig = rig
        self.latency = latency
        self.throttled = 0
        self.blocks = []

    def put_rows(self, first, count, item_of, block=100):
        """Put rows one after the other; note how long each block of them took."""
        began = mark = self.rig.emu.clock.now()
        for number in range(first, first + count):
            self._put(item_of(number))
            if (number - first + 1) % block == 0:
                now = self.rig.emu.clock.now()
                self.blocks.append(now - mark)
                mark = now
        return self.rig.emu.clock.now() - began

    def _put(self, item):
        for attempt in range(1, LEGACY.attempts + 1):
            self.rig.sleep(self.latency)
            try:
                return self.rig.call("PutItem", Item=item)
            except ApiError as error:
                if not LEGACY.is_retryable(error.code) or attempt == LEGACY.attempts:
                    raise
                self.throttled += 1
                self.rig.sleep(LEGACY.delay(attempt))
        raise AssertionError("the last attempt returns or raises")


class BatchThread:
    """One thread of ``batch_writer``: 25 puts a call, unprocessed ones in the next batch."""

    def __init__(self, rig, latency, item_of, number):
        self.rig, self.latency, self.item_of = rig, latency, item_of
        self.next_ns = rig.account.now_ns + number
        self.number = number
        self.waiting, self.rows, self.attempt = [], 0, 0
        self.throttled, self.first_refusal, self.error = 0, None, None

    def step(self):
        """Send the next call at its moment."""
        while len(self.waiting) < 25:
            self.rows += 1
            self.waiting.append({"PutRequest": {"Item": self.item_of(self.number, self.rows)}})
        batch, rest = self.waiting[:25], self.waiting[25:]
        self.attempt += 1
        try:
            answer = self.rig.emu.call("BatchWriteItem", {"RequestItems": {TABLE: batch}})
        except ApiError as error:
            self.throttled += 1
            if self.first_refusal is None:
                self.first_refusal = self.rig.time
            if self.attempt == LEGACY.attempts:
                self.error = (self.rig.time, error)
                return
            self._wait(min(self.latency, ROUND_TRIP) + LEGACY.delay(self.attempt))
            return
        self.attempt = 0
        self.waiting = answer.get("UnprocessedItems", {}).get(TABLE, []) + rest
        self._wait(self.latency)

    def _wait(self, seconds):
        self.next_ns = self.rig.emu.clock.now_ns() + round(seconds * NANOSECONDS)
