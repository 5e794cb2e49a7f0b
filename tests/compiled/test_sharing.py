"""Controllers that share a rack: each hears of its own flows, whatever form it has, and fails under its own name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testbed.results.record import RunRecord
from tests.support.simulated import simulated

TEXT = """
traffic: {{pattern: incast, senders: 4}}
controller: {first}
controllers: [{{name: {second}, of: {{hosts: [h3, h4]}}}}]
time: {{duration: 300 us, warmup: 0 s}}
"""
BATCH = """
from testbed.controller import Feedback, RateController


class Third(RateController):
    name = "third"

    def on_start(self, now, flows):
        self.rate[flows] = self.paths.line_rate[flows] / {share}

    def on_feedback(self, now, flows, feedback: Feedback) -> None:
        assert (flows >= 2).all()
        {then}
"""


def share(record: RunRecord) -> float:
    acked = record.flows.acked_packets
    return float(acked[2:].sum() / acked.sum())


@pytest.fixture
def third(tmp_path: Path) -> str:
    file = tmp_path / "third.py"
    file.write_text(BATCH.format(share=8, then="pass"))
    return str(file)


def test_rates_are_shared_as_each_decides() -> None:
    """Fixed at a tenth, and fixed at a fifth, of one line: both get what they ask for."""
    text = TEXT.format(first="{name: fixed, rate: 10 %}", second="fixed, rate: 20 %")
    assert share(simulated(text)) == pytest.approx(2 / 3, abs=0.01)


def test_machine_code_and_batches_share(third: str) -> None:
    """A batch controller at an eighth of the line, beside one at a quarter."""
    record = simulated(TEXT.format(first="{name: fixed, rate: 25 %}", second=third))
    assert share(record) == pytest.approx(1 / 3, abs=0.01)
    assert np.ptp(record.flows.acked_packets[:2]) <= 24  # a base RTT at a quarter of the line: they start so far apart


def test_the_one_that_fails_is_named(tmp_path: Path) -> None:
    file = tmp_path / "third.py"
    file.write_text(BATCH.format(share=8, then="raise ValueError('no')"))
    record = simulated(TEXT.format(first="swift", second=str(file)))
    assert "controller 'third'" in record.interrupted
    assert "ValueError: no" in record.interrupted
