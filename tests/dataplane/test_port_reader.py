"""What is read of ports and set at them."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from testbed.clock import Clock
from testbed.dataplane.port_maps import Port
from testbed.dataplane.port_reader import PortReader
from testbed.tuning.loop import RackSwitch
from tests.support.packets import LOOPBACK, Bench, data


def test_the_rack_keeps_the_thresholds_of_samples_that_were_taken() -> None:
    class Programs:
        def __init__(self) -> None:
            self.curves = {1: (1.0, 2.0, 0.5), 2: (1.0, 2.0, 0.5)}

        def set_red(self, index: int, *curve: float) -> None:
            self.curves[index] = curve  # type: ignore[assignment]

        def red(self, index: int) -> tuple[float, float, float]:
            return self.curves[index]

    ports: Any = [SimpleNamespace(ifindex=1, peer=0, rate=8e9), SimpleNamespace(ifindex=2, peer=0, rate=8e9)]
    reader = PortReader(Programs(), ports, Clock(1.0))  # type: ignore[arg-type]
    before = reader.thresholds[0]  # as a sample of all ports has it
    RackSwitch(reader, np.array([1])).set_thresholds(np.array([3.0]), np.array([4.0]), np.array([0.25]))
    assert before.tolist() == [1.0, 1.0]
    assert reader.thresholds.tolist() == [[1.0, 3.0], [2.0, 4.0], [0.5, 0.25]]


@pytest.mark.root
@pytest.mark.parallel
def test_what_was_sent_after_the_moment_does_not_count_before_it(rig: Bench) -> None:
    """A reader that lost its core between clock and counters would see more than the line carries."""
    rate = 100e6
    rig.port(rate=rate, buffer=1 << 30)
    rig.set_queue(100_000_000, time.monotonic_ns())  # eight seconds' worth
    reader = PortReader(rig.ports, [Port(LOOPBACK, 0, rate, 1 << 30, 0, 0.0, 0)], Clock(1.0))
    rig.egress(data())
    before_ns = int(rig.count["last_ns"])
    before = reader.sample(before_ns)["tx_bytes"][0]
    time.sleep(0.02)
    rig.egress(data())
    last_ns = int(rig.count["last_ns"])
    now_ns = last_ns - 15_000_000
    sent = reader.sample(now_ns)["tx_bytes"][0] - before
    assert sent == pytest.approx(rate / 8 * (now_ns - before_ns) / 1e9, abs=3)
    whole = reader.sample(last_ns)["tx_bytes"][0] - before
    assert whole == pytest.approx(rate / 8 * (last_ns - before_ns) / 1e9, abs=3)
