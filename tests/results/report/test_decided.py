"""The plot of what the controller set shows what it works by."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.results.report.decided import decided
from tests.support.synthetic_runs import run


def test_a_rate_that_never_changes_is_not_shown_beside_a_window_that_does() -> None:
    """Swift leaves the rate at the line's: the flat line at 100 Gbit/s told nothing."""
    record = run()
    record.flow_series.rate[:] = 100e9
    record.flow_series.rate[0] = 0  # before the first decision
    record.flow_series.window[:] = np.linspace(10e3, 20e3, len(record.flow_series.time))[:, None]
    plot = decided(record)
    assert plot.title == "Window set by the controller"
    (panel,) = plot.panels
    assert panel.y.label == "window, kB"
    assert panel.lines[0].y[[0, -1]] == pytest.approx([10, 20])


def test_window_and_rate_that_both_change_are_both_shown() -> None:
    """HPCC sets both: the window comes first, and every flow has one name in the legend."""
    record = run()
    falling = np.linspace(2, 1, len(record.flow_series.time))[:, None]
    record.flow_series.rate[:] = 10e9 * falling
    record.flow_series.window[:] = 10e3 * falling
    plot = decided(record)
    assert plot.title == "Window and rate set by the controller"
    assert [panel.y.label for panel in plot.panels] == ["window, kB", "rate, Gbit/s"]
    assert [line.name for line in plot.legend] == ["h1-h99", "h2-h99"]


def test_what_is_all_there_is_is_shown_though_it_is_constant() -> None:
    assert decided(run()).title == "Rate set by the controller"
    assert decided(run([], samples=1)).title == "Rate set by the controller"


def test_a_start_at_line_rate_does_not_squash_what_follows() -> None:
    record = run()
    record.flow_series.rate[0] = 100e9
    record.flow_series.rate[1:] = np.linspace(1e9, 2e9, len(record.flow_series.time) - 1)[:, None]
    assert decided(record).panels[0].y.log
