"""How gains are told."""

from __future__ import annotations

import math

from testbed.advise.verdict import percent, signed


def test_nothing_has_no_minus() -> None:
    assert [signed(one) for one in (-0.0004, 0.0, 0.0006, -0.05)] == ["+0.0 %", "+0.0 %", "+0.1 %", "-5.0 %"]
    assert signed(math.nan) == percent(math.inf) == "not known"
