"""The training's environment under a law whose rest is known: RTT/T - 1 = 0.05 sqrt(N) at equal rates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from testbed_controllers.decc import evaluate
from testbed_controllers.decc.bottlenecks import Bottlenecks
from testbed_controllers.decc.evaluate import measure

from tests.support.lazily import Lazily

warm_start = Lazily("testbed_controllers.decc.warm_start")


@pytest.mark.parametrize("flows", [4, 16, 64])
def test_the_law_rests_where_it_says(flows: int) -> None:
    play = Bottlenecks((flows,) * 4, np.random.default_rng(1), small_buffers=False)
    queue = []
    for number in range(600):
        play.step(warm_start.law(play))
        if number >= 400:
            queue.append((play.queued * play.each).sum(axis=1).mean())
    assert np.mean(queue) == pytest.approx(0.05 * math.sqrt(flows), rel=0.1)
    rates = play.rate[play.there > 0].reshape(4, -1) * play.each
    assert (rates.min(axis=1) > 0.8 * rates.max(axis=1)).all()


def test_nothing_is_made_and_nothing_vanishes() -> None:
    """Sent bytes are under way, queued, acknowledged or lost; the link gives its rate, no more."""
    play = Bottlenecks((16,), np.random.default_rng(2), start=(0.5, 1.5))
    begun, through = play.acked.copy(), 0.0
    for _ in range(50):
        through += float(play.step(np.full(play.window.shape, 0.5)).thr[-1].sum())
        assert play.inflight.min() >= 0
    assert through == pytest.approx(50.0, rel=1e-6)  # a full link
    assert (play.acked - begun).sum() <= 52.0
    assert play.lost.sum() > 0  # the first has a buffer of two BDP
    assert float(play.queued.sum()) <= 2.0 + 1e-9


def test_gates_see_a_dead_link_and_an_overload(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluate, "PERIODS", 60)
    dead, full = (measure(lambda seen, a=action: np.full(seen.shape[:-1], a), (2,))[0] for action in (-0.5, 0.5))
    assert dead.failure.startswith("with 2 flows reward")
    assert dead.su < 1
    assert full.su == pytest.approx(100)
    assert full.queue > 3
    assert full.failure
