"""Decisions that take time on a NIC's core, in the virtual engine: one after the other, and never ever later."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testbed.base.arrays import Floats
from testbed.errors import BadInput
from tests.support.simulated import simulated

LINE = 100e9
SAMPLE = 10e-9
CONTROLLER = """
from testbed.controller import Ack, CompiledController


class Falling(CompiledController):
    name = "falling"

    def on_ack(self, ack: Ack) -> None:
        self.rate = 0.999 * self.rate
"""
# Two flows that share nothing but the core: what is due for them is due at the same instants.
EXPERIMENT = """
engine: virtual
rack: {hosts: 4}
traffic: {pattern: flows, flows: [{src: h1, dst: h3, size: SIZE}, {src: h2, dst: h4, size: SIZE}]}
time: {duration: 20 us, warmup: 0 s}
record: {interval: 10 ns}
controller: {name: CONTROLLER, decision_cost: COST}
"""


@pytest.fixture
def falling(tmp_path: Path) -> str:
    (tmp_path / "falling.py").write_text(CONTROLLER)
    return str(tmp_path / "falling.py")


def rates(controller: str, size: str, cost: str, *settings: str) -> tuple[Floats, Floats, float]:
    """Times, the rates that apply then, and the base RTT."""
    text = EXPERIMENT.replace("SIZE", size).replace("COST", cost).replace("CONTROLLER", controller)
    record = simulated(text, settings)
    return record.flow_series.time, record.flow_series.rate, float(record.flows.base_rtt[0])


@pytest.mark.parametrize(("cost", "seconds"), [("0", 0.0), ("1 us", 1e-6), ("3 us", 3e-6)])
def test_a_decision_applies_cost_later_and_of_two_at_once_the_second_twice_that(
    falling: str, cost: str, seconds: float
) -> None:
    time, rate, base_rtt = rates(falling, "1 kB", cost)  # one packet each, and so one decision
    changed = sorted(time[np.argmax(rate[:, flow] == 0.999 * LINE)] for flow in (0, 1))
    for moment, decisions in zip(changed, (1, 2), strict=True):
        assert 0 <= moment - (base_rtt + decisions * seconds) < SAMPLE


def test_a_core_that_is_too_slow_decides_less_often_and_not_ever_later(falling: str) -> None:
    """ACKs of each flow come every 86 ns, decisions take 0.5 us: a flow has one every 1 us, of all until it began."""
    time, rate, base_rtt = rates(falling, "1 MB", "0.5 us")
    for flow in (0, 1):
        changes = time[1:][(np.diff(rate[:, flow]) != 0) & (time[1:] > base_rtt)]
        assert np.diff(changes) == pytest.approx(1e-6, abs=2 * SAMPLE)
        assert base_rtt < changes[0] < base_rtt + 1e-6 + SAMPLE
        acks = (changes[-1] - 0.5e-6 - base_rtt) / 86e-9
        assert rate[-1, flow] == pytest.approx(LINE * 0.999**acks, rel=4e-3)


@pytest.mark.parametrize(("own", "other", "waits"), [("1 us", "3 us", (1e-6, 4e-6)), ("0", "3 us", (0, 3e-6))])
def test_each_controllers_decisions_cost_its_own(
    falling: str, own: str, other: str, waits: tuple[float, float]
) -> None:
    """Both are due at the same instant, the first flow's first; who costs nothing does not wait for the core."""
    controllers = f"controllers=[{{name: {falling}, decision_cost: {other}, of: {{hosts: [h2]}}}}]"
    time, rate, base_rtt = rates(falling, "1 kB", own, controllers)
    for flow, wait in enumerate(waits):
        changed = time[np.argmax(rate[:, flow] == 0.999 * LINE)]
        assert 0 <= changed - (base_rtt + wait) < SAMPLE


def test_controllers_in_batches_are_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from testbed.controller import RateController\n\n\nclass Mine(RateController):\n"
        "    name = 'mine'\n\n    def on_feedback(self, now, flows, feedback): ...\n"
    )
    with pytest.raises(BadInput, match=r"controller.decision_cost: 1 us: .* 'mine' decides in batches"):
        rates(str(tmp_path / "mine.py"), "1 kB", "1 us")
