"""Runs the tuner: one instance per switch, its observations from the port programs, its thresholds into them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from testbed.controller import Floats
from testbed.errors import BadInput, PluginFailed
from testbed.plugin import failed, refused
from testbed.rack.kinds import shape_of
from testbed.telemetry.recorder import PortReader
from testbed.tuner import Ports, PortSample, Thresholds

if TYPE_CHECKING:
    from testbed.loading import Resolved

Answer = TypeVar("Answer")


class Tuning:
    """The tuner of one switch. ``next_slot`` is the nominal time of its next decision."""

    def __init__(self, resolved: Resolved, reader: PortReader, ports: Ports) -> None:
        self.plugin = resolved.tuner
        self.reader = reader
        self.ports = ports
        self.tuner = self._call(lambda: self.plugin.form(resolved.tuner_config, self.ports))
        self._set(self._call(self.tuner.initial), self.tuner.initial)
        self.slot = self._call(lambda: float(self.tuner.slot))
        if not self.slot > 0:
            raise self._refused(f"slot is {self.slot:g} s, expected a positive time or inf", self.plugin.form.__init__)
        self.next_slot = self.slot
        self._before: tuple[float, dict[str, Floats]] | None = None

    def step(self, now: float, now_ns: int) -> None:
        """Let the tuner decide if its slot is over."""
        if not np.isfinite(self.slot):
            return
        if self._before is None:
            self._before = (now, self.reader.sample(now_ns))
        if now < self.next_slot:
            return
        then, before = self._before
        after = self.reader.sample(now_ns)
        self._before = (now, after)
        self.next_slot = now + self.slot
        decided = self._call(lambda: self.tuner.on_slot(now, observed(before, after, now - then)))
        if decided is not None:
            self._set(decided, self.tuner.on_slot)

    def _set(self, wanted: Thresholds, by: Callable[..., object]) -> None:
        """Put thresholds in force, or refuse what ``by`` gave back."""
        try:
            kmin, kmax, pmax = (np.asarray(column, float) for column in (wanted.kmin, wanted.kmax, wanted.pmax))
        except (AttributeError, TypeError, ValueError) as error:
            raise self._refused(f"expected Thresholds with a number per port: {error}", by) from error
        with np.errstate(invalid="ignore"):
            valid = (kmin >= 0) & (kmin <= kmax) & (kmax <= self.ports.buffer) & (pmax >= 0) & (pmax <= 1)
        if kmin.shape != self.ports.buffer.shape or not valid.all():
            port = int(np.flatnonzero(~valid)[0]) if valid.shape == self.ports.buffer.shape else 0
            raise self._refused(
                f"wants Kmin {kmin.flat[port]:g}, Kmax {kmax.flat[port]:g}, Pmax {pmax.flat[port]:g} at "
                f"{self.ports.name[port]}; expected 0 <= Kmin <= Kmax <= buffer, 0 <= Pmax <= 1",
                by,
            )
        self.reader.set_thresholds(kmin, kmax, pmax)

    def _call(self, callback: Callable[[], Answer]) -> Answer:
        try:
            return callback()
        except BadInput:  # its options do not fit the rack: the user's mistake, not the plugin's
            raise
        except Exception as error:
            raise failed(self.plugin, error) from error

    def _refused(self, why: str, by: Callable[..., object]) -> PluginFailed:
        return refused(self.plugin, by, why)


def ports_of(resolved: Resolved) -> Ports:
    """The switch ports of the rack, as the tuner sees them."""
    experiment = resolved.experiment
    ports = shape_of(experiment.rack, experiment.hosts).ports
    base_rtt = 4 * experiment.rack.link.delay  # in this unit tuners choose slots: serialisation does not matter
    names, rate = tuple(port.name for port in ports), np.array([port.cable.rate for port in ports])
    return Ports(names, rate, np.full(len(ports), float(experiment.rack.switch.buffer)), base_rtt)


def observed(before: dict[str, Floats], after: dict[str, Floats], seconds: float) -> PortSample:
    """What happened between two samples."""
    packets = np.maximum(1.0, after["tx_packets"] - before["tx_packets"])
    tx_rate = (after["tx_bytes"] - before["tx_bytes"]) * 8 / seconds
    marked_share = (after["marked_packets"] - before["marked_packets"]) / packets
    return PortSample(
        queue=after["queue"],
        mean_queue=(after["queue_area"] - before["queue_area"]) / seconds,
        tx_rate=tx_rate,
        marked_rate=tx_rate * np.minimum(1.0, marked_share),
        dropped=(after["dropped_packets"] - before["dropped_packets"]).astype(np.int64),
        kmin=after["kmin"],
        kmax=after["kmax"],
        pmax=after["pmax"],
    )
