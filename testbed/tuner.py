"""The switch-side plugin interface: what the author of an ECN tuner reads.

A tuner sees one switch and sets the RED thresholds of its ports once per slot. One instance per switch, local
observations only. Units are nominal SI: seconds, bytes, bit/s.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from testbed.controller import Floats, Ints
from testbed.plugin import PluginConfig


@dataclass(frozen=True)
class Ports:
    """The ports of one switch, columns of shape (n,)."""

    name: tuple[str, ...]
    rate: Floats  # bit/s
    buffer: Floats  # bytes
    base_rtt: float  # s, of the rack: the unit in which slots are chosen

    def __len__(self) -> int:
        return len(self.name)


@dataclass(frozen=True)
class PortSample:
    """What the ports did in the slot that just ended, columns of shape (n,)."""

    queue: Floats  # bytes now
    mean_queue: Floats  # bytes, averaged over the slot's time
    tx_rate: Floats  # bit/s that left the port
    marked_rate: Floats  # bit/s of packets that were CE-marked
    dropped: Ints  # packets dropped by the buffer limit
    kmin: Floats  # thresholds in force
    kmax: Floats
    pmax: Floats


@dataclass
class Thresholds:
    """RED thresholds per port, columns of shape (n,): bytes, bytes, probability. Kmin < Kmax, or equal for a step."""

    kmin: Floats
    kmax: Floats
    pmax: Floats

    @classmethod
    def uniform(cls, ports: int, kmin: float, kmax: float, pmax: float) -> Thresholds:
        """The same thresholds on every port."""
        return cls(np.full(ports, kmin), np.full(ports, kmax), np.full(ports, pmax))


class Tuner(ABC):
    """Sets thresholds at the start, and again after every slot (``slot`` seconds; inf for never)."""

    name: ClassVar[str]
    Config: ClassVar[type[PluginConfig]] = PluginConfig
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def __init__(self, config: PluginConfig, ports: Ports) -> None:
        self.config = config
        self.ports = ports
        self.slot: float = float("inf")  # s

    @abstractmethod
    def initial(self) -> Thresholds:
        """Thresholds before the first packet."""

    def on_slot(self, now: float, sample: PortSample) -> Thresholds | None:  # noqa: ARG002 - part of the interface
        """Thresholds from now on, or None to leave them as they are."""
        return None
