"""The replay memory."""

from __future__ import annotations

import numpy as np
from testbed_plugins.acc.replay import Replay, Transitions


def test_replay_keeps_the_newest() -> None:
    replay = Replay(4, 1)
    for number in range(3):
        values = np.array([2 * number, 2 * number + 1])
        replay.add(Transitions(values[:, None], values, values, values[:, None]))
    assert len(replay) == 4
    assert set(replay.draw(200, np.random.default_rng(1)).actions.tolist()) == {2, 3, 4, 5}
