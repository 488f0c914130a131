"""From which figure on a design is called what: each threshold of the lab, once."""

from __future__ import annotations

from typing import Final

#: The share of throttled calls that still counts as none.
THRESHOLD: Final = 0.001
#: Worlds are alike if their shares of throttled calls differ by less, and all throttle or none.
MOVES: Final = 0.005
#: Less headroom than this is tight.
TIGHT: Final = 1.5
#: A partition is hotter than others from this multiple of the fair share on.
UNEVEN: Final = 1.5
#: The largest multiple of the load that the search for headroom tries.
MOST_HEADROOM: Final = 64.0
#: A chance of throttling under this is taken for none, and over its counterpart for certain.
UNLIKELY: Final = 0.05
CERTAIN: Final = 0.95
#: The numbers of worlds played at which the chance is looked at.
LOOKS: Final = (20, 100, 400, 1_600)
FIRST_WORLDS: Final = LOOKS[0]
#: Worlds in which one unknown is drawn alone.
ALONE_WORLDS: Final = 10
MOST_WORLDS: Final = LOOKS[-1]
#: A load this part of the one that is asked about is clear of it.
CLEAR: Final = 0.95
#: The grades of designs that need no fix.
HEALTHY: Final = ("fine", "tight")
#: And of those that throttle even once their tables have lived with the load.
AT_RISK: Final = ("throttles", "risky")
