"""Samples of flows and ports that are taken in C while the world goes on.

They are the same to the bit as those of `Recorder.sample` at the same tick.
"""

from __future__ import annotations

import ctypes
from ctypes import c_double, c_int64, c_void_p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.agent.columns import Flows
from testbed.dataplane.port_reader import COLUMNS
from testbed.engines.virtual.world import NEVER, World
from testbed.live.recorder import FLOW_COLUMNS, Recorder

LOOKED_AT = 250  # samples after which Python is back, whoever else wants it


class CFlowColumn(ctypes.Structure):
    _fields_ = [("from", c_void_p), ("stride", c_int64), ("unit", c_int64)]


class CSampler(ctypes.Structure):
    """struct sampler of sampler.h."""

    _fields_ = [
        ("at", c_void_p),
        ("taken", c_int64),
        *((name, c_void_p) for name in ("columns", "chosen", "rack", "each", "flows", "ports", "queues", "row")),
        ("bottleneck", c_int64),
        ("difference", c_double),
    ]


def _described(name: str, column: NDArray[Any], recorder: Recorder) -> CFlowColumn:
    unit = recorder.wire_size if name == "inflight" else 1
    return CFlowColumn(column.ctypes.data, column.strides[0], unit if column.dtype.kind == "i" else 0)


class Sampler:
    """Every ``interval`` of a run that lasts ``duration`` (s); what happened at a sample's tick belongs to it."""

    def __init__(self, world: World, flows: Flows, recorder: Recorder, interval: float, duration: float) -> None:
        self.world, self.recorder, self.interval = world, recorder, interval
        last = world.tick_of(np.array([duration]))
        ticks = world.tick_of(np.arange(int(duration / interval) + 2, dtype=np.float64) * interval)
        self._at = np.append(ticks[ticks < last], [NEVER, NEVER])  # the run's end may have one, too
        columns = [_described(name, getattr(flows, column), recorder) for name, column in FLOW_COLUMNS.items()]
        self._columns = (CFlowColumn * len(columns))(*columns)
        reader, flow_count = world.ports, len(recorder.chosen)
        recorder.flow_samples.begin(flow_count)
        recorder.port_samples.begin(len(reader.index))
        recorder.queue_samples.begin(len(world.queues.index))
        self._row = np.zeros(max(len(COLUMNS) * len(world.queues.index), len(columns) * flow_count))
        self.c = CSampler(
            self._at.ctypes.data, 0, ctypes.addressof(self._columns), recorder.chosen.ctypes.data,
            ctypes.addressof(reader.c), ctypes.addressof(world.queues.c) if world.classes else None,
            ctypes.addressof(recorder.flow_samples.c), ctypes.addressof(recorder.port_samples.c),
            ctypes.addressof(recorder.queue_samples.c), self._row.ctypes.data,
            -1 if world.c.queued or world.classes else world.layout.bottleneck,
        )  # fmt: skip
        world.c.sampler, world.c.next_sample = ctypes.addressof(self.c), self._at[0]

    @property
    def next_look(self) -> float:
        """When Python is to be back: whenever it was before, for that depends on who watches."""
        return float(-(-self.c.taken // LOOKED_AT) * LOOKED_AT * self.interval)

    def next_from(self, time: float) -> float:
        """The first moment from then on at which a sample is due."""
        if np.isinf(time):
            return np.inf
        number = max(int(time / self.interval) - 1, 0)
        first = self.world.tick_of(np.array([time]))
        while self.world.tick_of(np.array([number * self.interval])) < first:
            number += 1
        return number * self.interval

    def take(self) -> None:
        """Take the sample that is due at this tick, if there is one."""
        self.world.code.take_samples(self.world.address, self.world.c.now + 1)

    def date(self) -> None:
        """Tell the recorder when those were taken that it has."""
        ticks = self._at[len(self.recorder.time) : self.c.taken]
        self.recorder.time += self.world.clock.nominal_from_stamps(ticks).tolist()

    def end(self) -> None:
        """Take the last sample now, unless one has been taken at this tick; none follows."""
        self.take()
        if self._at[self.c.taken - 1] < self.world.c.now:
            self._at[self.c.taken] = self.world.c.next_sample = self.world.c.now
            self.take()
        self.world.c.next_sample = NEVER
        self.date()

    @property
    def queue_difference(self) -> float:
        """The largest difference between the bottleneck's queue as counted by its program and as its line has it."""
        return float(self.c.difference)
