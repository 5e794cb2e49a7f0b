"""Pauses: whom they hold, and for how long."""

from __future__ import annotations

import math

import numpy as np
import pytest

from testbed.results.figures import Window, pauses
from testbed.results.record import RunRecord
from tests.support.synthetic_runs import run


def paused(*shares: float) -> RunRecord:
    """Ports to h1, to the other switch and back, of which these shares of the time were paused."""
    record = run()
    series = record.port_series
    for name, values in vars(series).items():
        if name != "time":
            setattr(series, name, values[:, [0, 0, 0]])
    record.ports, record.port_neighbour = ["s1-eth1", "s1-eth2", "s2-eth1"], ["h1", "s2", "s1"]
    series.paused = series.time[:, None] * np.array(shares)
    series.pause_frames = series.time[:, None] * np.array([0.0, 1e3, 2e3])
    record.flows.src, record.lossless = ["h1", "h1"], True
    return record


def test_sending_hosts_are_paused_and_frames_are_those_of_all_ports() -> None:
    record = paused(0.25, 0.5, 0.1)
    assert pauses.paused_share(record, Window(2e-3, 8e-3)) == pytest.approx(0.25)
    assert pauses.pause_frames(record) == pytest.approx(10 + 20)  # in 10 ms


def test_the_port_that_was_paused_is_at_the_far_end() -> None:
    name, share = pauses.most_paused_port(paused(0.9, 0.5, 0.1), Window(2e-3, 8e-3))
    assert (name, share) == ("s2-eth1", pytest.approx(0.5))


def test_lossy_switches_pause_nobody() -> None:
    record = paused(0.0, 0.0, 0.0)
    record.lossless = False
    name, share = pauses.most_paused_port(record, Window(2e-3, 8e-3))
    assert name == ""
    assert math.isnan(share)
