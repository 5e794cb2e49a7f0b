"""Samples of flows and ports that are taken in C while the world goes on, a block of them at a time.

They are the same to the bit as those of `Recorder.sample` at the same tick.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.agent.columns import Flows
from testbed.base.arrays import Floats, Ints
from testbed.dataplane import wire
from testbed.dataplane.port_reader import PortState
from testbed.engines.virtual.structs import TICK_SHIFT, CSampled
from testbed.engines.virtual.world import World
from testbed.live.recorder import FLOW_COLUMNS, Recorder

LEAST, MOST = 200, 1000  # samples in a block
CELLS = 16_000  # of a column in a block: more touch more memory, and fewer cost more turns of Python
NEVER = np.iinfo(np.int64).max
UNUSED = {"histogram", "found", "stalled", "dropped_bytes"}  # by `PortReader.columns`
COUNTERS = [name for name in wire.PORT_COUNTERS.names or () if name not in UNUSED]


def _counter(name: str) -> str:
    return f"port.{name}"


def _described(source: NDArray[Any], rows: Ints, dtype: np.dtype[Any], block: NDArray[Any]) -> CSampled:
    as_double = dtype.kind == "f" and source.dtype.kind != "f"
    return CSampled(
        source.ctypes.data, source.strides[0], dtype.itemsize, rows.ctypes.data, len(rows), as_double, block.ctypes.data
    )


class Sampler:
    """Every ``interval`` of a run that lasts ``duration`` (s); what happened at a sample's tick belongs to it."""

    def __init__(self, world: World, flows: Flows, recorder: Recorder, interval: float, duration: float) -> None:
        self.world, self.recorder, self.interval = world, recorder, interval
        self._last = int(world.tick_of(np.array([duration]))[0])
        self._sources: dict[str, tuple[NDArray[Any], Ints, np.dtype[Any]]] = {}
        for name in FLOW_COLUMNS.values():
            column = getattr(flows, name)
            self._sources[name] = column, recorder.chosen, column.dtype
        maps, ports = world.maps, world.ports
        for name in COUNTERS:  # column by column, as they are computed with
            kind = np.dtype(np.int64 if name == "last_ns" else np.float64)
            self._sources[_counter(name)] = maps.counters[name], ports.index, kind
        if world.buffer:
            self._sources["ingresses"] = maps.ingresses, ports.index, maps.ingresses.dtype
            self._sources["own_pauses"] = maps.pauses, ports.index, maps.pauses.dtype
            self._sources["peer_pauses"] = maps.pauses, ports.peer, maps.pauses.dtype
        self._bottleneck = world.layout.bottleneck
        line = world.wires.out_of(world.layout.shape.ports[self._bottleneck])
        self._sources["free"] = world.wires.lines["free"], np.array([line]), np.dtype(np.int64)
        self._per_byte = int(world.wires.lines["per_byte"][line])
        self._samples = min(max(CELLS // len(ports.index), LEAST), MOST)
        self._block = {
            name: np.empty((self._samples, len(rows)), dtype) for name, (_, rows, dtype) in self._sources.items()
        }
        self._described = (CSampled * len(self._sources))(
            *(_described(*source, self._block[name]) for name, source in self._sources.items())
        )
        world.c.sampled, world.c.sampled_count = ctypes.addressof(self._described), len(self._sources)
        self._taken = 0  # in blocks before this one
        self._difference = 0.0
        self._begin()

    def _begin(self) -> None:
        """A new block, in the memory of the last."""
        # Wherever it began: when Python is back depends on no wall clock.
        self._end = (self._taken // self._samples + 1) * self._samples
        ticks = self.world.tick_of(np.arange(self._taken, self._end, dtype=np.float64) * self.interval)
        self._at = np.append(np.where(ticks < self._last, ticks, NEVER), NEVER)
        self.world.c.sample_at, self.world.c.samples = self._at.ctypes.data, 0

    @property
    def next_full(self) -> float:
        """When the block will be full: by then `take` must have been called."""
        return (self._end - 1) * self.interval

    @property
    def next_tick(self) -> int:
        """Of the next sample."""
        return int(self._at[self.world.c.samples])

    def next_from(self, time: float) -> float:
        """The first moment from then on at which a sample is due."""
        number = max(int(time / self.interval) - 1, 0)
        first = self.world.tick_of(np.array([time]))
        while self.world.tick_of(np.array([number * self.interval])) < first:
            number += 1
        return number * self.interval

    def take(self) -> None:
        """Take the sample that is due at this tick, if there is one."""
        c = self.world.c
        self.world.code.take_samples(self.world.address, c.now + 1)
        if self._taken + c.samples == self._end:
            self.flush()

    def flush(self) -> None:
        """Give to the recorder what was taken; thresholds are about to change, or somebody wants to see."""
        count = int(self.world.c.samples)
        if not count:
            return
        taken = {name: column[:count] for name, column in self._block.items()}
        maps, reader, ticks = self.world.maps, self.world.ports, self._at[:count, None]
        state = PortState(
            {name: taken[_counter(name)] for name in COUNTERS},
            taken.get("ingresses", maps.ingresses[reader.index]),
            taken.get("own_pauses", maps.pauses[reader.index]),
            taken.get("peer_pauses", maps.pauses[reader.peer]),
        )
        ports = reader.columns(state, ticks)
        self.recorder.add(self.world.clock.nominal_from_stamps(ticks[:, 0]).tolist(), taken, ports)
        if not self.world.c.queued:
            self._compare(ports["queue"][:, self._bottleneck], taken["free"][:, 0], ticks[:, 0])
        self._taken += count
        self._begin()

    def end(self) -> None:
        """Take the last sample now, unless one has been taken at this tick; none follows."""
        self.take()
        self.flush()
        if self.recorder.time[-1] < self.world.clock.now():
            self._at[0] = self.world.c.now
            self.take()
            self.flush()
        self._at[:] = NEVER

    def _compare(self, queue: Floats, free: Ints, ticks: Ints) -> None:
        """What the bottleneck's line has yet to serialise, with the port program's queue."""
        left = np.maximum(0, free - ticks) * (1 << TICK_SHIFT) / self._per_byte
        self._difference = max(self._difference, float(np.max(np.abs(left - queue))))

    @property
    def queue_difference(self) -> float:
        """The largest difference between the bottleneck's queue as counted by its program and as its line has it."""
        return self._difference
