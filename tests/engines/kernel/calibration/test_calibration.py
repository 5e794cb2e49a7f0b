"""Marks that are not as RED says are named, from what each packet found and whether it was marked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testbed.dataplane.wire import INT_HOP, frame
from testbed.engines.kernel.calibration import calibration
from testbed.engines.kernel.calibration.calibration import ATTEMPTS, Measured, _left_behind, _marking, _retried
from testbed.engines.kernel.calibration.injection import CE, HOP_AT, TOS_AT, _on_the_wire
from testbed.experiment.topology.framing import Framing
from tests.support.outside import run, summary_in
from tests.support.runs import SHALLOW, UNDRAWN, run_clean

KMIN, KMAX, PMAX = 100e3, 400e3, 0.2


def wrong(queue: np.ndarray, marked: np.ndarray) -> list[str]:
    return [one.what.split()[1] for one in _marking("s1-eth5", queue, marked, (KMIN, KMAX, PMAX)) if not one.good]


def test_what_waited_behind_a_packet_is_told_by_int_once_no_more_come() -> None:
    """Ten packets come to an empty queue, two in the time of one; the last finds five, and five leave behind it."""
    came, left = np.arange(10), np.arange(10) // 2
    found, passed = 1000.0 * (came - left), 1000.0 * left
    behind, which = _left_behind(found, passed, 1000)
    assert came[which].tolist() == [6, 7, 8, 9]  # that of which a part had left is no witness
    assert behind.tolist() == [3000, 2000, 1000, 0]


@pytest.mark.parametrize(
    ("slope", "offset", "expected"),
    [
        (PMAX, 0.0, []),
        (0.0, 0.0, ["between"]),  # thresholds that only cut
        (2 * PMAX, 0.0, ["between"]),
        (PMAX, -50e3, ["up", "between"]),  # Kmin and Kmax too low
        (PMAX, 50e3, ["above", "between"]),
    ],
)
def test_marking_is_compared_with_red(slope: float, offset: float, expected: list[str]) -> None:
    random = np.random.default_rng(1)
    queue = np.linspace(0, 600e3, 6000)
    inside = (queue - KMIN - offset) / (KMAX - KMIN)
    marked = (random.random(len(queue)) < slope * inside.clip(0, 1)) | (inside > 1)
    assert wrong(queue, marked) == expected


def test_an_injected_packet_has_its_mark_and_its_record_where_they_are_looked_for() -> None:
    framing = Framing(payload=900, int_hops=1)
    packet = _on_the_wire(frame(framing, 0, framing.payload))
    assert len(packet) == framing.wire_size
    assert packet[TOS_AT] & CE == 2  # ECT(0): it may be marked
    assert len(packet) - HOP_AT == INT_HOP.size + framing.payload + 4  # nothing but data and checksum behind it


def test_each_property_has_to_be_right_once_and_not_all_in_the_same_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "PAUSE", 0.0)

    def measured(**values: float) -> list[Measured]:
        return [Measured("h1:e0", what, 100.0, value, 2.0, str) for what, value in values.items()]

    attempts = iter([measured(rtt=100, rate=71), measured(rtt=140, rate=99)])
    assert [one.measured for one in _retried(lambda: next(attempts))] == [100, 99]
    wrong = iter([measured(rtt=100 + number, rate=90 + number % 3) for number in range(ATTEMPTS)])
    assert [(one.measured, one.good) for one in _retried(lambda: next(wrong))] == [(100, True), (91, False)]


@pytest.mark.root
@pytest.mark.measures
def test_large_packets_without_int_are_calibrated(tmp_path: Path) -> None:
    """Calibration's own packets have INT, but must fit where the experiment's fit."""
    packets = ("--set", "traffic.payload=4 kB")
    summary = run_clean(tmp_path, "incast-2", "--controller", "swift", "--duration", "0.5 ms", *packets, *SHALLOW)
    assert summary["goodput"] > 0


@pytest.mark.root
@pytest.mark.measures
def test_a_buffer_is_filled_at_a_dilation_at_which_more_packets_leave_than_this_machine_sends(tmp_path: Path) -> None:
    """83 k packets/s would leave it. Afterwards the port has its own rate again, eight times what it was filled at."""
    done = run(tmp_path, "run", "incast-8", "--dilation", "134", "--duration", "300us", *UNDRAWN)
    assert "buffer" not in done.stderr
    if done.returncode in (0, 3):  # rates have been measured, too: the machine was not busy
        assert summary_in(tmp_path)["su"] > 20
