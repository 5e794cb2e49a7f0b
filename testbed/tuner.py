"""The switch-side plugin interface: what the author of an ECN tuner reads.

A tuner sees one switch and sets the RED thresholds of its queues once per slot. One instance per switch, local
observations only. Units are nominal SI: seconds, bytes, bit/s.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Flag, auto
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.plugin import PluginConfig
from testbed.units import show_size

ELEPHANT = 1e6  # bytes: a flow that has sent more is an elephant, any other a mouse (PET, section 4.2.1)


class Need(Flag):
    """What a tuner needs beyond the port's counters; the port program measures no more than that."""

    NONE = 0
    FLOWS = auto()  # `PortSample.incast_degree` and `PortSample.mice_share`: the flows of the slot


@dataclass(frozen=True)
class Ports:
    """The queues of one switch, columns of shape (n,). A port with several queues has a row for each of them."""

    name: tuple[str, ...]
    rate: Floats  # bit/s of the port
    buffer: Floats  # bytes of the queue
    base_rtt: float  # s, of the rack: the unit in which slots are chosen
    port: Ints = field(default_factory=lambda: np.empty(0, np.int64))  # which port a row is of; empty: one row each

    def __post_init__(self) -> None:
        if not len(self.port):
            object.__setattr__(self, "port", np.arange(len(self.name)))

    def __len__(self) -> int:
        return len(self.name)

    @cached_property
    def one_queue_each(self) -> bool:
        """Whether no port has several queues: then what is of a port is of its row."""
        return len(np.unique(self.port)) == len(self.port)

    @property
    def switch(self) -> str:
        """Name of the switch: that of its first port up to ``-eth``."""
        return switch_of(self.name[0]) if self.name else ""


def switch_of(port: str) -> str:
    """The switch that a port is of: ``leaf1`` for ``leaf1-eth3``."""
    return port.partition("-eth")[0]


def by_switch(
    names: Sequence[str], rate: Floats, buffer: Floats, base_rtt: float, port: Ints | None = None
) -> list[Ports]:
    """Queues of many switches to one `Ports` per switch, in the order of their first ports; ``port``: as there."""
    rows: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        rows.setdefault(switch_of(name), []).append(number)
    none = np.empty(0, np.int64)
    return [
        Ports(tuple(names[n] for n in mine), rate[mine], buffer[mine], base_rtt, none if port is None else port[mine])
        for mine in rows.values()
    ]


@dataclass(frozen=True)
class PortSample:
    """What the queues did in the slot that just ended, columns of shape (n,)."""

    queue: Floats  # bytes now
    mean_queue: Floats  # bytes, averaged over the slot's time
    tx_rate: Floats  # bit/s that left the queue
    marked_rate: Floats  # bit/s of packets that were CE-marked
    dropped: Ints  # packets dropped: by the buffer limit, by the loss model, or on a link that was down
    kmin: Floats  # active thresholds
    kmax: Floats
    pmax: Floats
    incast_degree: Floats  # most senders that one receiver behind the port received from; nan without `Need.FLOWS`
    mice_share: Floats  # mice / (mice + elephants) of the flows that sent; nan without `Need.FLOWS` or a flow

    @classmethod
    def idle(cls, thresholds: Thresholds) -> PortSample:
        """A slot in which nothing happened; with `dataclasses.replace` any other can be made of it."""
        zero = np.zeros(len(thresholds.kmin))
        none = np.zeros(len(zero), np.int64)
        kmin, kmax, pmax = thresholds.kmin, thresholds.kmax, thresholds.pmax
        unknown = np.full(len(zero), np.nan)
        return cls(zero, zero, zero, zero, none, kmin, kmax, pmax, unknown, unknown)


@dataclass
class Thresholds:
    """RED thresholds per queue, columns of shape (n,): bytes, bytes, probability. Kmin < Kmax, or equal for a step.

    A queue's three values take effect at once: no packet sees a mixture.
    """

    kmin: Floats
    kmax: Floats
    pmax: Floats

    @classmethod
    def uniform(cls, ports: int, kmin: float, kmax: float, pmax: float) -> Thresholds:
        """The same thresholds on every port."""
        return cls(np.full(ports, kmin), np.full(ports, kmax), np.full(ports, pmax))

    def told(self, row: int) -> str:
        """Those of one queue, for a person."""
        return f"Kmin {show_size(self.kmin[row])}, Kmax {show_size(self.kmax[row])}, Pmax {100 * self.pmax[row]:.4g} %"


class History:
    """The last ``slots`` rows of features per queue, side by side, for tuners that look at changes over time."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._rows: Floats = np.empty((0, 0))

    def append(self, features: Floats) -> Floats:
        """Features of the newest slot, shape (n, f), to those of all slots, shape (n, slots * f), oldest first.

        Before there have been that many slots, the first one stands for those before it.
        """
        if not len(self._rows):
            self._rows = np.tile(features, self.slots)
        else:
            self._rows = np.concatenate((self._rows[:, features.shape[1] :], features), axis=1)
        return self._rows


class Tuner(ABC):
    """Sets thresholds at the start, and again after every slot (``slot`` seconds; inf for never).

    ``report`` may hold numbers about the last slot, by name (for example ``reward``), and ``state`` the name of what
    the tuner is doing (one that learns: ``exploring``, ``frozen``); both are shown while the run goes on and kept with
    its results.
    """

    name: ClassVar[str]
    Config: ClassVar[type[PluginConfig]] = PluginConfig
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    needs: ClassVar[Need] = Need.NONE

    def __init__(self, config: PluginConfig, ports: Ports) -> None:
        self.config = config
        self.ports = ports
        self.slot: float = float("inf")  # s; in the unit ports.base_rtt it holds in every rack
        self.report: dict[str, float] = {}
        self.state = ""

    @classmethod
    def inputs(cls, config: PluginConfig) -> Mapping[str, Path]:  # noqa: ARG003 - part of the interface
        """Files that it uses, such as a trained policy, by the option that names them; for the manifest."""
        return {}

    @abstractmethod
    def initial(self) -> Thresholds:
        """Thresholds before the first packet."""

    def on_slot(self, now: float, sample: PortSample) -> Thresholds | None:  # noqa: ARG002 - part of the interface
        """Thresholds from now on, or None to leave them as they are.

        If they are invalid (see `wrong`) the previous ones stay active, and the verdict says so.
        """
        return None

    def learned(self) -> Mapping[str, bytes]:
        """Files of what it learned in the run that has just ended, by name; they are kept in the results' `learned`."""
        return {}


def reported(tuner: Tuner) -> dict[str, float]:
    """Its report, as numbers. Raises TypeError if one of them is none, such as a value for every port."""
    report = tuner.report
    if not isinstance(report, Mapping):
        raise TypeError(f"report is a {type(report).__name__}, expected numbers by name")
    for name, value in report.items():
        if np.ndim(value) or not isinstance(value, Real):
            got = np.asarray(value).shape or type(value).__name__
            raise TypeError(f"report['{name}'] is {got}, expected one number")
    return {str(name): float(value) for name, value in report.items()}


def wrong(thresholds: object, ports: Ports) -> str:
    """What is wrong with thresholds for these ports, in one sentence; empty if nothing is."""
    if not isinstance(thresholds, Thresholds):
        return f"expected Thresholds, got {type(thresholds).__name__}"
    columns: dict[str, Floats] = {}
    for name in ("kmin", "kmax", "pmax"):
        try:
            columns[name] = np.asarray(getattr(thresholds, name), float)
        except (TypeError, ValueError) as error:
            return f"{name} is not a column of numbers: {error}"
        if columns[name].shape != (len(ports),):
            return f"{name} has shape {columns[name].shape}; one value per port, ({len(ports)},), is expected"
    kmin, kmax, pmax = columns.values()
    # Written so that nan breaks every rule.
    rules = (
        ((kmin >= 0) & (kmin <= kmax), "0 <= Kmin <= Kmax"),
        (kmax <= ports.buffer, "Kmax <= buffer"),
        ((pmax >= 0) & (pmax <= 1), "0 <= Pmax <= 1"),
    )
    for kept, rule in rules:
        for port in np.flatnonzero(~kept):
            buffer = show_size(float(ports.buffer[port]))
            return (
                f"port {ports.name[port]} breaks {rule}: Kmin {kmin[port]:g} B, Kmax {kmax[port]:g} B, "
                f"Pmax {pmax[port]:g}, buffer {buffer}"
            )
    return ""
