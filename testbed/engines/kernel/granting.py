"""Which agent grants for which receiving hosts, and in which rings it hears of what arrives there, and of credits.

Without netem nothing takes time on its way: what arrives is told after the one-way delay of its path, and a credit
after the rest of the base RTT.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from testbed.agent.credits import Granted, ReceivingHosts
from testbed.agent.sockets import Route
from testbed.base.arrays import Floats, Ints
from testbed.engines.kernel.assembly import Assembly

PRECISION = 15  # decimals of a second: paths of the same links must have the same delay


@dataclass(frozen=True)
class Granting:
    """Of a rack with credits; empty of others."""

    rack: Assembly
    parts: list[tuple[int, int]]  # flows that each agent sends

    @property
    def _there(self) -> bool:
        return self.rack.resolved.receiver is not None

    def flows(self, agent: int) -> Ints:
        """Those that come to the hosts for which an agent grants: those whose flows it sends, and a share of others."""
        if not self._there:
            return np.zeros(0, np.int64)
        plan = self.rack.layout.plan
        sends = {src: number for number, (first, end) in enumerate(self.parts) for src in plan.src[first:end]}
        hosts = sorted(set(plan.dst))
        grants = {host: sends.get(host, place % len(self.parts)) for place, host in enumerate(hosts)}
        return np.flatnonzero([grants[dst] == agent for dst in plan.dst])

    def _one_way(self) -> Floats:
        """Of all flows."""
        return np.round(self.rack.layout.paths.one_way, PRECISION)

    def _back(self) -> Floats:
        return np.round(self.rack.layout.paths.base_rtt - self.rack.layout.paths.one_way, PRECISION)

    def delays(self, agent: int) -> list[float]:
        """Of an agent's rings: of credits for what it sends, and of what arrives. With netem it has one for all."""
        if not self._there or self.rack.use_netem:
            return []
        first, end = self.parts[agent]
        return [*np.unique(self._back()[first:end]).tolist(), *np.unique(self._one_way()[self.flows(agent)]).tolist()]

    def connect(self, agent: int, ring: int, netem_ring: int) -> None:
        """Tell the NICs: an agent's rings of these delays begin with number ``ring``."""
        if not self._there:
            return
        (first, end), flows, nic = self.parts[agent], self.flows(agent), self.rack.nic
        if self.rack.use_netem:
            nic.flows_tx["notice_ring"][first:end] = nic.flows_rx["ring"][flows] = netem_ring
            return
        back, one_way = self._back()[first:end], self._one_way()[flows]
        delays = np.unique(back)
        nic.flows_tx["notice_ring"][first:end] = ring + np.searchsorted(delays, back)
        nic.flows_rx["ring"][flows] = ring + len(delays) + np.searchsorted(np.unique(one_way), one_way)

    def granted(self, agent: int) -> Granted | None:
        """What an agent grants."""
        if not self._there:
            return None
        rack, flows = self.rack, self.flows(agent)
        layout, net, tos = rack.layout, rack.net, rack.experiment.rack.nic.ack_dscp << 2
        plan = layout.plan
        routes = [
            Route(flow, net[plan.dst[flow]].netns, net[plan.dst[flow]].IP(), net[plan.src[flow]].IP(), np.inf, tos)
            for flow in flows.tolist()
        ]
        hosts = ReceivingHosts.of(layout, flows, {name: net[name].defaultIntf().index for name in set(plan.dst)})
        return Granted(hosts, flows, routes, layout.controller_paths())
