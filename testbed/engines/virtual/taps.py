"""Captures of a world: what passes its points, in the order of time, with stamps that are exact."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.capture.files import Capture
from testbed.capture.output import About, Output
from testbed.capture.pcapng import PICOSECONDS
from testbed.capture.point import Point
from testbed.engines.virtual.clock import EPOCH
from testbed.engines.virtual.structs import CTap
from testbed.engines.virtual.world import World
from testbed.experiment.topology.framing import ICRC

STAMPS = (
    "Time stamps are virtual: picoseconds of the simulated rack since the start of the run, exact. They are when a "
    "packet's first bit leaves, or its last bit arrives. What packets carry (departure, INT time and rate) takes a "
    "picosecond for a nanosecond, as if time were dilated 1000 times: virtual time is (ns - epoch_ns) / dilation, the "
    "rate is the rate times dilation. Payloads of flows are zeros."
)


class Taps:
    """All points of a run at which packets are captured. Make it before the first packet."""

    def __init__(self, world: World, captures: Sequence[Capture], about: About) -> None:
        self.all = [Tap(world, one, about) for one in captures]
        self._array = (CTap * len(self.all))(*(CTap(snap=one.head) for one in self.all))
        world.c.taps = ctypes.addressof(self._array)
        for number, one in enumerate(self.all):
            leaves, comes = _lines(world, one.capture.point)
            world.wires.lines["tapped"][comes, 1] = number + 1
            if one.capture.outgoing:
                world.wires.lines["tapped"][leaves, 0] = number + 1

    def drain(self) -> None:
        """Write what has passed, so that it need not be kept in memory."""
        for tap, c in zip(self.all, self._array, strict=True):
            tap.drain(c)

    def end(self) -> list[dict[str, Any]]:
        """What the run's record says of them. Call it when no packet is on its way."""
        self.drain()
        return [one.end() for one in self.all]


class Tap:
    """One point."""

    def __init__(self, world: World, capture: Capture, about: About) -> None:
        self.world, self.capture, self.packets = world, capture, 0
        known = int(world.c.whole_size) or world.layout.framing.overhead - ICRC  # bytes that are not always zero
        self.head = min(capture.snap, known)
        self._passed = np.dtype([("time", "<i8"), ("length", "<i8"), ("arrived", "<i8"), ("head", "u1", (self.head,))])
        self._early = np.empty(0, self._passed)
        self.output = Output(capture, PICOSECONDS)
        self.output.begin(about, STAMPS, world.clock, capture.point.rate(world.layout.shape))

    def drain(self, c: CTap) -> None:
        """A line says when a packet will leave as soon as it is sent: it is written when others cannot be earlier."""
        self._early = np.concatenate((self._early, self._taken(c)))
        self._early = self._early[np.argsort(self._early["time"], kind="stable")]
        past = int(np.searchsorted(self._early["time"], self.world.c.now))
        self._write(self._early[:past])
        self._early = self._early[past:]

    def end(self) -> dict[str, Any]:
        """The rest, and the counts."""
        self._write(self._early)
        return self.output.end(int(self.world.c.now) - EPOCH, self.packets, 0)

    def _taken(self, c: CTap) -> NDArray[np.void]:
        if not c.length:
            return np.empty(0, self._passed)
        memory = (ctypes.c_uint8 * (c.length * self._passed.itemsize)).from_address(c.bytes)
        c.length = 0
        return np.frombuffer(memory, self._passed).copy()

    def _write(self, passed: NDArray[np.void]) -> None:
        lengths = passed["length"].tolist()
        heads = passed["head"].tobytes()
        kept = [min(length, self.capture.snap) for length in lengths]
        starts = range(0, len(heads), self.head)
        frames = [
            heads[at : at + min(size, self.head)].ljust(size, b"\0") for at, size in zip(starts, kept, strict=True)
        ]
        outgoing = (passed["arrived"] == 0).tolist()
        self.output.packets((passed["time"] - EPOCH).tolist(), frames, lengths, outgoing)
        self.packets += len(lengths)


def _lines(world: World, point: Point) -> tuple[int, int]:
    """The lines that begin and end there: the two directions of a link are neighbours."""
    shape, wires = world.layout.shape, world.wires
    if point.kind == "port":
        leaves = wires.out_of(shape.ports[shape.position[point.place]])
    else:
        leaves = int(world.wires.hosts()[0][wires.host[point.place]])
    return leaves, leaves ^ 1
