"""The model that tuners are trained in: its traffic is what was asked for, and the same again."""

from __future__ import annotations

import numpy as np
import pytest
from testbed_plugins.learned.environment import Environment, Range

from testbed.compiled.flows import build
from testbed.engines.fluid.fluid import Fluid, Options
from testbed.engines.fluid.layout import FluidLayout
from testbed.engines.fluid.switch import ModelSwitch
from testbed.registry import find
from testbed.tuner import Thresholds


def played(seed: int, slots: int = 30, **ranges: tuple[float, float]) -> tuple[Environment, np.ndarray]:
    environment = Environment("websearch", seed, ports=16, ranges=Range(**ranges), rates=(100e9,))  # type: ignore[arg-type]
    environment.reset(Thresholds.uniform(16, 20e3, 40e3, 1.0))
    samples = [environment.advance() for _ in range(slots)]
    return environment, np.array([[one.mean_queue, one.tx_rate, one.incast_degree] for one in samples])


def test_same_seed_same_slots() -> None:
    assert np.array_equal(played(3, 8)[1], played(3, 8)[1])
    assert not np.array_equal(played(3, 8)[1], played(4, 8)[1])


def test_load_is_what_was_asked_for() -> None:
    """Arrivals of 16 ports over 60 slots: 40 % of what they can carry, give or take the tail of the sizes."""
    environment, _ = played(1, 60, load=(0.4, 0.4), elephants=(0, 0))
    layout = environment.fluid.layout
    arrived = environment.fluid.queues.arrived.sum() * 8
    assert arrived / (16 * layout.line_rate * environment.fluid.now) == pytest.approx(0.4, rel=0.35)


def test_messages_end_no_sooner_than_alone() -> None:
    environment, _ = played(2)
    slowdown = np.concatenate(environment.finished.slowdown)
    assert len(slowdown) > 50
    assert slowdown.min() >= 1.0
    assert (~environment.free).sum() < 16 * environment.flows


def test_the_models_switch_counts_senders_and_elephants() -> None:
    """Two hosts send to queue 0, one of them with two flows; one host sends to queue 1 and is soon an elephant."""
    n, rate, rtt = 4, 100e9, 8e-6
    layout = FluidLayout(
        host=np.array([0, 0, 1, 2]), queue=np.array([0, 0, 0, 1]), start=np.zeros(n), size=np.full(n, np.inf),
        base_rtt=np.full(n, rtt), line_rate=rate, buffer=5e6,
    )  # fmt: skip
    fixed = find("controller", "fixed")
    fluid = Fluid(layout, build(fixed.form, fixed.configure(None, {}), layout.paths), Options(step=1e-6))
    switch = ModelSwitch(fluid, 3, np.array([0, 2]), monitor=True)
    switch.sample(0)
    for _ in range(200):
        fluid.step()
    after = switch.sample(0)
    assert after["incast_degree"].tolist() == [2, 0, 1]
    assert after["mice_share"][2] == 0.0
    assert after["mice_share"][0] == 1.0 - (fluid.sent[:3] > 1e6).mean()


def test_copies_get_the_same_traffic() -> None:
    environment = Environment("websearch", 5, ports=4, copies=2)
    environment.reset(Thresholds.uniform(4, 20e3, 40e3, 1.0))
    for _ in range(20):
        environment.advance()
    size = environment.fluid.layout.size.reshape(4, -1)
    assert np.array_equal(size[:2], size[2:])
    assert not np.array_equal(size[0], size[1])
