"""Whose series a run keeps."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from testbed.live.recorder import Samples, largest


def test_series_are_of_the_endless_and_the_large() -> None:
    size = np.array([1e3, np.inf, 5e3, np.inf, 1e3])
    assert largest(size, 3).tolist() == [1, 2, 3]
    assert largest(np.full(4, np.inf), 2).tolist() == [0, 1]
    assert largest(size, 9).tolist() == [0, 1, 2, 3, 4]


def test_columns_that_change_late_or_never_are_whole() -> None:
    """However the samples come: one by one, in pieces, more than were expected."""
    time = np.arange(23)
    whole = {
        "steady": np.full((23, 2), 7.0),
        "late": np.where(time < 11, 1.0, 2.0)[:, None] + np.arange(2),
        "moving": np.array([time, -time], float).T,
        "unknown": np.full((23, 2), np.nan),
    }
    samples, cuts = Samples(whole, 5), [0, 1, 4, 6, 13, 23]
    for begin, end in pairwise(cuts):
        piece = {name: column[begin:end] for name, column in whole.items()}
        samples.add(end - begin, piece | {"steady": piece["steady"][0]})  # one row for all of them
    for name, column in samples.columns().items():
        np.testing.assert_array_equal(column, whole[name], err_msg=name)
