"""Thresholds that held at the bottleneck: one value where nothing changed them, and a span where a tuner did."""

from __future__ import annotations

import math

import numpy as np
import pytest

from testbed.results.figures import Window
from testbed.results.figures.marking import Span, marking
from testbed.results.record import RunRecord
from tests.support.synthetic_runs import run

WINDOW = Window(2e-3, 8e-3)


def bottleneck(record: RunRecord, name: str, value: object) -> None:
    getattr(record.port_series, name)[:, record.bottleneck] = value


def test_what_nothing_changed_is_one_value() -> None:
    record = run()
    bottleneck(record, "kmin", 65e3)
    bottleneck(record, "kmax", 1.6e6)
    bottleneck(record, "pmax", 0.2)
    found = marking(record, WINDOW)
    assert (found.kmin, found.kmax, found.pmax) == (Span(65e3, 65e3), Span(1.6e6, 1.6e6), Span(0.2, 0.2))
    assert str(found) == "Kmin 65 kB, Kmax 1.6 MB, Pmax 20 %"


def test_what_a_tuner_changed_is_a_span_of_the_window() -> None:
    record = run()
    time = record.port_series.time
    bottleneck(record, "kmin", np.where(time < 5e-3, 20e3, 160e3))
    bottleneck(record, "kmax", np.where(time < 1e-3, 1.0, 320e3))  # in the warm-up
    bottleneck(record, "pmax", np.where(time < 5e-3, 0.01, 1.0))
    assert str(marking(record, WINDOW)) == "Kmin 20 kB to 160 kB, Kmax 320 kB, Pmax 1 % to 100 %"


def test_nobody_knows_those_of_a_lab_s_switches() -> None:
    record = run()
    for name in ("kmin", "kmax", "pmax"):
        bottleneck(record, name, math.nan)
    found = marking(record, WINDOW)
    assert str(found) == ""
    assert found.pmax.most == pytest.approx(math.nan, nan_ok=True)
