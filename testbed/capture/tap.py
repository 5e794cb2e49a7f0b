"""From the ring of one point into its file."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from testbed.capture.files import Capture
from testbed.capture.output import About, Output
from testbed.capture.pcapng import NANOSECONDS
from testbed.capture.ring import Batch, Ring
from testbed.clock import NS, Clock
from testbed.errors import TestbedError

LAST_SECONDS = 1.0  # of patience for the ring's last block

STAMPS = (
    "Time stamps are nominal: time of the emulated rack since the start of the run. What packets carry (departure, INT "
    "time and rate) is in wall time; nominal time is (ns - epoch_ns) / dilation, the nominal rate is the rate times "
    "dilation."
)


class Interface(NamedTuple):
    """Where a point is in a running rack."""

    netns: int  # descriptor
    name: str
    rate: float  # bit/s, nominal


class Tap:
    """One point: from its ring into its file."""

    def __init__(self, capture: Capture, interface: Interface, about: About, taps: int) -> None:
        """One of ``taps``. Raises TestbedError if the kernel has no memory for it."""
        self.capture, self.interface, self.about = capture, interface, about
        try:
            self.ring = Ring(interface.netns, interface.name, capture.snap, taps, capture.outgoing)
        except OSError as error:
            name = capture.point.name
            raise TestbedError(
                f"--pcap {name}: nothing can be captured: {error.strerror}; name fewer points"
            ) from error
        self.output = Output(capture, NANOSECONDS)

    def begin(self, clock: Clock) -> None:
        """Write what the file is about."""
        self.clock = clock
        self.output.begin(self.about, STAMPS, clock, self.interface.rate)

    def drain(self) -> None:
        """Write all that is there."""
        while batch := self.ring.batch():
            self.output.packets(self._times(batch), batch.frames, batch.lengths, batch.outgoing)

    def finish(self) -> dict[str, Any]:
        """The rest of the packets and the counts."""
        self.ring.stop()
        deadline = time.monotonic() + LAST_SECONDS
        self.drain()
        while self.ring.unread and time.monotonic() < deadline:
            time.sleep(0.01)
            self.drain()
        missing = self.ring.dropped + self.ring.unread
        return self.output.end(round(self.clock.now() * NS), self.ring.packets, missing)

    def _times(self, batch: Batch) -> list[int]:
        """Nominal ns since the start."""
        nominal = self.clock.nominal_from_stamps(batch.stamps - _realtime_ahead())
        times: list[int] = np.rint(np.maximum(nominal, 0) * NS).astype(np.int64).tolist()
        return times


def _realtime_ahead() -> int:
    """By how many ns CLOCK_REALTIME, which the kernel stamps with, is ahead of CLOCK_MONOTONIC at the moment."""
    looks = []
    for _ in range(3):  # the quickest look was not interrupted
        before, real, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        looks.append((after - before, real - (before + after) // 2))
    return min(looks)[1]
