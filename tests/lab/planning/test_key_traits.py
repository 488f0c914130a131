"""Traits of keys: whether they are new every time."""

import pytest

from emulator.lab import Design, Field, Pattern, Workload
from emulator.lab.planning.key_traits import is_new_every_time
from emulator.lab.planning.layout import Layout


@pytest.mark.parametrize(
    ("partition", "creates", "is_new"),
    [
        ("{timestamp}", False, True),
        ("{timestamp:hour}", True, False),
        ("{orderId}", True, True),
        ("{orderId}", False, False),
        ("{userId}", True, False),
    ],
)
def test_a_key_is_new_every_time_with_the_moment_or_a_unique_value(partition, creates, is_new):
    fields = [Field("userId", count=10), Field("orderId", unique="random")]
    put = Pattern("put", "PutItem", rate=1)
    workload = Workload(fields=fields, patterns=[put], duration=60)
    layout = Layout(Design("d", partition=partition, sort="{userId}"), workload)
    key = layout.table_of(put).key(None)
    assert is_new_every_time(key, workload, creates=creates) is is_new
