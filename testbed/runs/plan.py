"""A run that is about to start: everything that can be refused before anything is built has been."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from testbed.capture.files import snap_of
from testbed.capture.point import Point, points
from testbed.engines.engine import Engine
from testbed.engines.kernel import doctor
from testbed.errors import BadInput
from testbed.experiment.resolved import Resolved
from testbed.live.observers import Observer
from testbed.runs.run import RunOutcome, execute

NO_PACKETS_TO_CAPTURE = {
    "lab": "in a lab the packets are on real wires; capture them there with tcpdump",
    "fluid": "the fluid model has no packets; leave it out, or use --engine virtual or kernel",
}


@dataclass(frozen=True)
class Planned:
    """An experiment on its engine, with what is captured."""

    engine: Engine
    resolved: Resolved
    points: Sequence[Point]
    snap: int  # bytes of each packet

    def require(self) -> None:
        """Raises TestbedError if this machine cannot run it."""
        if self.engine.name == "kernel":
            doctor.require()

    def execute(self, out: Path | None, observer: Observer) -> RunOutcome:
        """Run it and write its results. Raises TestbedError."""
        return execute(self.engine, self.resolved, out, observer, points=self.points, snap=self.snap)


def plan(engine: Engine, resolved: Resolved, pcap: Sequence[str] = (), snap: str = "") -> Planned:
    """Check an experiment for its engine. Raises BadInput."""
    if engine.name != "kernel":  # which checks the machine first
        engine.check(resolved)
    captured, kept = points(pcap, resolved.layout.shape), snap_of(snap)
    if captured and engine.name in NO_PACKETS_TO_CAPTURE:
        raise BadInput(f"--pcap: {NO_PACKETS_TO_CAPTURE[engine.name]}")
    return Planned(engine, resolved, captured, kept)
