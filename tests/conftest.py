"""How hypothesis runs here: HYPOTHESIS_PROFILE is ci (default), dev or deep.

``ci`` draws the same examples every time, so that a red run is red for a reason in the change;
``dev`` draws new ones while one works on a room, ``deep`` many more of them at night.
"""

import os

from hypothesis import settings

settings.register_profile(
    "ci", deadline=None, derandomize=True, print_blob=True, max_examples=50, stateful_step_count=40
)
settings.register_profile("dev", deadline=None)
settings.register_profile("deep", deadline=None, max_examples=2_000, stateful_step_count=100)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
