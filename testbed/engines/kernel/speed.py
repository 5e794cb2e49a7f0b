"""How fast this machine is, and the smallest dilation at which an experiment should be clean here.

`measure` runs a small incast for a second, with the experiment's own controller, tuner, payload and link rate, in a
sandbox like any run: the same agents, sockets, NIC and port programs, acknowledgements included. Its load is adjusted
until the busiest core is about half busy, since costs per packet differ at rest and under overload (batches).

`Needs` are three lower bounds for the dilation ``d``, and the largest, rounded up to two digits, is suggested:

packets  The experiment's links make ``streams * rate / (8 * wire_size) / d`` packets per wall second, where a stream is
         a sender or a receiver, whichever are fewer (random traffic: as many as its load fills). They may take `SHARE`
         of the busiest core. The verdict's limit is nine tenths in any half second; the rest is for what a second
         cannot show: bursts, more hosts than were measured, another program's seconds. On a virtual machine with two
         cores 92,000 packets/s were measured with HPCC. Real runs of incast-64 there, with another program on one of
         the cores: at 350 (0.36 of a core by this formula) two of two degraded, packets up to 2.9 RTTs late in the
         window; at 400 (0.31) the p99 of lags of six was at most 0.09 RTTs, and no packet more than 1.8 RTTs late.
         With a share of 0.28 eighteen of twenty were clean, ten with HPCC and ten with DCQCN.
lag      A packet or a feedback waits up to the shortest sleep of an agent, plus as much as that sleep ends late (p99).
         Both are wall time, so ``(SHORTEST_SLEEP + late_p99) / d`` may be half of the verdict's `LAG_LIMIT` base RTTs:
         the other half is for the work that is done before the packet.
stall    Now and then a sleep ends a tick of the kernel's clock late and more, whatever the load: a process that is in a
         system call keeps its core (PREEMPT_NONE). On an idle machine with ticks of 4 ms the latest packets of ten runs
         with HPCC were 2.0 to 5.9 ms late, those of another ten up to 5.9, 8.3 and 9.7 ms, in the windows of three; a
         second does not show that. So the verdict's `STALL_LIMIT` is to be as long as `TICKS`.

The result must stay within what the links can be shaped to (`Experiment.dilation_limits`).
"""

from __future__ import annotations

import math
import os
from dataclasses import asdict, dataclass, replace
from typing import Any

from testbed.agent.build import compile_all
from testbed.base import linux
from testbed.clock import SHORTEST_SLEEP
from testbed.engines.kernel import doctor, features
from testbed.engines.kernel.choices import use_netem
from testbed.engines.kernel.doctor import Probe
from testbed.engines.kernel.follow import follow
from testbed.errors import TestbedError
from testbed.experiment.load import load, resolve
from testbed.experiment.model import Experiment
from testbed.experiment.resolved import Resolved
from testbed.experiment.time_span import TimeSpan
from testbed.experiment.topology.settings import Star
from testbed.experiment.traffic.incast import Incast
from testbed.fidelity.verdict import LAG_LIMIT, STALL_LIMIT
from testbed.live.observers import Observer

SHARE = 0.23  # of the busiest core's time that an experiment's packets may take
LAG_SHARE = 0.5  # of the verdict's limit for lags that sleeping may take
TICKS = 2.5  # that a sleep may end late

SENDERS = 8  # of the rack that is measured
SECONDS = 1.2  # wall, per measurement: two windows of `Processors`
SAMPLES = 500  # of the series, as many as the recorder takes in a second of a usual run
FIRST_TRY = 20_000  # packets per second, about half of what a core of a small virtual machine does
BUSY = (0.3, 0.8)  # shares of a core between which one measurement is enough
AIM = 0.5  # the share that another one is made at
PER_HOP = 0.5  # of the cost of a packet through one switch
BDP = 100_000 * 8  # bits: the link delay that is measured with, so that many round trips fit into a second


@dataclass(frozen=True)
class Speed:
    """What was measured. Wall seconds."""

    packets_per_second: float  # that would take all of the busiest core's time, by the next two
    measured_packets_per_second: float  # sent
    busy: float  # share of its time that the busiest core was
    late_p50: float  # s, how late sleeps ended under that load
    late_p99: float
    tick: float  # s, of the kernel's clock

    def __str__(self) -> str:
        return (
            f"{self.packets_per_second:,.0f} packets/s per busiest core, sleeps end {self.late_p50 * 1e6:.0f} us late "
            f"(median), {self.late_p99 * 1e6:.0f} us (p99)"
        )


@dataclass(frozen=True)
class Needs:
    """What an experiment requires of a machine: nominal units."""

    packets_per_second: float
    base_rtt: float  # s
    limits: tuple[float, float]  # of the dilation

    @classmethod
    def of(cls, resolved: Resolved) -> Needs:
        """From its links and traffic, as if no controller reduced the rate.

        What was measured is one switch; each further one on the way makes packets more expensive.
        """
        experiment = resolved.experiment
        framing, paths = resolved.layout.framing, resolved.layout.paths
        streams = experiment.traffic.links_filled(experiment.context)
        hops = float(paths.hops.mean())
        return cls(
            packets_per_second=streams
            * experiment.rack.link.rate
            / (8 * framing.wire_size)
            * (1 + PER_HOP * (hops - 1)),
            base_rtt=float(paths.base_rtt.min()),
            limits=experiment.dilation_limits,
        )

    def dilation(self, speed: Speed) -> float:
        """The smallest at which the experiment should be clean, rounded up. Raises TestbedError if there is none."""
        by_packets = self.packets_per_second / (SHARE * speed.packets_per_second)
        by_lag = (SHORTEST_SLEEP + speed.late_p99) / (LAG_SHARE * LAG_LIMIT * self.base_rtt)
        by_stall = TICKS * speed.tick / (STALL_LIMIT * self.base_rtt)
        low, high = self.limits
        wanted = two_digits(max(by_packets, by_lag, by_stall, low))
        if wanted > high:
            raise TestbedError(
                f"time.dilation: auto would be {wanted:g} on this machine ({speed}), but these links can be shaped up "
                f"to {high:g} only; give a number, or slower links"
            )
        return wanted


def two_digits(value: float) -> float:
    """Rounded up to two significant digits."""
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / step - 1e-9) * step:.12g}")


@dataclass(frozen=True)
class Settled:
    """An experiment whose dilation is a number, and the measurement behind it; None if the file gives the number."""

    resolved: Resolved
    speed: Speed | None = None

    def as_dict(self) -> dict[str, Any] | None:
        """For the manifest."""
        if self.speed is None:
            return None
        return {"dilation": self.resolved.experiment.time.factor, **asdict(self.speed)}


@dataclass(frozen=True)
class Suggestion:
    """For `testbed doctor`: the smallest dilation of a shipped experiment, or why it is not known."""

    experiment: str
    settled: Settled | None = None
    why_not: str = ""

    def __str__(self) -> str:
        if self.settled is None:
            return self.why_not
        dilation = self.settled.resolved.experiment.time.factor
        return f"{self.experiment} should be clean from dilation {dilation:g} on; {self.settled.speed}"

    @property
    def probe(self) -> Probe:
        """Among those of `testbed doctor`."""
        if self.settled:
            return Probe("speed", "ok", str(self))
        return Probe("speed", "unknown", str(self), "run it with sudo" if self.why_not == features.NEEDS_ROOT else "")

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        measured = self.settled.as_dict() if self.settled else None
        return {"experiment": self.experiment, "measured": measured, "why_not": self.why_not}


def suggest(experiment: str = "incast-64") -> Suggestion:
    """Measure this machine for a shipped experiment; never raises TestbedError."""
    if os.geteuid() != 0:
        return Suggestion(experiment, why_not=features.NEEDS_ROOT)
    try:
        doctor.require()
        settled = settle(resolve(load(experiment).apply(["time.dilation=auto"])), Observer())
    except TestbedError as error:
        return Suggestion(experiment, why_not=str(error).splitlines()[0])
    return Suggestion(experiment, settled)


def settle(resolved: Resolved, observer: Observer) -> Settled:
    """Measure this machine if the experiment's dilation is ``auto``, and report it. Raises TestbedError."""
    if resolved.experiment.time.dilation != "auto":
        return Settled(resolved)
    observer.on_stage("measuring this machine for dilation: auto")
    speed = measure(resolved)
    dilation = Needs.of(resolved).dilation(speed)
    observer.on_stage(f"dilation {dilation:g} should be clean: {speed}")
    time = resolved.experiment.time.model_copy(update={"dilation": dilation})
    return Settled(replace(resolved, experiment=resolved.experiment.model_copy(update={"time": time})), speed)


def measure(resolved: Resolved) -> Speed:
    """Measure with the experiment's controller; takes 2 to 4 s. Raises TestbedError. Needs root."""
    compile_all()
    low, high = resolved.experiment.dilation_limits
    full = resolved.experiment.rack.link.rate / (8 * resolved.layout.framing.wire_size)
    dilation = min(max(full / FIRST_TRY, low), high)
    speed = _measure(resolved, dilation)
    if not BUSY[0] <= speed.busy <= BUSY[1]:
        adjusted = min(max(dilation * speed.busy / AIM, low), high)
        if adjusted != dilation:
            speed = _measure(resolved, adjusted)
    return speed


def _measure(resolved: Resolved, dilation: float) -> Speed:
    small = replace(resolved, experiment=_small(resolved.experiment, dilation))
    record = follow(small, use_netem(small), Observer())
    packets = int(record.flows.sent_packets.sum())  # those that are dropped cost nearly as much
    if record.interrupted or not packets or record.late.timer_lag is None:
        raise TestbedError(f"this machine could not be measured: {record.interrupted or 'no packet arrived'}")
    per_second = packets / record.wall_seconds
    busy = max(1.0 - record.late.cpu_idle_mean, 0.01)  # of the time that these packets took: controllers slow down
    late = record.late.timer_lag.histogram
    late_p50, late_p99 = late.quantile(0.5) * dilation, late.quantile(0.99) * dilation
    return Speed(per_second / busy, per_second, busy, late_p50, late_p99, linux.tick())


def _small(experiment: Experiment, dilation: float) -> Experiment:
    """The rack that is measured: a few senders, at once and without end."""
    rack, duration = experiment.rack, SECONDS / dilation
    link = rack.link.model_copy(update={"delay": BDP / rack.link.rate / 4, "loss": 0.0})
    star = Star(delay_by=rack.delay_by, calibrate="off").model_copy(update={"link": link, "switch": rack.switch})
    incast = Incast(pattern="incast", senders=SENDERS).with_payload(experiment.traffic.payload)
    return experiment.model_copy(
        update={
            "rack": star,
            "traffic": incast,
            "time": TimeSpan().model_copy(update={"duration": duration, "warmup": 0.0, "dilation": dilation}),
            "record": experiment.record.model_copy(update={"interval": duration / SAMPLES}),
        }
    )
