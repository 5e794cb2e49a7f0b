"""Runs the tuners: one instance per switch, its observations from the switch's counters, its thresholds into it.

A tuner accesses its switch through `Switch` alone, so that the same class runs on the rack's port programs, on the
queues of the fluid model, and on anything else that has counters and thresholds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.dataplane.port_reader import PortReader
from testbed.errors import BadInput
from testbed.experiment.resolved import Resolved
from testbed.plugin import PluginConfig
from testbed.registry import Blaming, Plugin, refused
from testbed.results.tuner_log import TunerLog
from testbed.tuner import Need, Ports, PortSample, Thresholds, reported, wrong
from testbed.tuning.conditions import ConditionMonitor

Answer = TypeVar("Answer")


class Switch(Protocol):
    """One switch, as its tuner observes and controls it. Columns have shape (n,), rows as in `Ports`."""

    def sample(self, now_ns: int) -> Mapping[str, Floats]:
        """As of now. Cumulative: tx_bytes, marked_bytes, dropped_packets, queue_area (byte-seconds); at the moment:
        queue (bytes) and the active kmin, kmax, pmax. If its flows are monitored also incast_degree and mice_share.
        """
        ...

    def set_thresholds(self, kmin: Floats, kmax: Floats, pmax: Floats) -> None:
        """Set thresholds; those of one queue take effect at once."""
        ...


@dataclass(frozen=True)
class RackSwitch:
    """A switch of the rack: some of the ports of the reader of them all, and of the monitor if there is one."""

    reader: PortReader
    rows: Ints
    monitor: ConditionMonitor | None = None

    def sample(self, now_ns: int) -> Mapping[str, Floats]:
        conditions = self.monitor.sample(now_ns) if self.monitor else {}
        return self.reader.sample(now_ns, self.rows) | {name: one[self.rows] for name, one in conditions.items()}

    def set_thresholds(self, kmin: Floats, kmax: Floats, pmax: Floats) -> None:
        self.reader.set_thresholds(kmin, kmax, pmax, self.rows)


class Tuning:
    """The tuner of one switch. ``next_slot`` is the nominal time of its next decision."""

    def __init__(self, plugin: Plugin, config: PluginConfig, switch: Switch, ports: Ports) -> None:
        self.plugin = plugin
        self.switch = switch
        self.ports = ports
        self.log = TunerLog(ports.switch)
        self.tuner = self._call(lambda: self.plugin.form(config, ports))
        first = self._call(self.tuner.initial)
        if why := wrong(first, ports):
            raise refused(plugin, self.tuner.initial, why)
        self._set(first)
        self.slot = self._call(lambda: float(self.tuner.slot))
        if not self.slot > 0:
            why = f"slot is {self.slot:g} s, expected a positive time or inf"
            raise refused(plugin, self.plugin.form.__init__, why)
        self.next_slot = self.log.slot = self.slot
        self._before: tuple[float, Mapping[str, Floats]] | None = None

    def step(self, now: float, now_ns: int) -> None:
        """Let the tuner decide if its slot is over. Raises PluginFailed if it raises anything."""
        if not np.isfinite(self.slot):
            return
        if self._before is None:  # the first slot begins here, however late that is
            self._before = (now, self.switch.sample(now_ns))
            self.next_slot = now + self.slot
        if now < self.next_slot:
            return
        then, before = self._before
        after = self.switch.sample(now_ns)
        self._before = (now, after)
        self.next_slot = now + self.slot
        sample = observed(before, after, now - then)
        began = time.thread_time()  # without what other processes of the rack take of this core
        decided = self._call(lambda: self.tuner.on_slot(now, sample))
        spent = time.thread_time() - began
        self.log.decided(now, spent, self._call(lambda: reported(self.tuner)), str(self.tuner.state))
        if decided is None:
            return
        if why := wrong(decided, self.ports):  # the last valid thresholds stay active
            self.log.refuse(why)
        else:
            self._set(decided)

    def ended(self) -> TunerLog:
        """The run is over: its log, with what it learned. Raises PluginFailed."""
        self.log.learned = self._call(lambda: dict(self.tuner.learned()))
        return self.log

    def _set(self, wanted: Thresholds) -> None:
        self.switch.set_thresholds(*(np.asarray(one, float) for one in (wanted.kmin, wanted.kmax, wanted.pmax)))

    def _call(self, callback: Callable[[], Answer]) -> Answer:
        with Blaming(self.plugin, but=BadInput):  # options that do not fit the rack are the user's mistake
            return callback()


class Tunings:
    """The tuners of all switches."""

    def __init__(self, resolved: Resolved, switches: Sequence[tuple[Switch, Ports]]) -> None:
        plugin = resolved.tuner
        self.all = [Tuning(plugin, resolved.tuner_config, *one) for one in switches]
        slots = sorted({one.slot for one in self.all})
        if Need.FLOWS in plugin.form.needs and len(slots) > 1:  # the flows of a slot are read once for all switches
            why = f"slot is {slots[0]:g} s at one switch and {slots[-1]:g} s at another; with Need.FLOWS all must agree"
            raise refused(plugin, plugin.form.__init__, why)

    @property
    def next_slot(self) -> float:
        """Nominal time of the next decision at any switch."""
        return min((one.next_slot for one in self.all), default=np.inf)

    def ended(self) -> list[TunerLog]:
        """The run is over: the logs of all, with what they learned. Raises PluginFailed."""
        return [one.ended() for one in self.all]

    def step(self, now: float, now_ns: int) -> None:
        """Let the tuners whose slot is over decide. Raises PluginFailed."""
        for one in self.all:
            one.step(now, now_ns)


def in_rack(resolved: Resolved, reader: PortReader, names: Sequence[str]) -> Tunings:
    """Tuners for the rack whose queues have these names, in the order of ``reader``. Raises BadInput, PluginFailed."""
    row = {name: number for number, name in enumerate(names)}
    table = reader.programs.flow_table
    monitor = ConditionMonitor(table, reader.index) if table else None
    switches = [
        (RackSwitch(reader, np.array([row[name] for name in ports.name]), monitor), ports)
        for ports in resolved.layout.tuner_ports()
    ]
    return Tunings(resolved, switches)


def observed(before: Mapping[str, Floats], after: Mapping[str, Floats], seconds: float) -> PortSample:
    """What happened between two samples."""
    grown = {name: after[name] - before[name] for name in ("tx_bytes", "marked_bytes", "queue_area", "dropped_packets")}
    tx_rate = np.maximum(grown["tx_bytes"], 0.0) * 8 / seconds
    unknown = np.full(len(tx_rate), np.nan)
    return PortSample(
        queue=after["queue"],
        mean_queue=grown["queue_area"] / seconds,
        tx_rate=tx_rate,
        # Marked when they came, sent when they leave: in one slot more may be marked than sent.
        marked_rate=np.minimum(grown["marked_bytes"] * 8 / seconds, tx_rate),
        dropped=grown["dropped_packets"].astype(np.int64),
        kmin=after["kmin"],
        kmax=after["kmax"],
        pmax=after["pmax"],
        incast_degree=after.get("incast_degree", unknown),
        mice_share=after.get("mice_share", unknown),
    )
