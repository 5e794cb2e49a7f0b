"""When a reading of the two queues counts. That they agree is what every run checks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from testbed.engines.kernel.queue_watch import ATTEMPTS, RECENT_NS, QueueWatch

PORT: Any = SimpleNamespace(ifindex=0, slack=1000)


class Rack:
    """A port with 700 bytes in the model and 1,000 in the shaper, where a packet comes in during the first readings."""

    def __init__(self, disturbed: int, age_ns: int = 0) -> None:
        self.disturbed, self.age_ns, self.readings = disturbed, age_ns, 0
        columns = {"packets": np.array([5]), "last_ns": np.array([0])}
        self.programs = SimpleNamespace(counters=columns)

    def read(self, _ifindex: int) -> Any:
        self.readings += 1
        self.programs.counters["packets"][0] += self.readings <= self.disturbed
        return SimpleNamespace(backlog=1000)

    def sample(self, now_ns: int) -> dict[str, Any]:
        self.programs.counters["last_ns"][0] = now_ns - self.age_ns
        return {"queue": np.array([700.0])}


@pytest.mark.parametrize(
    ("disturbed", "age_ns", "readings", "difference"),
    [
        (0, 0, 1, 300.0),
        (ATTEMPTS - 1, 0, ATTEMPTS, 300.0),
        (ATTEMPTS, 0, ATTEMPTS, 0.0),
        (0, 2 * RECENT_NS, 1, 0.0),  # the program has not seen its queue for long: nothing to compare with
    ],
)
def test_a_reading_counts_if_no_packet_came_meanwhile(
    disturbed: int, age_ns: int, readings: int, difference: float
) -> None:
    rack: Any = Rack(disturbed, age_ns)
    watch = QueueWatch(rack, rack, 0, PORT)
    watch.sample(1e-3)
    assert (rack.readings, watch.difference()) == (readings, difference)


def test_the_window_is_judged_without_the_start() -> None:
    """300 bytes of difference in the start, none afterwards."""
    rack: Any = Rack(0)
    watch = QueueWatch(rack, rack, 0, PORT)
    watch.sample(1e-3)
    rack.sample = lambda _now: {"queue": np.array([1000.0])}
    rack.programs.counters["last_ns"][0] = 2**62
    watch.sample(3e-3)
    assert (watch.difference(), watch.difference(since=2e-3)) == (pytest.approx(300.0, abs=4), 0.0)
