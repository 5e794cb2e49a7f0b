"""The counters and thresholds of switch ports in nominal units."""

from __future__ import annotations

import ctypes
from ctypes import c_double, c_int64, c_void_p
from functools import cache, partial
from pathlib import Path

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.base.compiler import EXACT, LIBRARY_FLAGS, Unit
from testbed.clock import Clock
from testbed.dataplane.port_maps import Port, PortMaps

ALL = slice(None)
COLUMNS = (
    "tx_bytes", "tx_packets", "queue", "peak_queue", "queue_area", "marked_packets", "dropped_packets", "kmin", "kmax",
    "pmax", "ingress", "pause_frames", "paused", "marked_bytes",
)  # fmt: skip
"""Those of `testbed.results.record.PortSeries`, and marked_bytes."""
SOURCE = Path(__file__).with_suffix(".c")
READER = Unit("port_reader", (SOURCE,), ".so", (*LIBRARY_FLAGS, EXACT), headers=(SOURCE.parent,))
_library = cache(partial(READER.library, read_ports=(None, [c_void_p, c_int64, c_void_p])))


class CPorts(ctypes.Structure):
    """struct ports of port_reader.h."""

    _fields_ = [
        *((name, c_void_p) for name in ("counters", "ingresses", "pauses", "departures", "index", "peer")),
        *((name, c_void_p) for name in ("ingress_rows", "pause_rows")),
        ("priorities", c_int64),
        *((name, c_void_p) for name in ("bytes_per_second", "thresholds")),
        ("count", c_int64),
        ("dilation", c_double),
    ]


class PortReader:
    """The counters of ports in nominal units, as of now: the rack's, or those of a real switch.

    Where ports have several queues, their rows are read alike (`testbed.dataplane.class_rows`).
    """

    def __init__(self, programs: PortMaps, ports: list[Port], clock: Clock) -> None:
        self.programs = programs
        self.index = np.array([port.ifindex for port in ports], np.int64)
        self.peer = np.array([port.peer for port in ports], np.int64)
        self._built = np.array([port.rate for port in ports], float) / 8  # bytes/s, wall
        self._bytes_per_second = self._built.copy()
        self.thresholds = np.zeros((3, len(ports)))
        self.reread_thresholds()
        arrays = (
            programs.counters, programs.ingresses, programs.pauses, programs.departures, self.index, self.peer,
        )  # fmt: skip
        addresses = (None if one is None else one.ctypes.data for one in arrays)
        own = (one.ctypes.data for one in (self._bytes_per_second, self.thresholds))
        self.c = CPorts(*addresses, None, None, 0, *own, len(ports), clock.dilation)
        self._read = _library().read_ports

    def set_rate(self, rows: slice, share: float) -> None:
        """Ports have this share of the rate with which they were built."""
        self._bytes_per_second[rows] = share * self._built[rows]

    def pausing(self, ingress_rows: Ints, pause_rows: Ints) -> None:
        """Priorities pause by themselves: their rows, shape (n, k), here and at the far ends; -1 for none."""
        self._rows = np.ascontiguousarray(ingress_rows), np.ascontiguousarray(pause_rows)
        self.c.ingress_rows, self.c.pause_rows = (one.ctypes.data for one in self._rows)
        self.c.priorities = ingress_rows.shape[1]

    def set_thresholds(self, kmin: Floats, kmax: Floats, pmax: Floats, rows: Ints) -> None:
        """Write the thresholds of these ports and remember what the kernel reads back."""
        index = self.index[rows]
        self.programs.set_red(index, kmin, kmax, pmax)
        self.thresholds[:, rows] = self.programs.red(index)

    def reread_thresholds(self) -> None:
        """Read them again: another process may have set them."""
        self.thresholds[:] = self.programs.red(self.index)

    def sample(self, now_ns: int, rows: Ints | slice = ALL) -> dict[str, Floats]:
        """`COLUMNS` of these ports, as of now, in the rows' order.

        The queue drains between arrivals, so it is extrapolated to now; not while the port itself is paused.
        """
        columns = np.empty((len(COLUMNS), len(self.index)))
        self._read(ctypes.addressof(self.c), now_ns, columns.ctypes.data)
        return dict(zip(COLUMNS, columns[:, rows], strict=True))
