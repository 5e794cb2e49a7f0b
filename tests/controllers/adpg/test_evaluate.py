"""How failures are recognised, and the aim."""

from __future__ import annotations

import math

import numpy as np
import pytest
from testbed_controllers.adpg import AdpgInt8
from testbed_controllers.adpg.distilled import POLICIES
from testbed_controllers.adpg.evaluate import Aim, failure, many_to_one, ramp, settled
from testbed_controllers.adpg.int8 import Int8Network
from testbed_controllers.adpg.network import SHAPES, Network

from tests.controllers.adpg.by_hand import network, oracle


def test_a_policy_that_only_slows_down_is_dead() -> None:
    figures = [many_to_one(network({2: 1.0}, -5.0), flows) for flows in (2, 8)]
    assert "dead" in failure(figures)
    assert max(one.su for one in figures) < 60


def test_a_policy_that_only_switches_is_a_limit_cycle() -> None:
    figures = [many_to_one(_switch(), flows) for flows in (8, 2)]
    assert "limit cycle: with 2 flows" in failure(figures)


def _switch() -> Network:
    """Full speed up below the aim, full slow down above it."""
    first, second, last = (np.zeros(shape) for shape in SHAPES)
    first[0, 3], first[1, 3] = 1.0, -1.0
    second[0, 0] = second[1, 1] = 1.0
    last[0, :2] = -50.0, 50.0
    return Network((first, second, last))


def test_the_ramp_of_a_constant_multiplier_is_a_geometric_series() -> None:
    least = math.log(0.95 / 0.01) / math.log(1.2)  # decisions; each takes an RTT
    assert ramp(network({2: 1.0}, 50.0)) == pytest.approx(math.ceil(least), abs=1.5)
    assert ramp(network({2: 1.0}, -50.0)) == math.inf


def test_the_aim_is_the_oracle() -> None:
    for flows in (1, 2, 64, 8192):
        assert Aim().queue(flows) == pytest.approx(oracle(flows))


@pytest.mark.parametrize("preset", ["windowed", "ramp"])
@pytest.mark.parametrize("flows", [64, 128])
def test_the_shipped_8_bits_are_fair_with_many_flows(flows: int, preset: str) -> None:
    growth = AdpgInt8.presets[preset].get("ramp", 0.0)
    figures = settled(Int8Network.load(POLICIES / "int8.json"), flows, growth=growth)
    assert figures.fr >= 0.95
    assert abs(figures.error) <= 0.05
