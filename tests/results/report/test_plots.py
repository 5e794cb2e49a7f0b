"""What plots show, and that they stay readable."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.results.report.plot import MOST_POINTS
from testbed.results.report.plots import plots
from tests.support.synthetic_runs import run, without_series


def test_plots_say_what_was_measured() -> None:
    throughput, queue, rtt, fairness, marks, drops, rates = plots(run((0.6, 0.4)))
    assert throughput.lines[0].y == pytest.approx(0.6 * 95 / 1.1)
    assert queue.lines[1].y == pytest.approx(50)
    assert [line.name for line in queue.lines] == ["highest sample", "mean", "Kmin", "Kmax"]
    assert queue.lines[3].y == pytest.approx(400)
    assert rtt.lines[0].y == pytest.approx([0, 0.5, 0.99, 1.0])
    assert fairness.lines[0].y == pytest.approx(1 / (2 * (0.6**2 + 0.4**2)))
    assert marks.lines[0].y == pytest.approx(10)
    arriving = 0.95 * 100e9 / 8 / 1100 + 1e5
    assert drops.lines[0].y == pytest.approx(100 * 1e5 / arriving)
    assert rates.lines[1].y == pytest.approx(40)


@pytest.mark.parametrize(("flows", "drawn", "on_demand"), [(16, 16, 0), (17, 3, 17), (1024, 3, 64)])
def test_many_flows_stay_readable(flows: int, drawn: int, on_demand: int) -> None:
    record = run([1 / flows] * flows, samples=5000)
    for plot in plots(record):
        assert all(len(line.x) <= MOST_POINTS for line in plot.lines)
    for plot in (plots(record)[0], plots(record)[-1]):
        single = [line.on_demand for line in plot.lines]
        assert (single.count(False), single.count(True)) == (drawn, on_demand)


def test_marks_are_a_share_of_what_arrived() -> None:
    """While a queue grows, more packets are marked than leave: never more than 100 %."""
    record = run()
    ports = record.port_series
    ports.tx_packets[:, 1] /= 10
    ports.tx_bytes[:, 1] /= 10
    ports.queue[:, 1] = 9 * ports.tx_bytes[:, 1]  # nine of ten packets wait
    marks = plots(record)[4]
    assert marks.lines[0].y == pytest.approx(10)
    ports.queue[:, 1] = 0
    assert plots(record)[4].lines[0].y == pytest.approx(100)


def test_two_samples_in_quick_succession_make_no_spike() -> None:
    record = run()
    for series in (record.flow_series, record.port_series):
        series.time[100] = series.time[99] + 1e-9  # its counters are those of 50 us later
    throughput, queue, *_ = plots(record)
    assert throughput.lines[0].y.max() < 2 * 0.6 * 95 / 1.1
    assert queue.lines[1].y.max() <= 100  # the highest that there was


def test_what_happened_before_the_first_sample_is_shown() -> None:
    record = run()
    for series in (record.flow_series, record.port_series):
        for name, values in vars(series).items():
            setattr(series, name, values[10:])
    marks, drops = plots(record)[4:6]
    assert marks.lines[0].y[0] == pytest.approx(10, rel=0.02)  # with the packets that are queued since
    assert drops.lines[0].x[0] == pytest.approx(0.25)  # between 0 and 0.5 ms
    assert drops.note.endswith("1,000 in the whole run")


def test_a_window_based_controller_shows_its_window() -> None:
    record = run()
    record.flow_series.rate[:] = np.inf
    record.flow_series.window[:] = 12_500
    rates = plots(record)[-1]
    assert rates.title == "Window set by the controller"
    assert rates.lines[0].y == pytest.approx(12.5)


def test_flows_beyond_record_flows_have_no_curves() -> None:
    record = run([0.25] * 4)
    without_series(record, [0, 1, 3])
    throughput = plots(record)[0]
    assert len(throughput.lines) == 3
    assert [line.name for line in throughput.lines] == ["h1-h99", "h2-h99", "h4-h99"]
    assert "3 of 4" in throughput.note
