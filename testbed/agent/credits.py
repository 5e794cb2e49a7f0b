"""Flows whose receivers grant what they send (credits.h): what is granted and asked for, and who decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from testbed.agent.memory import Memory
from testbed.agent.sockets import Route
from testbed.agent.structs import CCredits
from testbed.base.arrays import Floats, Ints
from testbed.compiled.layout import ARRIVED
from testbed.compiled.receivers import Receivers
from testbed.controller import Paths
from testbed.registry import Blaming, Plugin

if TYPE_CHECKING:  # hosts of a lab have no experiment
    from testbed.experiment.layout import Layout

SPENDER = np.dtype([*((name, "<i8") for name in ("unasked", "granted", "starved")), ("patience", "<f8")])
ACCOUNT = np.dtype(
    [
        (name, "<i8")
        for name in ("host", "unasked", "granted", "asked", "left", "started", "queued", "after", "again", "trims")
    ]
)
LONGEST = 64  # timeouts, until a flow asks again for credits
GRANTER = np.dtype(
    [
        ("told", ARRIVED),
        ("interface", "<i8"),
        ("next", "<f8"),
        ("heard", "<f8"),
        *((name, "<i8") for name in ("outstanding", "first", "last")),
    ]
)


@dataclass(frozen=True)
class ReceivingHosts:
    """Those that an agent grants for."""

    of_flow: Ints  # of each flow of the rack: its receiver, among these; -1 if it is another agent's
    line_rate: Floats  # bit/s
    interface: Ints  # of each, in `arrivals`
    base_rtt: float  # s, the longest of the network
    wire_size: int  # bytes of a full packet

    @classmethod
    def of(cls, layout: Layout, flows: Ints, interface: Mapping[str, int]) -> Self:
        """The receivers of these flows; ``interface`` has a number for each host."""
        plan, rates = layout.plan, layout.shape.link_of
        names, number = np.unique([plan.dst[flow] for flow in flows], return_inverse=True)
        of_flow = np.full(len(plan), -1)
        of_flow[flows] = number
        line_rate = np.array([rates[name].rate for name in names.tolist()])
        interfaces = np.array([interface[name] for name in names.tolist()], np.int64)
        return cls(of_flow, line_rate, interfaces, float(layout.paths.base_rtt.max()), layout.framing.wire_size)


@dataclass(frozen=True)
class Granted:
    """What an agent grants: to these flows of the rack, by way of these sockets, each for itself."""

    hosts: ReceivingHosts
    flows: Ints
    routes: list[Route]  # back to the senders
    paths: Paths  # of all flows of the rack


class CreditState:
    """Of an agent's flows, and of those that come to its hosts. ``receivers`` decide, for all flows of the rack."""

    def __init__(
        self, receivers: Receivers, plugin: Plugin, hosts: ReceivingHosts, fds: Ints | None = None, owner: object = None
    ) -> None:
        """``fds``: of the sockets by which each flow's credits leave, which ``owner`` closes; none in virtual time."""
        self.receivers, self._plugin, self._fds, self._owner = receivers, plugin, fds, owner
        self._accounts = np.zeros(len(hosts.of_flow), ACCOUNT)
        self._accounts["host"], self._accounts["unasked"] = hosts.of_flow, receivers.unasked
        self._granters = np.zeros(len(hosts.line_rate), GRANTER)
        self._granters["first"] = -1
        self._granters["next"], self._granters["interface"] = -np.inf, hosts.interface
        told = self._granters["told"]["host"]
        told["rate"] = told["line_rate"] = hosts.line_rate
        told["window"], told["base_rtt"], told["wire_size"] = np.inf, hosts.base_rtt, hosts.wire_size
        told["bdp"] = hosts.line_rate * hosts.base_rtt / 8

    @property
    def moments(self) -> int:
        """Ids that it has in the agenda."""
        return len(self._granters) + len(self._accounts)

    def describe(self, c: CCredits, memory: Memory, flows: slice, first_id: int) -> None:
        """For C; ``flows`` are the agent's own in the rack."""
        self.spenders = np.zeros(flows.stop - flows.start, SPENDER)
        self.spenders["unasked"] = self.receivers.unasked[flows]
        c.spenders, c.accounts = memory.keep(self.spenders), memory.keep(self._accounts)
        c.granters, c.decider = memory.keep(self._granters), self.receivers.address
        c.fd = None if self._fds is None else memory.keep(self._fds)
        c.flows, c.hosts, c.first_id = len(self._accounts), len(self._granters), first_id

    def be_patient(self, flows: Ints, timeout: float) -> None:
        """Nothing was granted to these, and they ask: who has many others before him shall not ask all the time."""
        patience = self.spenders["patience"]
        patience[flows] = np.minimum(2 * patience[flows] + timeout, LONGEST * timeout)

    def fail(self) -> None:
        """The controller has failed. Raises PluginFailed."""
        with Blaming(self._plugin):
            self.receivers.fail()
