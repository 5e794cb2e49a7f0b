"""What follows from the rack and the traffic of an experiment, derived once. All nominal.

Columns of flows have shape (n,), in the order of the plan; columns of ports have shape (p,), in the order of
`Shape.ports`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.controller import Paths
from testbed.experiment.bottleneck import busiest_port
from testbed.experiment.model import Experiment
from testbed.experiment.topology.framing import Framing
from testbed.experiment.topology.paths import FlowPaths, alike
from testbed.experiment.topology.routes import Routes
from testbed.experiment.topology.shape import Shape
from testbed.experiment.traffic.plan import Plan
from testbed.tuner import Ports, by_switch


@dataclass(frozen=True)
class Layout:
    """``int_hops`` INT records have room in every packet; 0 for no INT."""

    experiment: Experiment
    int_hops: int = 0

    def with_int(self, hops: int) -> Layout:
        """The same with room for INT records of so many hops."""
        return replace(self, int_hops=hops)

    @property
    def shape(self) -> Shape:
        """Hosts, switches, links."""
        return self.experiment.shape

    @property
    def plan(self) -> Plan:
        """The flows."""
        return self.experiment.plan

    @cached_property
    def routes(self) -> Routes:
        """While all links work."""
        return Routes(self.shape)

    @cached_property
    def senders(self) -> Ints:
        """Numbers of the hosts from which flows go, ascending; with the other NICs of their bonds."""
        return self.senders_of(slice(None))

    def senders_of(self, flows: slice) -> Ints:
        """The same of some flows."""
        shape = self.shape
        hosts = np.unique(self.plan.src_number[flows])
        mates = [int(nic[1:]) for host in hosts.tolist() for nic in shape.bonds.get(shape.home[f"h{host}"], ())]
        return np.union1d(hosts, np.array(mates, np.int64))

    @cached_property
    def home_number(self) -> Ints:
        """Number of each flow's sending host, as traffic knows it: that of the first NIC of its bond."""
        return self.experiment.between_hosts.src_number

    @property
    def framing(self) -> Framing:
        """How large packets are."""
        experiment = self.experiment
        return Framing(round(experiment.traffic.payload), self.int_hops, experiment.transport.operation == "write")

    @cached_property
    def paths(self) -> FlowPaths:
        """Of all flows."""
        return FlowPaths.of(self.routes, self.plan.src, self.plan.dst, self.framing)

    @cached_property
    def start(self) -> Floats:
        """When flows start, s: as planned, and endless ones up to a base RTT later, at random.

        Those that start at one instant stay in step for good where nothing is late, as in virtual time; nowhere else
        does anything start to the nanosecond.
        """
        late = np.random.default_rng(self.experiment.seed).uniform(0.0, self.paths.base_rtt)
        return np.asarray(self.plan.start + np.where(np.isinf(self.plan.size), late, 0.0))

    @cached_property
    def most_hops(self) -> int:
        """Switches on the longest of the flows' paths: INT needs room for as many records."""
        pairs, _ = alike(self.shape, self.plan.src, self.plan.dst)
        return max(self.routes.hops(*pair) for pair in pairs)

    @property
    def longest_rtt(self) -> float:
        """The longest base RTT of the flows; without any, of the rack's links."""
        return float(self.paths.base_rtt.max()) if len(self.plan) else 2 * self.routes.longest_delay

    @cached_property
    def bottleneck(self) -> int:
        """Position of the port that the summary shows: the one with the highest expected load.

        Without flows that is not known: then the one towards the host of the first app, which others talk to.
        """
        if not len(self.plan):
            return self.shape.towards[self.experiment.apps[0].hosts[0]]
        return busiest_port(self.routes, self.plan, self.experiment.time.end)

    @cached_property
    def port_names(self) -> list[str]:
        """Names of the switch ports, in the order of all port columns."""
        return [port.name for port in self.shape.ports]

    @cached_property
    def port_rate(self) -> Floats:
        """Bit/s of their links."""
        return np.array([port.link.rate for port in self.shape.ports])

    @cached_property
    def port_buffer(self) -> Floats:
        """Bytes."""
        return np.array([port.link.buffer for port in self.shape.ports])

    @cached_property
    def port_neighbour(self) -> list[str]:
        """The nodes that they lead to."""
        return [port.neighbour for port in self.shape.ports]

    @cached_property
    def queue_names(self) -> list[str]:
        """Of all queues of all switch ports, port by port: `s1-eth3 q5`; with one queue each the ports' names."""
        classes = self.experiment.rack.switch.tables
        if not classes:
            return self.port_names
        return [f"{port} q{queue}" for port in self.port_names for queue in classes.queues]

    @property
    def flowlet_gap(self) -> float:
        """How long a flow must have paused to take another path, with `routing: flowlet`. Nominal s."""
        return self.experiment.routing.gap or self.longest_rtt

    def retransmission_timeout(self, longest_queue: float) -> float:
        """As configured, or three times the longest RTT with ``longest_queue`` bytes at every port. Nominal s."""
        configured = self.experiment.transport.timeout
        if not isinstance(configured, str):
            return configured
        return 3 * float((self.paths.base_rtt + self.paths.full_buffers(longest_queue)).max(initial=0.0))

    def controller_paths(self, flows: slice = slice(None)) -> Paths:
        """What a controller knows of these flows."""
        paths, framing = self.paths, self.framing
        columns = paths.line_rate[flows], paths.base_rtt[flows], paths.hops[flows]
        return Paths(*columns, framing.payload, framing.wire_size, self.longest_rtt)

    def tuner_ports(self) -> list[Ports]:
        """The queues of every switch whose thresholds its tuner sets."""
        classes = self.experiment.rack.switch.tables
        tuned = [one.red == "tuner" for one in classes.queues.values()] if classes else [True]
        port = np.repeat(np.arange(len(self.shape.ports)), len(tuned))
        rows = np.flatnonzero(np.tile(tuned, len(self.shape.ports)))
        base_rtt = 2 * self.routes.longest_delay  # the unit of tuners' slots: serialisation does not matter
        rate, buffer = self.port_rate[port[rows]], self.port_buffer[port[rows]]
        return by_switch([self.queue_names[row] for row in rows], rate, buffer, base_rtt, port[rows])
