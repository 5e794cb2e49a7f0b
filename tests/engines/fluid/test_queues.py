"""Queues of the model: nothing is lost but what is counted, and what joins is marked."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.controller import RateController
from testbed.engines.fluid.fluid import Fluid, Options
from testbed.engines.fluid.layout import incast
from testbed.plugin import PluginConfig

STEP = 1e-6
LINE = 100e9
PER_STEP = LINE / 8 * STEP  # bytes that a queue sends


class Steady(RateController):
    """Line rate."""

    name = "steady"

    def on_feedback(self, now: float, flows: object, feedback: object) -> None:
        """Whatever comes."""


def model(flows: int, rtt: float, buffer: float, steps: int, **options: tuple[float, float, float]) -> Fluid:
    """Flows at line rate for so many steps, then silent."""
    layout = incast(flows, base_rtt=rtt, buffer=buffer)
    layout.size[:] = steps * PER_STEP
    layout.start[:] = STEP / 2
    return Fluid(layout, Steady(PluginConfig(), layout.paths), Options(step=STEP, **options))


def test_what_is_sent_arrives_half_a_round_trip_later_and_all_of_it_is_somewhere() -> None:
    fluid = model(7, 8 * STEP, 4 * PER_STEP, 1)
    queues = fluid.queues
    for _ in range(4):
        fluid.step()
        assert queues.arrived[0] == 0
    fluid.step()
    assert queues.arrived[0] == pytest.approx(7 * PER_STEP)
    assert queues.dropped[0] == pytest.approx(2 * PER_STEP)  # one of seven leaves, four fit
    for left in (4, 3, 2, 1, 0, 0):
        assert queues.now[0] == pytest.approx(left * PER_STEP)
        assert queues.arrived[0] == pytest.approx(queues.now[0] + queues.left[0] + queues.dropped[0])
        fluid.step()
    assert queues.left[0] == pytest.approx(5 * PER_STEP)


def test_what_is_dropped_is_not_marked() -> None:
    fluid = model(8, 2 * STEP, 2 * PER_STEP, 3, red=(0.5 * PER_STEP, PER_STEP, 1.0))
    queues = fluid.queues
    for _ in range(4):
        fluid.step()
    # The first arrivals find no queue. The queue is full afterwards: a step's worth joins, and all of it is marked.
    assert queues.arrived[0] == pytest.approx(3 * 8 * PER_STEP)
    assert queues.dropped[0] == pytest.approx((5 + 7 + 7) * PER_STEP)
    assert queues.marked[0] == pytest.approx(2 * PER_STEP)


@pytest.mark.parametrize("flows", [1, 7, 8, 64, 127, 128, 129, 1000, 4097])
def test_sums_are_those_of_numpy(flows: int) -> None:
    """To the bit, so that what a run shows does not depend on which part of the model is compiled."""
    fluid = model(flows, 2 * STEP, 1e12, 10)
    fluid.step()
    rng = np.random.default_rng(flows)
    fluid.controller.rate[:] = rng.uniform(0, LINE, flows)
    fluid.apply_decisions()
    before = fluid.sent.copy()
    amount = fluid.controller.rate * (STEP / 8)
    arrived = fluid.queues.arrived[0]
    fluid.step()
    assert np.array_equal(fluid.sent, before + amount)
    fluid.step()
    assert fluid.queues.arrived[0] == arrived + before.sum() + amount.sum()
