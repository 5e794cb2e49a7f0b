"""ADPG's compiled rollout does what the fluid model does with one probe per flow and the real controller."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from controllers.adpg import POLICIES
from controllers.adpg.controller import AdpgController, Policy
from controllers.adpg.network import SHAPES, Network
from controllers.adpg.observation import AdpgConfig
from controllers.adpg.rollout import Rollout
from testbed.engines.fluid.fluid import Fluid, Options
from testbed.engines.fluid.layout import incast

T, STEP = 8.192e-6, 0.512e-6


def both(
    network: Network,
    seed: int,
    *,
    delay: float = 0.0,
    start_rate: float = 1.0,
    base_rtt: float = T,
    ramp: float = 0.0,
    steps: int = 4000,
    copies: int = 3,
) -> tuple[Fluid, Rollout]:
    class Given(AdpgController):
        name = "given"

        @classmethod
        def load(cls, config: AdpgConfig) -> Policy:  # noqa: ARG003 - it is given
            return network

    starts = np.random.default_rng(seed).uniform(0, 4 * T, 3 * copies)
    layout = replace(incast(3, copies=copies, base_rtt=base_rtt), start=starts)
    config = AdpgConfig(start_rate=f"{100 * start_rate} %", reference_rtt=0, ramp=ramp)
    fluid = Fluid(layout, Given(config, layout.paths), Options(step=STEP, decision_delay=delay))
    rollout = Rollout(
        np.full(copies, 3), step=STEP, base_rtt=base_rtt, start_rate=start_rate, ramp=ramp, decision_delay=delay
    )
    rollout["start"][:] = starts
    for _ in range(steps):
        fluid.step()
    rollout.advance(network, steps=steps)
    return fluid, rollout


def assert_equal(fluid: Fluid, rollout: Rollout) -> None:
    line = fluid.layout.line_rate
    assert fluid.controller.rate / line == pytest.approx(rollout["rate"], rel=1e-9)
    assert fluid.queue * 8 / line == pytest.approx(rollout["queue"], rel=1e-9, abs=1e-9 * T)
    assert fluid.sent * 8 / line == pytest.approx(rollout["sent"], rel=1e-9)
    assert fluid.queues.dropped * 8 / line == pytest.approx(rollout["dropped"], rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("seed", range(6))
def test_with_any_weights(seed: int) -> None:
    weights = np.random.default_rng(seed)
    assert_equal(*both(Network(tuple(weights.normal(0, 0.5, shape) for shape in SHAPES)), seed))


def test_with_the_shipped_weights_from_start_to_rest() -> None:
    fluid, rollout = both(Network.load(POLICIES / "network.json"), 0, start_rate=0.05, steps=8000, copies=9)
    queue = fluid.queue * 8 / fluid.layout.line_rate
    assert (queue.min() > 0.2 * T, queue.max() < T) == (True, True)  # it is not all at a limit
    assert_equal(fluid, rollout)


@pytest.mark.parametrize(("delay", "base_rtt"), [(0.1 * T, T), (6 * T, T), (0.0, 2 * T)])
def test_with_a_delay_and_another_base_rtt(delay: float, base_rtt: float) -> None:
    assert_equal(*both(Network.load(POLICIES / "network.json"), 5, start_rate=0.05, delay=delay, base_rtt=base_rtt))


def test_with_a_ramp() -> None:
    fluid, rollout = both(Network.load(POLICIES / "network.json"), 5, start_rate=0.002, ramp=0.006, steps=3000)
    assert fluid.controller.rate.min() > 0.05 * fluid.layout.line_rate  # 0.02 without
    assert_equal(fluid, rollout)
