"""The model of more cores than there are, on loads whose answer is known."""

from __future__ import annotations

import numpy as np

from bench.cores import Watched, longest, modelled
from testbed.engines.virtual.parts import LOAD


def _watched(windows: int) -> Watched:
    """Four parts, one of which has four times as much to do."""
    loads = np.zeros((windows, 4), LOAD)
    loads["seconds"], loads["events"] = (4.0, 1.0, 1.0, 1.0), (400, 100, 100, 100)
    return Watched(7.0 * windows, loads)


def test_the_thread_with_most_gives_a_part_away_after_eight_windows() -> None:
    assert longest(_watched(16), 2).tolist() == [5.0] * 8 + [4.0] * 8


def test_no_thread_is_faster_than_the_part_with_most_to_do() -> None:
    assert longest(_watched(16), 4).tolist() == [4.0] * 16


def test_threads_meet_in_rounds_of_two() -> None:
    assert modelled(_watched(8), 4, 0.5) == 8 * 4.0 + 8 * 0.5 * 2
    assert modelled(_watched(8), 1, 0.5) == 8 * 7.0
