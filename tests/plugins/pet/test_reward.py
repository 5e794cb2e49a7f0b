"""PET's reward, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from testbed_plugins.learned.tuner import WEIGHTS
from testbed_plugins.pet.reward import reward

from tests.support.slots import SECN2, ports, slot


def test_reward_is_bounded_where_the_printed_one_is_not() -> None:
    """0.3 T + 0.7 / (1 + q / 20 kB): at q = 0 and a full link 1, at q = 20 kB half of the queue's part."""
    weights = WEIGHTS["websearch"]
    assert weights == (0.3, 0.7)
    sample = slot(SECN2, mean_queue=[0.0, 20e3, 0.0], tx_rate=[25e9, 25e9, 0.0])
    assert reward(sample, ports(), weights) == pytest.approx([1.0, 0.65, 0.7])


def test_reward_grows_with_the_rate_and_falls_with_the_queue() -> None:
    for weights in WEIGHTS.values():
        rates = reward(slot(SECN2, mean_queue=50e3, tx_rate=[5e9, 10e9, 20e9]), ports(), weights)
        queues = reward(slot(SECN2, mean_queue=[0.0, 50e3, 5e6], tx_rate=5e9), ports(), weights)
        assert (np.diff(rates) > 0).all()
        assert (np.diff(queues) < 0).all()


def test_queues_of_one_port_share_the_ports_reward() -> None:
    """Section 4.5.2: the reward is of the sum of a port's queues."""
    at = ports(port=np.array([0, 0, 1]))
    sample = slot(SECN2, mean_queue=[10e3, 10e3, 0.0], tx_rate=[10e9, 15e9, 0.0])
    assert reward(sample, at, (0.3, 0.7)) == pytest.approx([0.65, 0.65, 0.7])
