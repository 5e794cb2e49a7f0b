"""The shipped policies, three seeds each, in the fluid engine: which class of outcome they are (docs/learned.md)."""

from __future__ import annotations

import pytest
from testbed_controllers.baselines import Aurora, Ppo, Reinforce
from testbed_controllers.baselines.evaluate import Figures, measure
from testbed_controllers.baselines.shipped import SEEDS


def figures(lost: float = 0.0, queue: float = 0.0, su: float = 100.0) -> Figures:
    return Figures(2, su, 1.0, queue, lost)


def test_classes() -> None:
    """1 % of loss, half of the buffer (200 us), SU of 5 and 80 %."""
    assert figures(lost=0.011).kind == figures(queue=201e-6).kind == "PL"
    assert figures(su=4.9).kind == "idle"
    assert figures(su=79.9).kind == "timid"
    assert figures(lost=0.009, queue=199e-6).kind == "fine"


@pytest.mark.parametrize("seed", SEEDS)
def test_aurora_loses_packets_from_two_flows_on(seed: int) -> None:
    config = Aurora.Config(seed=seed)
    assert measure(Aurora, config, 1, warmup=4e-3, duration=6e-3).su > 95
    for flows in (2, 16):
        assert measure(Aurora, config, flows, warmup=20e-3, duration=25e-3).kind == "PL"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("flows", [2, 128])
def test_ppo_idles(flows: int, seed: int) -> None:
    """Of 1 % of the line with 128 flows, as published, or less; 5 % are the class's limit."""
    assert measure(Ppo, Ppo.Config(seed=seed), flows, warmup=25e-3, duration=30e-3).kind == "idle"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("flows", [2, 128])
def test_reinforce_is_safe_and_fair(flows: int, seed: int) -> None:
    """FR 100 % with 128 flows, as published, and nothing is lost. It idles, where the paper's had 51 % of the line."""
    found = measure(Reinforce, Reinforce.Config(seed=seed), flows, warmup=25e-3, duration=30e-3)
    assert found.lost == 0
    assert found.queue < 3e-6
    assert found.fr > 0.95
    assert found.kind == "idle"
