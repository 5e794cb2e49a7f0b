"""Long flows, and short ones that interrupt them."""

from __future__ import annotations

import math
from collections import Counter

from testbed.experiment.traffic.long_short import LongShort
from testbed.experiment.traffic.pattern import Context
from tests.experiment.traffic.made import CONTEXT


def test_long_and_short_flows() -> None:
    pattern = LongShort(pattern="long-short", long=1, short=127, interruptions=["10 ms", "20 ms"], spread="1 ms")
    flows = pattern.expand(CONTEXT)
    long, short = flows[:1], flows[1:]
    assert [(flow.label, flow.size, flow.start) for flow in long] == [("long", math.inf, 0.0)]
    assert {flow.label for flow in short} == {"short"}
    assert {flow.size for flow in short} == {64e3}
    for flow in short[:127]:
        assert 10e-3 <= flow.start < 11e-3
    for flow in short[127:]:
        assert 20e-3 <= flow.start < 21e-3
    assert set(Counter(flow.src for flow in flows[:128]).values()) == {2}  # 64 x 2, as in many-to-one
    assert flows == pattern.expand(CONTEXT)
    assert flows != pattern.expand(Context(16, 100e9, 30e-3, seed=(2,)))
