"""Whose series a run keeps."""

from __future__ import annotations

import numpy as np

from testbed.live.recorder import largest


def test_series_are_of_the_endless_and_the_large() -> None:
    size = np.array([1e3, np.inf, 5e3, np.inf, 1e3])
    assert largest(size, 3).tolist() == [1, 2, 3]
    assert largest(np.full(4, np.inf), 2).tolist() == [0, 1]
    assert largest(size, 9).tolist() == [0, 1, 2, 3, 4]
