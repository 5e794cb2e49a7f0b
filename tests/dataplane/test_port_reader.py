"""What is read of ports and set at them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from testbed.clock import Clock
from testbed.dataplane.port_reader import PortReader
from testbed.tuning.loop import RackSwitch


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
