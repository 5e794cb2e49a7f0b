"""A host's state as Prometheus metrics, read at a scrape, at most every 100 ms."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from testbed import __version__
from testbed.engines.lab.exporter import counters, devices, pcc
from testbed.engines.lab.exporter.documents import REGISTERS, DeviceRegisters, Registers, Rollout, State
from testbed.engines.lab.exporter.drift import drift
from testbed.engines.lab.exporter.files import Files
from testbed.engines.lab.shared_names import ROLLOUT, STATE
from testbed.live import lab_names

FRESH = 0.1  # s: hardware counters are cached for 10 ms by the driver, and two scrapers should not cost twice
OLD = 60.0  # s: after this, values of registers are unknown

Row = tuple[Sequence[str], float]


class HostCollector(Collector):
    """All metrics of one host."""

    def __init__(self, root: Path) -> None:
        self.files = Files(root)
        self._lock = threading.Lock()  # scrapes come in threads
        self._made: list[Metric] = []
        self._made_at = -math.inf
        self._registers_of = -math.inf  # Unix time of those whose errors are counted

    def collect(self) -> Iterator[Metric]:
        """Families of `names`, those without a row included, so that a query knows the name."""
        with self._lock:
            now = time.monotonic()  # before it is read: who waited for another's slow reading may know of later changes
            if now - self._made_at >= FRESH:
                self._made, self._made_at = list(self._families()), now
            made = self._made
        yield from made

    def _families(self) -> Iterator[Metric]:
        files = self.files
        rollout, state = files.parsed(ROLLOUT, Rollout), files.parsed(STATE, State)
        broken = rollout is None and files.at(ROLLOUT).exists()
        age, registers = self._registers()
        there = devices.found(files, rollout)
        yield from _of_deployment(files, state)
        yield from _of_registers(registers)
        differing: list[Row] = [(("", ROLLOUT), 1.0)] if broken else []  # what is wanted is unknown
        if rollout:
            found = drift(files, rollout, state, registers)
            differing = [((device, name), float(differs)) for device, name, differs in found]
        yield _family(lab_names.DRIFT, differing)
        rows = [
            ((device.name, name), float(value))
            for device in there
            for name, value in devices.dcqcn(files, device, registers.get(device.name))
        ]
        yield _family(lab_names.DCQCN, rows)
        now = pcc.states(files, rollout)
        rows = [((device, one), float(one == is_in)) for device, is_in in now.items() for one in lab_names.STATES]
        yield _family(lab_names.PCC_STATE, rows)
        yield _family(lab_names.AGE, [((), age)])
        yield from _of_hardware(files, there)
        yield from _of_pauses(files, there)
        yield _family(lab_names.BUILD, [((__version__,), 1.0)])
        yield _family(lab_names.DILATION, [((), 1.0)])
        yield _family(lab_names.TIME, [((), time.monotonic())])
        yield _family(lab_names.ERRORS, [((file,), float(count)) for file, count in sorted(files.errors.items())])

    def _registers(self) -> tuple[float, dict[str, DeviceRegisters]]:
        """Their age in s, and their values by device, unless those are old."""
        read = self.files.parsed(REGISTERS, Registers)
        if read is None:
            return math.inf, {}
        for device, one in read.devices.items():
            if one.errors and read.time != self._registers_of:
                self.files.errors[f"registers of {device}"] += one.errors
        self._registers_of = read.time
        age = max(0.0, time.time() - read.time)
        return age, (read.devices if age <= OLD else {})


def _family(described: lab_names.Described, rows: Sequence[Row]) -> Metric:
    kind = CounterMetricFamily if described.kind == "counter" else GaugeMetricFamily
    family = kind(described.name, described.help, labels=described.labels)
    for labels, value in rows:
        family.add_metric(labels, value)
    return family


def _of_deployment(files: Files, state: State | None) -> Iterator[Metric]:
    """Policy, phase and time of the last apply."""
    policy = state.policy if state else None
    yield _family(lab_names.POLICY, [((policy.controller, policy.version, policy.sha256), 1.0)] if policy else [])
    phase = state.phase if state else "idle"
    if phase not in lab_names.PHASES:
        files.errors[STATE] += 1
        phase = "unknown"
    yield _family(lab_names.PHASE, [((one,), float(one == phase)) for one in lab_names.PHASES])
    applied = state.last_apply if state else None
    yield _family(lab_names.LAST_APPLY, [((), applied)] if applied is not None else [])


def _of_registers(registers: dict[str, DeviceRegisters]) -> Iterator[Metric]:
    """Parameters and counters of the NICs' algorithms."""
    slots = [(device, number, slot) for device, one in registers.items() for number, slot in sorted(one.pcc.items())]
    for described, column in ((lab_names.PCC_PARAMETER, "parameters"), (lab_names.PCC_COUNTER, "counters")):
        rows = [
            ((device, number, name), float(value))
            for device, number, slot in slots
            for name, value in getattr(slot, column).items()
        ]
        yield _family(described, rows)


def _of_hardware(files: Files, there: Sequence[devices.Device]) -> Iterator[Metric]:
    """Counters in sysfs."""
    counted = {device.name: dict(counters.hardware(files, device)) for device in there}
    for name in lab_names.HARDWARE:
        rows = [((device,), float(values[name])) for device, values in counted.items() if name in values]
        yield _family(lab_names.hardware(name), rows)
    sent = {device.name: counters.sent(files, device) for device in there}
    for position, described in enumerate((lab_names.TX_BYTES, lab_names.TX_PACKETS, lab_names.DROPPED)):
        columns = ((device, values[position]) for device, values in sent.items())
        yield _family(described, [((device,), float(value)) for device, value in columns if value is not None])
    rates = ((device.name, counters.capacity(files, device)) for device in there)
    yield _family(lab_names.CAPACITY, [((device,), rate) for device, rate in rates if rate is not None])


def _of_pauses(files: Files, there: Sequence[devices.Device]) -> Iterator[Metric]:
    """PFC: per priority and direction, and what a port sent in all."""
    paused = {device.name: counters.pauses(files, device) for device in there}
    each = [
        ((device, priority, direction), pause)
        for device, all_of_it in paused.items()
        for (direction, priority), pause in sorted(all_of_it.items())
    ]
    yield _family(lab_names.PAUSE_FRAMES, [(labels, float(pause.frames)) for labels, pause in each])
    yield _family(lab_names.PAUSED, [(labels, pause.us / 1e6) for labels, pause in each])
    ours = {
        device: [one for (direction, _), one in all_of_it.items() if direction == "tx"]
        for device, all_of_it in paused.items()
        if all_of_it
    }
    yield _family(
        lab_names.PORT_PAUSES, [((device,), float(sum(one.frames for one in some))) for device, some in ours.items()]
    )
    yield _family(lab_names.PORT_PAUSED, [((device,), sum(x.us for x in some) / 1e6) for device, some in ours.items()])
