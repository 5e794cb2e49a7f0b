"""What the interface of tuners gives to all of them."""

from __future__ import annotations

import numpy as np

from testbed.tuner import History, by_switch


def test_ports_are_parted_by_switch() -> None:
    names = ["leaf1-eth1", "leaf1-eth2", "spine2-eth1", "leaf1-eth3"]
    found = by_switch(names, np.array([25e9, 25e9, 100e9, 50e9]), np.arange(4.0), 8e-6)
    assert [one.switch for one in found] == ["leaf1", "spine2"]
    assert found[0].name == ("leaf1-eth1", "leaf1-eth2", "leaf1-eth3")
    assert found[0].rate.tolist() == [25e9, 25e9, 50e9]
    assert found[1].buffer.tolist() == [2.0]


def test_history_is_oldest_first_and_begins_with_its_first_slot() -> None:
    history = History(3)
    assert history.append(np.array([[1.0, 2.0]])).tolist() == [[1, 2, 1, 2, 1, 2]]
    assert history.append(np.array([[3.0, 4.0]])).tolist() == [[1, 2, 1, 2, 3, 4]]
