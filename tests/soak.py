"""How long tests go on that draw at random: a few seeds in `make test`, many times as many in `make soak`.

Such a test is marked `soak` and asks `times` for its number. A seed that fails is named in the failure.
"""

from __future__ import annotations

import os

TIMES = int(os.environ.get("MOONTIDE_TIMES", "1"))


def times(few: int) -> int:
    """Return so many seeds, messages or rounds, or many times as many."""
    return few * TIMES
