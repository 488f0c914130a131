"""The course of every world is that of its log."""

import numpy as np
import pytest

from emulator.lab import aggregate
from emulator.lab.aggregate import courses
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import draw_worlds
from tests.lab.aggregate.worlds import KNOWN, scaling, splitting


@pytest.mark.parametrize("case", [scaling, splitting])
def test_a_course_has_what_the_log_of_its_world_has(case):
    layout = Layout(*case())
    worlds = draw_worlds(0, 4, KNOWN)

    course = courses(layout, worlds)[2]

    log = aggregate.run(layout, seed=worlds[2].arrivals, settings=worlds[2].settings)
    assert course.world == worlds[2]
    consumed = [record.consumed for record in log.resources.values()]
    np.testing.assert_allclose(course.consumed, consumed, rtol=1e-6, atol=1e-6)
    splits = [(split.time, split.cause) for split in log.splits if split.children]
    assert [(course.second_of(split), split.cause) for split in course.splits] == splits
    assert course.scalings == log.scalings
    assert course.splits or course.scalings
