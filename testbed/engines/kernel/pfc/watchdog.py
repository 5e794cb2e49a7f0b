"""What ends a pause that does not end by itself, as SONiC's PFC watchdog does.

A queue that has been held for as long as that, with packets in it, sends in spite of pauses, or loses them and all that
come: then it is closed, so that nothing more is admitted, and what waits is let go to be dropped where its link ends
(pool.bpf.h). That takes its time on the line, for no program reaches into a qdisc. Until no pause has come for a while.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from testbed.base.shared import Shared
from testbed.clock import Clock
from testbed.dataplane.class_rows import row_of
from testbed.dataplane.wire import CLOSED
from testbed.engines.kernel.rack.gate import PortGate
from testbed.experiment.events import Event
from testbed.experiment.topology.groups import Watchdog
from testbed.live.packet_network import storms_of

MOST = 1024  # of what it did
LOOKS = 8  # per detection time, at a queue that is held and empty


@dataclass
class _Queue:
    """Of a gate: wall ns, 0 for not."""

    since: int = 0  # held, with packets
    storm: int = 0  # since when the watchdog has been acting
    next: int = 0  # when it looks again, meanwhile
    frames: int = 0  # pauses received when it looked last
    limit: int = 0  # of its share, before it was closed


@dataclass(frozen=True)
class Maps:
    """The kernel's arrays, by row, of a rack with so many interfaces."""

    interfaces: int
    counters: NDArray[np.void]
    departures: NDArray[np.void]
    shares: NDArray[np.void]
    pauses: NDArray[np.void]

    def waits(self, gate: PortGate, queue: int) -> bool:
        """Whether packets wait in it."""
        came = self.counters["bytes"][row_of(gate.port, queue, self.interfaces)]
        return bool(came != self.departures["bytes"][row_of(gate.peer, queue, self.interfaces)])


@dataclass
class PauseWatchdog:
    """Looks at queues on behalf of the gate controller; what it did is seen by the process that made it."""

    settings: Watchdog
    detection: int  # wall ns
    restoration: int
    maps: Maps
    done: NDArray[np.int64] = field(default_factory=lambda: Shared.ints(MOST, 3))  # when, row, whether it began
    count: NDArray[np.int64] = field(default_factory=lambda: Shared.ints(1))
    queues: dict[PortGate, _Queue] = field(default_factory=dict)

    @classmethod
    def of(cls, settings: Watchdog, clock: Clock, maps: Maps) -> PauseWatchdog:
        """Times are nominal in an experiment."""
        detection, restoration = settings.detection, settings.restoration or settings.detection
        return cls(settings, clock.wall_ns(detection), clock.wall_ns(restoration), maps)

    def look(self, gate: PortGate, held: bool, now: int) -> tuple[bool, int | None]:
        """Whether the gate stays open whoever holds it, and when to look again; wall ns."""
        if gate.queue is None:
            return False, None
        own, queue = self.queues.setdefault(gate, _Queue()), gate.queue
        if own.storm:
            self._look_again(own, gate, queue, held, now)
        elif not held:
            own.since = 0
        elif not self.maps.waits(gate, queue):
            own.since = 0
            return False, now + self.detection // LOOKS
        else:
            own.since = own.since or now
            if now - own.since < self.detection:
                return False, own.since + self.detection
            self._begin(own, gate, queue, now)
        return own.storm > 0, own.next if own.storm else None

    def _begin(self, own: _Queue, gate: PortGate, queue: int, now: int) -> None:
        row = row_of(gate.port, queue, self.maps.interfaces)
        own.storm, own.since, own.next = now, 0, now + self.restoration
        own.frames, own.limit = self._frames(gate), int(self.maps.shares["limit"][row])
        if self.settings.action == "drop":
            self.maps.shares["limit"][row] = CLOSED
        self._note(now, row, begins=True)

    def _look_again(self, own: _Queue, gate: PortGate, queue: int, held: bool, now: int) -> None:
        if now < own.next:
            return
        frames, row = self._frames(gate), row_of(gate.port, queue, self.maps.interfaces)
        own.next = now + self.restoration
        if frames == own.frames and not held:
            own.storm = 0
            self.maps.shares["limit"][row] = own.limit
            self._note(now, row, begins=False)
        own.frames = frames

    def _frames(self, gate: PortGate) -> int:
        return int(self.maps.pauses["frames"][gate.rows].sum())

    def _note(self, now: int, row: int, *, begins: bool) -> None:
        number = int(self.count[0])
        if number < MOST:
            self.done[number] = now, row, begins
            self.count[0] = number + 1

    def forget(self) -> None:
        """What it did before nominal time began."""
        self.count[0] = 0

    @property
    def defied(self) -> bool:
        """Whether anything was sent in spite of a pause."""
        return self.settings.action == "forward" and self.count[0] > 0

    def events(self, names: dict[int, str], clock: Clock) -> list[Event]:
        """What it did, by the ``names`` of rows of queues: `s1-eth3 q3`."""
        return storms_of(self.settings, self.done[: self.count[0]], names, clock)
