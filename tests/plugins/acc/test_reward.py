"""ACC's step reward, by hand."""

from __future__ import annotations

import pytest
from testbed_plugins.acc.reward import reward

from testbed.tuner import Thresholds
from tests.support.slots import SECN2, ports, slot


def test_reward_falls_in_steps() -> None:
    """D = 1 - n / 10 for E(n - 1) <= queue < E(n): 0 steps below 20 kB, 1 from there, 10 from 10.24 MB on."""
    queue = [0.0, 20e3 - 1, 20e3, 40e3, 10.24e6, 1e9]
    sample = slot(Thresholds.uniform(6, 1e5, 4e5, 0.2), mean_queue=queue)
    assert reward(sample, ports(6), (0.3, 0.7)) == pytest.approx([0.7, 0.7, 0.63, 0.56, 0.0, 0.0])


def test_reward_grows_with_the_rate() -> None:
    assert reward(slot(SECN2, tx_rate=[0, 12.5e9, 25e9]), ports(), (0.7, 0.3)) == pytest.approx([0.3, 0.65, 1.0])
