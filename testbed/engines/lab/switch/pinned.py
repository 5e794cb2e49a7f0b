"""A switch that is there: its ports, their counters, and their thresholds. Units are nominal, which here are real.

A tuner meets it as it meets a switch of the rack: `PinnedSwitch` is a `testbed.tuning.loop.Switch`.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from testbed.base.arrays import Floats
from testbed.clock import Clock
from testbed.dataplane import libbpf
from testbed.dataplane.port_maps import MAPS, KernelMaps, Port
from testbed.dataplane.port_reader import PortReader
from testbed.engines.lab.switch import pins
from testbed.errors import BadInput, nearest
from testbed.tuner import Ports, Thresholds, wrong

REAL = Clock(1.0)
COUNTERS = ("queue", "peak_queue", "tx_packets", "tx_bytes", "marked_packets", "marked_bytes", "dropped_packets")
NONE = "no port here is a testbed switch's; make it one: testbed switch attach PORT --rate RATE"


class PinnedSwitch:
    """The switch of this network namespace, with the ports that it has now. Raises BadInput if there is none.

    ``folder``: its pins, if they are seen from elsewhere.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = pins.default_folder() if folder is None else folder
        self.names = {index: _name(index) for index, pin in pins.ports(self.folder).items() if is_alive(pin)}
        if not self.names:
            raise BadInput(NONE)
        self.maps = open_maps(self.folder)
        found = [self._port(index) for index in self.names]
        self.reader = PortReader(self.maps, found, REAL)
        self.rate, self.buffer = (np.array([getattr(one, name) for one in found]) for name in ("rate", "buffer"))

    def _port(self, index: int) -> Port:
        rate, buffer = self.maps.rate_and_buffer(index)
        return Port(index, node=0, rate=rate, buffer=buffer, slack=0)

    def ports(self, base_rtt: float) -> Ports:
        """As a tuner wants to know them; ``base_rtt`` is the network's, which a switch does not know."""
        return Ports(tuple(self.names.values()), self.rate, self.buffer.astype(float), base_rtt)

    def sample(self, now_ns: int) -> Mapping[str, Floats]:
        """See `testbed.tuning.loop.Switch`."""
        self.reader.reread_thresholds()
        return self.reader.sample(now_ns)

    def set_thresholds(self, kmin: Floats, kmax: Floats, pmax: Floats) -> None:
        """Of all ports."""
        self.reader.set_thresholds(kmin, kmax, pmax, np.arange(len(self.names)))

    def rows(self, names: Sequence[str]) -> list[int]:
        """Which ports these are; none are all. Raises BadInput."""
        here = list(self.names.values())
        for name in names:
            if name not in here:
                raise BadInput(f"{name} is no port of this switch; {nearest(name, here)}")
        return [here.index(name) for name in dict.fromkeys(names)] or list(range(len(here)))

    def change(self, names: Sequence[str], kmin: float | None, kmax: float | None, pmax: float | None) -> None:
        """Set what is given, on these ports or on all. Raises BadInput, and nothing has changed."""
        rows = np.array(self.rows(names))
        wanted = self.reader.thresholds.copy()
        for column, value in zip(wanted, (kmin, kmax, pmax), strict=True):
            if value is not None:
                column[rows] = value
        if why := wrong(Thresholds(*wanted), self.ports(base_rtt=0.0)):
            raise BadInput(why)
        kmin_now, kmax_now, pmax_now = wanted[:, rows]
        self.reader.set_thresholds(kmin_now, kmax_now, pmax_now, rows)

    def as_dicts(self) -> list[dict[str, Any]]:
        """One per port; bytes, bit/s, and Pmax as a share."""
        sample = self.sample(time.monotonic_ns())
        counters = {name: sample[name].astype(int).tolist() for name in COUNTERS}
        kmin, kmax, pmax = self.reader.thresholds
        return [
            {
                "name": name,
                "rate": float(self.rate[row]),
                "buffer": int(self.buffer[row]),
                "kmin": int(kmin[row]),
                "kmax": int(kmax[row]),
                "pmax": round(float(pmax[row]), 9),
                **{counter: values[row] for counter, values in counters.items()},
            }
            for row, name in enumerate(self.names.values())
        ]


def open_maps(folder: Path) -> KernelMaps:
    """The maps that are pinned there."""
    fds = {name: libbpf.open_pin(folder / name) for name in MAPS}
    return KernelMaps(fds, libbpf.about(fds["port_config"], "max_entries"))


def is_alive(pin: Path) -> bool:
    """Whether its interface is still there; if not, the kernel has detached the program, and the pin is left."""
    link = libbpf.open_pin(pin)
    try:
        return libbpf.about(link, "ifindex") > 0
    finally:
        os.close(link)


def _name(index: int) -> str:
    try:
        return socket.if_indextoname(index)
    except OSError:  # of another network namespace
        return f"if{index}"
