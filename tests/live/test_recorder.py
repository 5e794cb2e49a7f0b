"""Whose series a run keeps."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.live import samples
from testbed.live.recorder import largest


def test_series_are_of_the_endless_and_the_large() -> None:
    size = np.array([1e3, np.inf, 5e3, np.inf, 1e3])
    assert largest(size, 3).tolist() == [1, 2, 3]
    assert largest(np.full(4, np.inf), 2).tolist() == [0, 1]
    assert largest(size, 9).tolist() == [0, 1, 2, 3, 4]


def test_columns_that_change_late_or_never_are_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """More samples than were expected, too."""
    monkeypatch.setattr(samples, "UNKNOWN", 5)
    time = np.arange(23)
    whole = {
        "steady": np.full((23, 2), 7.0),
        "late": np.where(time < 11, 1.0, 2.0)[:, None] + np.arange(2),
        "moving": np.array([time, -time], float).T,
        "last": np.where(time < 22, np.nan, 0.0)[:, None] + np.zeros(2),
        "unknown": np.full((23, 2), np.nan),
    }
    kept = samples.Samples(whole, 0)
    for number in range(23):
        kept.add({name: column[number] for name, column in whole.items()})
    for name, column in kept.columns().items():
        np.testing.assert_array_equal(column, whole[name], err_msg=name)
