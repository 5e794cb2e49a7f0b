"""Samples of hosts on the common time axis."""

from __future__ import annotations

import numpy as np

from testbed.engines.lab.operator.series import at_times


def test_counters_are_interpolated_and_settings_hold() -> None:
    samples = {
        "time": np.array([0.0, 1.0, 2.0]),
        "acked_bytes": np.array([[0.0], [10.0], [30.0]]),
        "rate": np.array([[5.0], [7.0], [9.0]]),
    }
    found = at_times(samples, np.array([0.5, 1.5, 2.0]))
    assert found["acked_bytes"][:, 0].tolist() == [5.0, 20.0, 30.0]
    assert found["rate"][:, 0].tolist() == [5.0, 7.0, 9.0]
