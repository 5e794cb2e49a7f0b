"""The counters and thresholds of switch ports in nominal units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats, Ints
from testbed.clock import Clock
from testbed.dataplane.pauses import paused_between, paused_ns
from testbed.dataplane.port_maps import Port, PortMaps

ALL = slice(None)


@dataclass(frozen=True)
class PortState:
    """What the programs hold of some ports at one moment, shape (p,); or at several, shape (t, p)."""

    counters: NDArray[np.void] | Mapping[str, NDArray[Any]]
    ingresses: NDArray[np.void]
    own_pauses: NDArray[np.void]
    peer_pauses: NDArray[np.void]


class PortReader:
    """The counters of ports in nominal units, as of now: the rack's, or those of a real switch."""

    def __init__(self, programs: PortMaps, ports: list[Port], clock: Clock) -> None:
        self.programs = programs
        self.clock = clock
        self.index = np.array([port.ifindex for port in ports])
        self.peer = np.array([port.peer for port in ports])
        self.rate = np.array([port.rate for port in ports])  # wall bit/s
        self.thresholds = self._read_thresholds(self.index)

    def _read_thresholds(self, index: Ints) -> Floats:
        return np.array([self.programs.red(int(one)) for one in index]).T

    def set_thresholds(self, kmin: Floats, kmax: Floats, pmax: Floats, rows: Ints) -> None:
        """Write the thresholds of these ports and remember what the kernel reads back."""
        index = self.index[rows]
        for one, *values in zip(index.tolist(), kmin.tolist(), kmax.tolist(), pmax.tolist(), strict=True):
            self.programs.set_red(one, *values)
        self.thresholds = self.thresholds.copy()  # samples that were taken keep theirs
        self.thresholds[:, rows] = self._read_thresholds(index)

    def reread_thresholds(self) -> None:
        """Read them again: another process may have set them."""
        self.thresholds = self._read_thresholds(self.index)

    def sample(self, now_ns: int, rows: Ints | slice = ALL) -> dict[str, Floats]:
        """Of these ports, as of now. The columns of `PortSeries`, and marked_bytes, in the rows' order."""
        maps, index = self.programs, self.index[rows]
        state = PortState(
            maps.counters[index], maps.ingresses[index], maps.pauses[index], maps.pauses[self.peer[rows]]
        )  # fmt: skip
        return self.columns(state, now_ns, rows)

    def columns(self, state: PortState, now_ns: int | Ints, rows: Ints | slice = ALL) -> dict[str, Floats]:
        """What ``state`` says of these ports. Of several moments, ``now_ns`` is a column of these, shape (t, 1).

        The queue drains between arrivals, so it is extrapolated to now; not while the port itself is paused.
        """
        count = state.counters
        last_ns = count["last_ns"].astype(np.int64, copy=False)
        since = (now_ns - last_ns) / 1e9
        paused = paused_between(state.own_pauses, last_ns, now_ns) / 1e9
        idle = np.maximum(0, since)
        before = count["queue"].astype(float, copy=False)
        area = count["area"] / 1e9
        if paused.any():
            idle -= paused
            area += before * paused
        bytes_per_second = self.rate[rows] / 8
        busy = np.minimum(idle, before / bytes_per_second)
        queue = before - busy * bytes_per_second
        tx_bytes = count["bytes"] - queue
        if since.min(initial=0) < 0:  # what came later than now is not sent yet
            tx_bytes -= np.where(queue > 0, np.maximum(0, -since), 0.0) * bytes_per_second
        area += (before + queue) / 2 * busy
        return {
            "tx_bytes": tx_bytes,
            "tx_packets": count["packets"].astype(float, copy=False),
            "queue": queue,
            "peak_queue": count["peak"].astype(float, copy=False),
            "queue_area": self.clock.nominal_seconds(area),
            "marked_packets": count["marked_packets"].astype(float, copy=False),
            "marked_bytes": count["marked_bytes"].astype(float, copy=False),
            "dropped_packets": (count["dropped_packets"] + count["lost_packets"]).astype(float, copy=False),
            "kmin": self.thresholds[0, rows],
            "kmax": self.thresholds[1, rows],
            "pmax": self.thresholds[2, rows],
            "ingress": state.ingresses["bytes"].astype(float),
            "pause_frames": state.ingresses["frames"].astype(float),
            "paused": self.clock.nominal_seconds(paused_ns(state.peer_pauses, now_ns) / 1e9),
        }
