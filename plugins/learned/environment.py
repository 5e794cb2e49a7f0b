"""One switch in the fluid model, with DCQCN at the senders and traffic that changes: what learned tuners train in.

Every port gets Poisson arrivals of a size distribution, incasts now and then, and a few endless flows. All of that,
the links' rate and the RTT are drawn anew for each episode (PET, algorithm 1, samples its "dynamics parameters" so).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.compiled.flows import build
from testbed.engines.fluid.fluid import Fluid, Options
from testbed.engines.fluid.layout import FluidLayout
from testbed.engines.fluid.switch import ModelSwitch
from testbed.experiment.traffic.distribution import Distribution, load
from testbed.registry import find
from testbed.tuner import Ports, PortSample, Thresholds
from testbed.tuning.loop import observed

RATES = (25e9, 100e9)  # bit/s: PET's servers and fabric
RTTS = (8e-6, 16e-6)  # s, from and to
STEPS_PER_RTT = 4
BUFFER = 5e6
LARGEST = 100e6  # bytes of a message: DataMining's largest would fill an episode a hundred times
INCAST_SIZES = (20e3, 500e3)  # bytes per sender


@dataclass(frozen=True)
class Range:
    """What episodes draw from, evenly."""

    load: tuple[float, float] = (0.1, 0.9)
    elephants: tuple[int, int] = (0, 2)  # endless flows per port, both included
    senders: tuple[int, int] = (4, 24)  # of an incast, the second excluded
    incast_gap: tuple[float, float] = (100, 100)  # slots between two incasts of a port, on average


@dataclass
class Finished:
    """Messages that ended, but those of incasts: payload and wire bytes are the same here."""

    size: list[Floats] = field(default_factory=list)
    slowdown: list[Floats] = field(default_factory=list)  # time / time alone on an empty path


class Environment:
    """``ports`` ports with up to ``flows`` flows each at once; arrivals that find none free are lost to the model."""

    def __init__(
        self,
        workload: str,
        seed: int,
        *,
        ports: int = 32,
        flows: int = 32,
        slot_rtts: float = 10,
        ranges: Range = Range(),
        rates: tuple[float, ...] = RATES,
        copies: int = 1,
    ) -> None:
        """``copies``: of every traffic; ports p, p + ports / copies, ... get the same, what differs is the tuner's."""
        self.rng = np.random.default_rng(seed)
        self.sizes: Distribution = load(workload).up_to(LARGEST)
        self.n, self.flows, self.slot_rtts, self.ranges, self.rates = ports, flows, slot_rtts, ranges, rates
        self.traffics = ports // copies
        self.controller = find("controller", "dcqcn")
        self.config = self.controller.configure("paper", {"window": "bdp"})
        self.finished = Finished()

    def reset(self, thresholds: Thresholds | None = None) -> Ports:
        """A new episode, in which the queues' RED has these thresholds."""
        rng, n, ranges = self.rng, self.n, self.ranges
        rate, rtt = float(rng.choice(self.rates)), float(rng.uniform(*RTTS))
        layout = _layout(n, self.flows, rate, rtt)
        options = Options(
            step=rtt / STEPS_PER_RTT,
            cnp_interval=self.controller.form.cnp_interval(self.config),
            seed=int(rng.integers(2**31)),
        )
        form = self.controller.form
        self.fluid = Fluid(layout, build(form, self.config, layout.paths), options, form.signals)
        self.switch = ModelSwitch(self.fluid, n, np.arange(n), monitor=True)
        self.ports = Ports(
            tuple(f"s1-eth{port}" for port in range(1, n + 1)), np.full(n, rate), np.full(n, BUFFER), rtt
        )
        self.slot = self.slot_rtts * rtt
        self.load = rng.uniform(*ranges.load, self.traffics)
        self.next_arrival = rng.exponential(self._gap())
        least, most = ranges.incast_gap
        gaps = rng.uniform(least, most, self.traffics) if least < most else np.full(self.traffics, least)
        self.incast_gap = gaps * self.slot
        self.next_incast = rng.exponential(self.incast_gap)
        self.began = np.full(n * self.flows, np.nan)
        self.free = np.ones(n * self.flows, bool)
        self.of_incast = np.zeros(n * self.flows, bool)
        for traffic in range(self.traffics):
            self._begin(traffic, np.full(rng.integers(ranges.elephants[0], ranges.elephants[1] + 1), np.inf), 0.0)
        if thresholds is not None:
            self.set(thresholds)
        self._before = self.switch.sample(0)
        return self.ports

    def set(self, thresholds: Thresholds) -> None:
        """Set thresholds."""
        self.switch.set_thresholds(thresholds.kmin, thresholds.kmax, thresholds.pmax)

    def advance(self) -> PortSample:
        """Go on for a slot: what the ports did in it."""
        fluid, began = self.fluid, self.fluid.now
        self._arrive(began + self.slot)
        while fluid.now < began + self.slot - fluid.options.step / 2:
            fluid.step()
        self._collect()
        after = self.switch.sample(0)
        sample = observed(self._before, after, fluid.now - began)
        self._before = after
        return sample

    def _gap(self) -> Floats:
        """Mean seconds between two arrivals of each traffic."""
        return np.asarray(self.sizes.mean * 8 / (self.fluid.layout.line_rate * self.load))

    def _arrive(self, until: float) -> None:
        rng, gap = self.rng, self._gap()
        for one in np.flatnonzero(self.next_arrival < until):
            starts = []
            while self.next_arrival[one] < until:
                starts.append(self.next_arrival[one])
                self.next_arrival[one] += rng.exponential(gap[one])
            self._begin(int(one), self.sizes.sizes(rng.uniform(size=len(starts))), np.array(starts))
        for one in np.flatnonzero(self.next_incast < until):
            at, self.next_incast[one] = self.next_incast[one], until + rng.exponential(self.incast_gap[one])
            senders = int(rng.integers(*self.ranges.senders))
            size = np.full(senders, rng.uniform(*INCAST_SIZES))
            self._begin(int(one), size, at + rng.uniform(0, 2e-6, senders), incast=True)

    def _begin(self, traffic: int, size: Floats, starts: Floats | float, *, incast: bool = False) -> None:
        """Messages to all ports that get this traffic."""
        for port in range(traffic, self.n, self.traffics):
            self._send(port, size, starts, incast=incast)

    def _send(self, port: int, size: Floats, starts: Floats | float, *, incast: bool) -> None:
        """Messages to a port; those for which no flow is free are lost to the model."""
        mine = np.arange(port * self.flows, (port + 1) * self.flows)
        flows = mine[self.free[mine]][: len(size)]
        if not len(flows):
            return
        starts = np.broadcast_to(starts, size.shape)[: len(flows)]
        self.free[flows] = False
        self.of_incast[flows] = incast
        self.began[flows] = starts
        self.fluid.begin(flows, starts, np.maximum(size[: len(flows)], self.fluid.layout.wire_size))

    def _collect(self) -> None:
        """Messages that have ended: their flows are free again."""
        fluid = self.fluid
        done = np.flatnonzero(~self.free & np.isfinite(fluid.finished))
        self.free[done] = True
        done = done[~self.of_incast[done]]
        size = fluid.layout.size[done]
        alone = fluid.layout.base_rtt[done] + size * 8 / fluid.layout.line_rate
        self.finished.size.append(size.copy())
        self.finished.slowdown.append(np.maximum((fluid.finished[done] - self.began[done]) / alone, 1.0))


def _layout(ports: int, flows: int, rate: float, rtt: float) -> FluidLayout:
    n = ports * flows
    queue: Ints = np.repeat(np.arange(ports), flows)
    start = np.full(n, np.inf)
    return FluidLayout(np.arange(n), queue, start, np.full(n, np.inf), np.full(n, rtt), rate, BUFFER)
