"""Whether a window was at rest: constant, noisy, oscillating and rising series, and whole runs."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.results.figures import rest, spans
from testbed.results.figures.measurements import Measurements
from testbed.results.record import RunRecord
from tests.support.synthetic_runs import WIRE, B, run

BLOCKS = np.arange(rest.BLOCKS)


def test_chance_makes_a_drift_of_independent_blocks_about_once_in_a_thousand_series() -> None:
    random = np.random.default_rng(1)
    drifting = sum(rest.drifts(blocks) != 0 for blocks in random.normal(size=(20_000, rest.BLOCKS)))
    assert drifting < 2 * 20_000 * rest.ERROR


@pytest.mark.parametrize(
    ("blocks", "drift"),
    [
        (np.ones(16), 0),
        (np.sin(BLOCKS * 2.4), 0),  # an oscillation whose period is a sixth of the window
        (1 + 0.1 * BLOCKS, 1.2),
        (5 - 0.1 * BLOCKS, -1.2),
        (1 + 0.1 * BLOCKS + 0.2 * np.sin(BLOCKS * 2.4), 1.2),
        (np.where(BLOCKS == 3, np.nan, BLOCKS), 0),
    ],
)
def test_a_ramp_is_told_and_an_oscillation_is_not(blocks: np.ndarray, drift: float) -> None:
    assert rest.drifts(blocks) == pytest.approx(drift, abs=0.25 if drift else 0)


def ramping(record: RunRecord, growth: float) -> RunRecord:
    """Throughput that grows by this share of the line over the run."""
    ports = record.port_series
    share = 0.4 + growth * ports.time / record.duration / 2
    ports.tx_bytes[:, 1] = share * ports.time * B / 8
    return record


def told(record: RunRecord) -> str:
    return rest.unrest(record, spans.window(record))


def test_a_run_on_its_way_up_is_not_at_rest() -> None:
    assert told(run()) == ""
    assert told(ramping(run(), 0.01)) == ""  # too little to matter
    assert told(ramping(run(), 0.4)) == "throughput of the bottleneck rises from 52 Gbit/s to 76 Gbit/s"


def test_a_queue_that_fills_and_rates_that_fall_are_told() -> None:
    record = run(queue=0)
    time = record.port_series.time
    record.port_series.queue_area[:, 1] = 20 * WIRE * time**2 / record.duration
    record.flow_series.rate *= np.linspace(1, 0.5, len(time))[:, None]
    assert "its queue rises from" in told(record)
    assert "what the controllers allow falls from 85" in told(record)


def test_too_few_samples_say_nothing() -> None:
    assert told(ramping(run(samples=15), 0.4)) == ""


def test_flows_that_got_next_to_nothing_are_counted() -> None:
    for record, starving in ((run([0.5, 0.4] + [0.002] * 6), 6), (run(), 0)):
        measured = Measurements(record)
        assert rest.starved(measured.goodput[measured.steady]) == starving
