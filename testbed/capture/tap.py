"""From the ring of one point into its file."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import testbed
from testbed.capture.files import Capture
from testbed.capture.pcapng import Writer
from testbed.capture.ring import Batch, Ring
from testbed.clock import NS, Clock
from testbed.errors import TestbedError

LAST_SECONDS = 1.0  # of patience for the ring's last block


@dataclass(frozen=True)
class About:
    """What the files say of the run."""

    experiment: str
    controller: str
    numbered_by_host: bool  # packets leave a host with their PSN; else they get it at the other end of its link


class Interface(NamedTuple):
    """Where a point is in a running rack."""

    netns: int  # descriptor
    name: str
    rate: float  # bit/s, nominal


def report(point: str, packets: int = 0, dropped: int = 0, problem: str = "") -> dict[str, Any]:
    """What a run's record says of a capture: packets that passed, and how many of them are missing in the file."""
    return {"point": point, "packets": packets, "dropped": dropped, "problem": problem}


class Tap:
    """One point: from its ring into its file."""

    def __init__(self, capture: Capture, interface: Interface, about: About, taps: int) -> None:
        """One of ``taps``. Raises TestbedError if the kernel has no memory for it."""
        self.capture, self.interface, self.about = capture, interface, about
        try:
            self.ring = Ring(interface.netns, interface.name, capture.snap, taps)
        except OSError as error:
            name = capture.point.name
            raise TestbedError(
                f"--pcap {name}: nothing can be captured: {error.strerror}; name fewer points"
            ) from error
        self.writer = Writer(capture.file)
        self.problem = ""

    def begin(self, clock: Clock) -> None:
        """Write what the file is about."""
        self.clock = clock
        point, run = self.capture.point, self.about
        comments = [
            f"experiment {run.experiment}, controller {run.controller}",
            "Time stamps are nominal: time of the emulated rack since the start of the run. What packets carry "
            "(departure, INT time and rate) is in wall time; nominal time is (ns - epoch_ns) / dilation, the nominal "
            "rate is the rate times dilation.",
            f"dilation={clock.dilation!r} epoch_ns={clock.epoch_ns}",
        ]
        about = "" if run.numbered_by_host else _not_numbered(point.kind)
        self._write(self.writer.section, f"testbed {testbed.__version__}", comments)
        self._write(self.writer.interface, point.name, about, self.interface.rate, self.capture.snap)

    def drain(self) -> None:
        """Write all that is there."""
        while batch := self.ring.batch():
            self._write(self.writer.packets, self._times(batch), batch.frames, batch.lengths, batch.outgoing)

    def finish(self) -> dict[str, Any]:
        """The rest of the packets and the counts."""
        self.ring.stop()
        deadline = time.monotonic() + LAST_SECONDS
        self.drain()
        while self.ring.unread and time.monotonic() < deadline:
            time.sleep(0.01)
            self.drain()
        missing = self.ring.dropped + self.ring.unread
        self._write(self.writer.statistics, round(self.clock.now() * NS), self.ring.packets, missing)
        if self.problem:
            return report(self.capture.point.name, problem=self.problem)
        return report(self.capture.point.name, self.ring.packets, missing)

    def _times(self, batch: Batch) -> list[int]:
        """Nominal ns since the start."""
        nominal = self.clock.nominal_from_stamps(batch.stamps - _realtime_ahead())
        times: list[int] = np.rint(np.maximum(nominal, 0) * NS).astype(np.int64).tolist()
        return times

    def _write(self, write: Any, *arguments: Any) -> None:
        """A full disk ends the capture and gives its room back to the results."""
        if self.problem:
            return
        try:
            write(*arguments)
        except OSError as error:
            self.problem = error.strerror or str(error)
            os.ftruncate(self.capture.file.fileno(), 0)


def _not_numbered(kind: str) -> str:
    how = "enter here" if kind == "port" else "leave here"
    return f"Data packets that {how} have no PSN and departure yet: they get them at the other end of the host's link."


def _realtime_ahead() -> int:
    """By how many ns CLOCK_REALTIME, which the kernel stamps with, is ahead of CLOCK_MONOTONIC at the moment."""
    looks = []
    for _ in range(3):  # the quickest look was not interrupted
        before, real, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        looks.append((after - before, real - (before + after) // 2))
    return min(looks)[1]
