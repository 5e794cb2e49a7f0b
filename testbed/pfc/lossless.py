"""Priority flow control of one run: sizes and times for the programs, the engine, and what agents must know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testbed.agent.datapath import Pauses
from testbed.clock import Clock
from testbed.controller import Ints
from testbed.dataplane.programs import NicPrograms, Thresholds
from testbed.pfc import frames
from testbed.pfc.engine import Engine, Speaker
from testbed.pfc.headroom import Room

if TYPE_CHECKING:
    from testbed.rack.net import Rack

LOOKS_PER_HOLD = 2  # of a paused host: it must know that it may go on before it may


class Lossless:
    """What is nominal comes in, what the kernel needs goes out."""

    def __init__(self, room: Room, delay: float, quantum: float, use_netem: bool) -> None:
        """``delay`` of a link; ``quantum`` is the shortest sleep of an agent. Nominal seconds.

        Packets take no time here from a host to its switch, and neither do pause frames: all of the link's round trip
        passes between a crossing and its effect. netem, however, holds packets on their way for longer than that.
        """
        self.room = room
        self.hold = 0.0 if use_netem else 2 * delay
        self.relook = max(self.hold / LOOKS_PER_HOLD, quantum)

    @property
    def thresholds(self) -> Thresholds:
        """For the programs."""
        return Thresholds(self.room.xoff, self.room.xon, self.room.limit)

    def start(self, rack: Rack, nic: NicPrograms, clock: Clock) -> None:
        """The switches begin to pause their hosts."""
        self.nic = nic
        speakers = []
        for link in rack.links:
            quantum = frames.quantum(link.cable.rate)
            note = nic.pauses[link.intf1.index]
            note["hold_ns"], note["quantum_ps"] = clock.wall_ns(self.hold), round(quantum * 1e12)
            port = link.intf2
            speakers.append(Speaker(port.index, port.name, port.MAC(), port.node.netns, frames.LONGEST * quantum))
        self.engine = Engine(nic.pause_events_fd, nic.ingresses, speakers)

    def pauses(self, interfaces: Ints) -> Pauses:
        """Where an agent finds out whether its hosts, given by their interfaces' indices, are paused."""
        return Pauses(self.nic.pauses, interfaces, self.relook)

    def forget(self) -> None:
        """All counts begin anew: nothing may be on its way, and no pause going on."""
        self.nic.ingresses[:] = 0
        for column in ("span", "spans", "paused_ns", "frames", "late_ns"):
            self.nic.pauses[column] = 0
        self.engine.forget()

    def late(self, clock: Clock) -> float:
        """Nominal seconds by which the latest pause frame came too late to be honoured in time."""
        return clock.nominal_seconds(float(self.nic.pauses["late_ns"].max()) / 1e9)
