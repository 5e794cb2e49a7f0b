"""Samples flows and ports while a run goes on, from memory that agents and kernel write anyway.

A sample costs a few array copies; no agent and no packet waits for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np

from testbed.agent.columns import Flows
from testbed.base.arrays import Floats, Ints
from testbed.clock import Clock
from testbed.dataplane.pauses import paused_between, paused_ns
from testbed.dataplane.port_maps import Port, PortMaps
from testbed.results.record import FlowSeries, PortSeries

ALL = slice(None)
FLOW_COLUMNS = {"acked_bytes": "acked_payload", "wire_bytes": "acked_wire", "rate": "rate", "window": "window"}
PORT_COLUMNS = [one.name for one in fields(PortSeries) if one.name != "time"]


def largest(size: Floats, most: int) -> Ints:
    """The numbers, ascending, of at most so many flows to keep series of: endless ones first, then by size.

    Of thousands of short flows a series says little; of equal ones the first are taken.
    """
    return np.sort(np.argsort(-size, kind="stable")[:most])


class PortReader:
    """The counters of ports in nominal units, as of now: the rack's, or those of a real switch."""

    def __init__(self, programs: PortMaps, ports: list[Port], clock: Clock) -> None:
        self.programs = programs
        self.clock = clock
        self.index = np.array([port.ifindex for port in ports])
        self.far = np.array([port.peer for port in ports])
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

    def look_at_thresholds(self) -> None:
        """Read them again: somebody else may have set them."""
        self.thresholds = self._read_thresholds(self.index)

    def sample(self, now_ns: int, rows: Ints | slice = ALL) -> dict[str, Floats]:
        """Of these ports. The columns of `PortSeries`, and marked_bytes, in the rows' order.

        The queue drains between arrivals, so it is carried on to now; not while the port itself is paused.
        """
        count = self.programs.counters[self.index[rows]]
        last_ns = count["last_ns"].astype(np.int64)
        held = paused_between(self.programs.pauses[self.index[rows]], last_ns, now_ns) / 1e9
        idle = np.maximum(0, now_ns - last_ns) / 1e9 - held
        before = count["queue"].astype(float)
        bytes_per_second = self.rate[rows] / 8
        busy = np.minimum(idle, before / bytes_per_second)
        queue = before - busy * bytes_per_second
        area = count["area"] / 1e9 + before * held + (before + queue) / 2 * busy
        return {
            "tx_bytes": count["bytes"] - queue,
            "tx_packets": count["packets"].astype(float),
            "queue": queue,
            "peak_queue": count["peak"].astype(float),
            "queue_area": self.clock.nominal_seconds(area),
            "marked_packets": count["marked_packets"].astype(float),
            "marked_bytes": count["marked_bytes"].astype(float),
            "dropped_packets": (count["dropped_packets"] + count["lost_packets"]).astype(float),
            "kmin": self.thresholds[0, rows],
            "kmax": self.thresholds[1, rows],
            "pmax": self.thresholds[2, rows],
            "ingress": self.programs.ingresses["bytes"][self.index[rows]].astype(float),
            "pause_frames": self.programs.ingresses["frames"][self.index[rows]].astype(float),
            "paused": self.clock.nominal_seconds(paused_ns(self.programs.pauses[self.far[rows]], now_ns) / 1e9),
        }


@dataclass
class Recorder:
    """Collects samples; flows are a chosen subset of the rack's."""

    flows: Flows
    chosen: Ints  # numbers of the flows whose series are kept
    ports: PortReader
    wire_size: int
    time: list[float] = field(default_factory=list)
    flow_samples: list[dict[str, Floats]] = field(default_factory=list)
    port_samples: list[dict[str, Floats]] = field(default_factory=list)

    def sample(self, now_ns: int, now: float) -> None:
        """Take one sample."""
        flows = self.flows
        columns = {name: getattr(flows, column)[self.chosen] for name, column in FLOW_COLUMNS.items()}
        columns["rtt"] = flows.rtt[self.chosen]
        columns["inflight"] = flows.inflight[self.chosen] * self.wire_size
        self.time.append(now)
        self.flow_samples.append(columns)
        sampled = self.ports.sample(now_ns)
        self.port_samples.append({name: sampled[name] for name in PORT_COLUMNS})

    def flow_series(self) -> FlowSeries:
        """The samples of the chosen flows, shape (t, n)."""
        return FlowSeries(time=np.array(self.time), **_stacked(self.flow_samples))

    def port_series(self) -> PortSeries:
        """The samples of all ports, shape (t, p)."""
        return PortSeries(time=np.array(self.time), **_stacked(self.port_samples))


def _stacked(samples: list[dict[str, Floats]]) -> dict[str, Floats]:
    return {name: np.array([sample[name] for sample in samples], np.float64) for name in samples[0]}
