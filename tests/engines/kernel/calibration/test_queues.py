"""Marks that are not as RED says are named, from what each packet found and whether it was marked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testbed.engines.kernel.calibration.queues import _left_behind, _marking
from tests.support.outside import run, summary_in
from tests.support.runs import UNDRAWN

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


@pytest.mark.root
@pytest.mark.measures
def test_a_buffer_is_filled_at_a_dilation_at_which_more_packets_leave_than_this_machine_sends(tmp_path: Path) -> None:
    """83 k packets/s would leave it. Afterwards the port has its own rate again, eight times what it was filled at."""
    done = run(tmp_path, "run", "incast-8", "--dilation", "134", "--duration", "300us", *UNDRAWN)
    assert "buffer" not in done.stderr.replace(str(tmp_path), "")  # which has it in its name
    if done.returncode in (0, 3):  # rates have been measured, too: the machine was not busy
        assert summary_in(tmp_path)["su"] > 20
