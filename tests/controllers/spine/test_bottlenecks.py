"""The training's environment: executors whose rest is known, flows that leave, and gates that can fail."""

from __future__ import annotations

import numpy as np
import pytest
from testbed_controllers.spine.bottlenecks import Bottlenecks
from testbed_controllers.spine.evaluate import failure, measure
from testbed_controllers.spine.executor import ExecutorConfig


def played(play: Bottlenecks, intervals: int) -> tuple[float, float]:
    """Throughput and queueing of the last ten intervals, in shares of the line and base RTTs."""
    found = [play.step() for _ in range(intervals)][-10:]
    return float(np.mean([one.thr for one in found])), float(np.mean([one.inflation for one in found])) - 1


@pytest.mark.parametrize("flows", [2, 8, 64])
def test_the_module_rests_below_its_threshold(flows: int) -> None:
    """0.28 to 0.31 T in the sheet; here, too, the line is full."""
    thr, queue = played(Bottlenecks((flows,) * 4, np.random.default_rng(1), small_buffers=False), 40)
    assert 0.2 < queue < 0.39
    assert thr > 0.98


def test_the_threshold_and_the_growth_are_those_of_the_parameters() -> None:
    """A lone flow grows by alpha per RTT: a tenth of the line becomes 0.1 (1 + alpha)^10 in ten."""
    config = ExecutorConfig(alpha=0.02, gamma=0.05)
    play = Bottlenecks((1,), np.random.default_rng(1), start=(0.1, 0.1), small_buffers=False, config=config)
    play.step()
    assert play.window[0, 0] == pytest.approx(0.1 * 1.02**9, rel=0.03)  # the first RTT brings nothing
    assert played(Bottlenecks((8,), np.random.default_rng(1), small_buffers=False, config=config), 60)[1] < 0.05


def test_flows_that_leave_make_room() -> None:
    play = Bottlenecks((8, 1), np.random.default_rng(1), small_buffers=False)
    played(play, 20)
    play.leave(np.array([True, True]))
    assert play.there.sum(axis=1).tolist() == [4, 1]
    thr = [play.step().thr[0] for _ in range(5)]
    assert thr[0] < 0.75
    assert thr[2] / thr[1] == pytest.approx(1.049**10, rel=0.1)  # alpha, 50 / 1024, per RTT
    assert min(thr[3:]) > 0.98


def test_gates_see_what_is_wrong() -> None:
    figures = measure(None, 0.01, (2,))
    assert figures[0].triggers == 0
    assert failure(figures, 0.0) == ""
    assert failure(figures, 0.99).startswith("mean reward 0.8")
