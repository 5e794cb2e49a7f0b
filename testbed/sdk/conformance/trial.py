"""A short run of a controller on the virtual engine: its record, its decisions, the controller itself.

The rack is a dumbbell of HPCC's simulations, 25 Gbit/s and 13 us: hosts h1 to hN send to one behind the other switch.
A program that was made for another network has a rack of that rate and RTT.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats
from testbed.controller import ABOVE_LINE
from testbed.engines.virtual.run import VirtualRun
from testbed.errors import BadInput, PluginFailed, TestbedError
from testbed.experiment.model import DEFAULT_TUNER, Experiment
from testbed.experiment.resolved import Resolved
from testbed.live.snapshots import Follower
from testbed.plugin import PluginConfig
from testbed.registry import Plugin, find
from testbed.results.record import FlowSeries, PortSeries, RunRecord
from testbed.results.trace import KINDS, START, TIMER, DecisionTrace
from testbed.sdk.conformance.disorder import Disorder
from testbed.units import show_rate, show_time

ENDLESS = 1000  # calls of on_timer that leave the timer in the past
TRUNK = "s1-s2"
LINKS, SENT = 6, 3500  # of a round trip; wire bytes that its links send one after the other


@dataclass(frozen=True)
class Fabric:
    """What the rack is like; the same in BDPs and RTTs, whatever its rate and its RTT."""

    line: float = 25e9  # bit/s, of every host and of the link between the switches
    rtt: float = 13e-6  # s; base RTT of a packet without INT, to 1 %

    @property
    def bdp(self) -> float:
        """Bytes."""
        return self.line * self.rtt / 8

    @property
    def timeout(self) -> float:
        """Of retransmissions, s."""
        return TIMEOUT * (self.rtt / RTT)

    @property
    def kmax(self) -> float:
        """Bytes from which on every packet is marked."""
        return KMAX * (self.bdp / USUAL.bdp)

    @property
    def delay(self) -> float:
        """Of each link, s. Raises BadInput if there is none."""
        delay = (self.rtt - SENT * 8 / self.line) / LINKS
        if delay <= 0:
            raise BadInput(
                f"a base RTT of {show_time(self.rtt)} at {show_rate(self.line)} is less than it takes to send a packet "
                "over three links and its acknowledgement back"
            )
        return delay


USUAL = Fabric()
LINE, RTT = USUAL.line, USUAL.rtt
BUFFER = 1e6  # bytes
# The thresholds fit that port: marks begin at a fifth of its BDP of 40.6 kB, and two of them are the most that ECN lets
# stand in the queue. SECN2, at 2.5 to 10 BDPs, would let windows of several BDPs pass as settled.
KMIN, KMAX, PMAX = 8e3, 80e3, 0.2
TIMEOUT = 400e-6  # s


class OutOfBounds(TestbedError):
    """A controller set something that no agent can enforce, or never stops."""


def _in_bounds(trial: Trial) -> None:
    """Looks at all that was decided. What is no rate, window or time at all, the agent has refused already."""
    decided = trial.decided
    line = trial.fabric.line
    if (above := decided["rate"] > line * ABOVE_LINE).any():
        first = int(above.argmax())
        raise OutOfBounds(
            f"the rate of flow {decided['flow'][first]} of {len(trial.flows)} is {decided['rate'][first]:g} after "
            f"{KINDS[decided['kind'][first]]} at {show_time(decided['time'][first])}; it must be above 0 and at most "
            f"the line rate, {show_rate(line)}"
        )
    late = decided["flow"][(decided["kind"] == TIMER) & (decided["timer"] <= decided["time"])]
    if len(late) > ENDLESS:
        raise OutOfBounds(f"on_timer leaves the timer of flow {late[0]} in the past: set the next time, or inf")


class Unwatched:
    """Nobody follows the run (`testbed.live.snapshots.Follower`)."""

    def send(self, obj: object) -> None:
        """Nobody listens."""

    def poll(self) -> bool:
        """Nobody has said anything."""
        return False

    def recv(self) -> str:
        """Nobody will."""
        raise EOFError


def experiment(
    flows: int, duration: float, *, gap: float = 0.0, loss: float = 0.0, red: tuple[float, float, float] | None = None,
    silence: tuple[float, float] | None = None, buffer: float = BUFFER, compiled: bool = True, seed: int = 1,
    fabric: Fabric = USUAL,
) -> Experiment:  # fmt: skip
    """``flows`` endless flows of as many hosts, one each ``gap``; ``loss`` on the link between the switches, each way,
    which is down from the first time of ``silence`` to the second.
    """
    kmin, kmax, pmax = red or (KMIN, KMAX, PMAX)
    scale = fabric.bdp / USUAL.bdp
    link = {"rate": f"{fabric.line!r} bit/s", "delay": _s(fabric.delay)}
    events = [{"at": _s(at), what: TRUNK} for at, what in zip(silence or (), ("down", "up"), strict=False)]
    return Experiment.model_validate({
        "name": "check",
        "rack": {
            "kind": "dumbbell", "left": flows, "right": 1, "link": link, "bottleneck": {**link, "loss": loss},
            "switch": {"buffer": f"{buffer * scale} B"},
        },
        "traffic": {"pattern": "incast", "senders": flows, "stagger": _s(gap)},
        "controller": {"name": "", "compiled": compiled},
        "tuner": {
            "name": DEFAULT_TUNER, "kmin": f"{kmin * scale} B", "kmax": f"{kmax * scale} B", "pmax": pmax,
            "reference_rate": f"{fabric.line!r} bit/s",
        },
        "time": {"duration": _s(duration)},
        "transport": {"timeout": _s(fabric.timeout)},
        "record": {"interval": _s(fabric.rtt)},
        "events": events,
        "seed": seed,
    })  # fmt: skip


def _s(seconds: float) -> str:
    return f"{seconds!r} s"


class Trial(VirtualRun):
    """One run of a controller; `ran` it once."""

    in_order = False  # of decisions: as they were made

    def __init__(
        self,
        plugin: Plugin,
        config: PluginConfig,
        experiment: Experiment,
        follower: Follower | None = None,
        *,
        disorder: bool = False,
        fabric: Fabric = USUAL,
    ) -> None:
        self.fabric = fabric
        tuner = find("tuner", experiment.tuner.name)
        tuner_config = tuner.configure(experiment.tuner.preset, experiment.tuner.options)
        super().__init__(Resolved(experiment, plugin, config, tuner, tuner_config), [], follower or Unwatched())
        self.rtt = float(self.layout.paths.base_rtt[0])
        if disorder:
            self.agent = Disorder(self.world, self.agent, self.rtt)

    def ran(self) -> Trial:
        """To its end. Raises OutOfBounds or PluginFailed."""
        self.record = self.follow()
        self.decided: Mapping[str, NDArray[Any]] = self.meters[0].trace.columns()
        _in_bounds(self)
        if self.record.interrupted:
            raise PluginFailed(self.record.interrupted)
        return self

    def trace(self) -> DecisionTrace:
        """All of it is looked at as it is: a file would need packages that `testbed check` does without."""
        return DecisionTrace(self.experiment.record.decisions, self.resolved.traced_hops)

    def keep_decisions(self, record: RunRecord) -> None:
        """None are."""

    @property
    def flow_series(self) -> FlowSeries:
        """One sample per RTT."""
        return self.record.flow_series

    @property
    def port_series(self) -> PortSeries:
        """The same of all ports."""
        return self.record.port_series

    def port(self, column: str) -> Floats:
        """The samples of the port to which all flows go, shape (t,)."""
        values: Floats = getattr(self.port_series, column)[:, self.record.bottleneck]
        return values

    def begun(self) -> Floats:
        """Rates and windows with which the flows last started, shape (2, n)."""
        columns = self.meters[0].trace.columns()
        last = {int(flow): row for row, flow in enumerate(columns["flow"]) if columns["kind"][row] == START}
        rows = [last[flow] for flow in range(len(self.flows))]
        return np.array([columns["rate"][rows], columns["window"][rows]])

    def restarted(self) -> Floats:
        """The same, after all have started once more. Raises PluginFailed."""
        self.agent.restart(self.clock.now())
        return self.begun()

    @property
    def digest(self) -> str:
        """Of all that the controller was told, and that it decided."""
        packed = self.meters[0].trace.packed()
        return hashlib.sha256(packed["headers"].tobytes() + packed["words"].tobytes()).hexdigest()[:12]

    def growth(self, values: Floats, start: float, end: float = np.inf) -> Floats:
        """How much a counter grew per second between the samples of two times."""
        time = self.port_series.time
        first, last = np.searchsorted(time, start), np.searchsorted(time, end, side="right") - 1
        grown: Floats = (values[last] - values[first]) / (time[last] - time[first])
        return grown

    def load(self, start: float) -> float:
        """Of the port, as a share of its rate."""
        return float(8 * self.growth(self.port("tx_bytes"), start) / self.fabric.line)

    def asked(self) -> Floats:
        """What all flows together want to send, bit/s, shape (t,): rates, or windows per RTT where they are less.

        The RTT is that of a queue as long as ECN lets it stand, for there it is meant to be. Of a longer queue it would
        hide that the windows do not react: the more of them are in the queue, the longer the RTT is.
        """
        standing = np.minimum(self.port("queue"), self.fabric.kmax) * 8 / self.fabric.line
        per_rtt = 8 * self.flow_series.window / (self.rtt + standing)[:, None]
        asked: Floats = np.minimum(self.flow_series.rate, per_rtt).sum(axis=1)
        return asked
