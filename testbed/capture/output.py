"""The file of one point while a run goes on: what it is about, its packets, its counts; until the disk is full."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import testbed
from testbed.capture.files import Capture
from testbed.capture.icrc import sealed
from testbed.capture.pcapng import Writer
from testbed.capture.reth import in_front
from testbed.clock import Clock


@dataclass(frozen=True)
class About:
    """What the files say of the run."""

    experiment: str
    controller: str
    numbered_by_host: bool  # packets leave a host with their PSN; else they get it at the other end of its link


def report(capture: Capture, packets: int = 0, dropped: int = 0, problem: str = "") -> dict[str, Any]:
    """What a run's record says of a capture: packets that passed, and how many of them are missing in the file."""
    about = {"point": capture.point.name, "snap": capture.snap}
    return {**about, "packets": packets, "dropped": dropped, "problem": problem}


class Output:
    """Writes until it cannot: a full disk ends the capture and gives its room back to the results."""

    def __init__(self, capture: Capture, resolution: int) -> None:
        """Times count units of 10^-``resolution`` s since the start of the run."""
        self.capture = capture
        self.writer = Writer(capture.file, resolution)
        self.problem = ""

    def begin(self, run: About, stamps: str, clock: Clock, rate: float) -> None:
        """What the file is about, and what its time stamps are; ``rate`` (bit/s, nominal) is the point's."""
        comments = [
            f"experiment {run.experiment}, controller {run.controller}",
            stamps,
            f"dilation={clock.dilation!r} epoch_ns={clock.epoch_ns}",
        ]
        point = self.capture.point
        about = "" if run.numbered_by_host else _not_numbered(point.kind)
        self._write(self.writer.section, f"testbed {testbed.__version__}", comments)
        self._write(self.writer.interface, point.name, about, rate, self.capture.snap)

    def packets(
        self, times: Sequence[int], frames: Sequence[bytes], lengths: Sequence[int], outgoing: Sequence[bool]
    ) -> None:
        """See `Writer.packets`. An RETH goes where InfiniBand has it; whole frames get their iCRC."""
        ordered = zip(map(in_front, frames), lengths, strict=True)
        sent = [sealed(one) if len(one) == length else one for one, length in ordered]
        self._write(self.writer.packets, times, sent, lengths, outgoing)

    def end(self, now: int, packets: int, missing: int) -> dict[str, Any]:
        """The counts: the last that is written, and what the run's record says."""
        self._write(self.writer.statistics, now, packets, missing)
        if self.problem:
            return report(self.capture, problem=self.problem)
        return report(self.capture, packets, missing)

    def _write(self, write: Any, *arguments: Any) -> None:
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
