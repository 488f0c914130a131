"""Token buckets: exact, path-independent, never over-granting."""

from fractions import Fraction

from hypothesis import example, given
from hypothesis import strategies as st

from emulator.capacity import ONE, TokenBucket

rates = st.integers(min_value=1, max_value=1_000)
burst_seconds = st.sampled_from([0, 1, 300])
pauses = st.integers(min_value=0, max_value=400 * ONE)
half_units = st.integers(min_value=1, max_value=2_000)


class Oracle:
    """The bucket of CAP-602 in seconds and fractions."""

    def __init__(self, rate, burst_seconds):
        self.rate, self.time = rate, Fraction(0)
        self.base, self.burst = Fraction(rate), Fraction(0)
        self.burst_cap = rate * burst_seconds

    def try_take(self, units, now):
        self.base += self.rate * (now - self.time)
        self.time = now
        if self.base > self.rate:
            self.burst = min(Fraction(self.burst_cap), self.burst + self.base - self.rate)
            self.base = Fraction(self.rate)
        if self.base + self.burst < min(units, 1):
            return False
        self.base -= units
        if self.base < 0:
            used = min(self.burst, -self.base)
            self.burst -= used
            self.base += used
        return True


@given(rates, burst_seconds, st.lists(st.tuples(pauses, half_units)))
@example(5, 300, [(0, 800), (79 * ONE, 2), (ONE, 2)])  # EX-46
def test_a_bucket_equals_the_oracle_in_fractions(rate, burst, demands):
    """CAP-602, CAP-603."""
    bucket, oracle = TokenBucket(rate, 0, burst), Oracle(rate, burst)
    now = 0
    for pause, halves in demands:
        now += pause
        bucket.refill(now)
        cost = halves * ONE // 2
        admitted = bucket.can_take(cost)
        if admitted:
            bucket.take(cost)
        bucket.check()
        assert admitted == oracle.try_take(Fraction(halves, 2), Fraction(now, ONE))
        assert Fraction(bucket.base, ONE) == oracle.base
        assert Fraction(bucket.burst, ONE) == oracle.burst


@given(rates, burst_seconds, st.lists(st.tuples(pauses, half_units)))
@example(1, 0, [(0, 2), (0, 2)])  # two callers, one token
def test_grants_never_exceed_the_balance_plus_the_refill(rate, burst, demands):
    """CAP-603: over any window; the last request may overdraw, as it needs one unit only."""
    bucket, now = TokenBucket(rate, 0, burst), 0
    history = []
    for pause, halves in demands:
        now += pause
        bucket.refill(now)
        cost = halves * ONE // 2
        if bucket.can_take(cost):
            history.append((now, bucket.base + bucket.burst, cost))
            bucket.take(cost)
    for first, (opened, balance, _) in enumerate(history):
        granted = 0
        for closed, _, cost in history[first:]:
            assert granted < balance + rate * (closed - opened)
            granted += cost


@given(rates, burst_seconds, half_units, st.lists(pauses, min_size=1))
def test_refilling_in_steps_equals_refilling_once(rate, burst, halves, steps):
    """CAP-614: state is a function of time, not of how often it was looked at."""
    stepped, direct = TokenBucket(rate, 0, burst), TokenBucket(rate, 0, burst)
    for bucket in (stepped, direct):
        bucket.take(halves * ONE // 2)
    now = 0
    for step in steps:
        now += step
        stepped.refill(now)
    direct.refill(now)
    assert stepped.save() == direct.save()


@given(rates, rates, half_units, pauses)
def test_a_new_rate_keeps_the_tokens_within_the_new_caps(rate, other, halves, pause):
    """CAP-604."""
    bucket, kept = TokenBucket(rate, 0), TokenBucket(rate, 0)
    for each in (bucket, kept):
        each.take(halves * ONE // 2)
    kept.refill(pause)
    bucket.set_rate(other, pause)
    bucket.check()
    assert bucket.base == min(kept.base, other * ONE)
    assert bucket.burst == min(kept.burst, other * 300 * ONE)


def test_a_new_bucket_is_full_and_has_no_burst():
    """CAP-602, the start column."""
    bucket = TokenBucket(100, now_ns=5)
    assert (bucket.save(), bucket.tokens) == ((100 * ONE, 0, 5), 100.0)


def test_five_idle_minutes_serve_900_seconds_of_overload():
    """CAP-601, EX-45."""
    bucket = TokenBucket(150, 0)
    admitted = []
    for second in range(1_000):
        bucket.refill((301 + second) * ONE)
        served = 0
        for _ in range(200):
            if bucket.can_take(ONE):
                bucket.take(ONE)
                served += 1
        admitted.append(served)
    assert admitted == [200] * 900 + [150] * 100


def test_a_large_write_on_a_small_table_is_repaid_before_the_next():
    """CAP-603, EX-46."""
    bucket = TokenBucket(5, 0)
    assert bucket.can_take(400 * ONE)
    bucket.take(400 * ONE)
    assert bucket.base == -395 * ONE
    waited = next(
        second
        for second in range(1, 100)
        if bucket.refill(second * ONE) >= 0 and bucket.can_take(ONE)
    )
    assert waited == 80


def test_a_half_unit_needs_only_half_a_unit():
    """CAP-603: one unit, or the whole cost if less."""
    bucket = TokenBucket(1, 0)
    bucket.take(ONE // 2)
    assert bucket.can_take(ONE // 2)
    assert not bucket.can_take(ONE)


def test_time_that_stands_still_or_goes_back_adds_nothing():
    bucket = TokenBucket(10, now_ns=ONE)
    bucket.take(4 * ONE)
    state = bucket.save()
    bucket.refill(ONE)
    bucket.refill(0)
    assert bucket.save() == state


def test_a_copy_goes_its_own_way():
    bucket = TokenBucket(10, 5, burst_seconds=2)
    bucket.take(3 * ONE)
    twin = bucket.copy()
    twin.check()
    assert twin.save() == bucket.save()
    twin.take(ONE)
    assert (twin.tokens, bucket.tokens) == (6.0, 7.0)


def test_a_saved_state_is_restored():
    """CAP-611."""
    bucket = TokenBucket(10, 0)
    state = bucket.save()
    bucket.refill(ONE)
    bucket.take(25 * ONE)
    bucket.restore(state)
    assert bucket.save() == state
