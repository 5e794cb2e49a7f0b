"""Arrays that processes share."""

from __future__ import annotations

import multiprocessing

import numpy as np

from testbed.base.shared import Shared


def test_what_a_forked_child_writes_is_seen() -> None:
    counts, levels = Shared.ints(2, 3), Shared.floats(2, fill=np.inf)

    def write() -> None:
        counts[1, 2] = 7
        levels[0] = 0.5

    child = multiprocessing.get_context("fork").Process(target=write)
    child.start()
    child.join()
    assert counts.tolist() == [[0, 0, 0], [0, 0, 7]]
    assert levels.tolist() == [0.5, np.inf]


def test_an_array_of_nothing() -> None:
    assert Shared.floats(0).shape == (0,)
