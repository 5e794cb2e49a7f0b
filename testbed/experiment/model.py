"""The experiment file: what can be said, the defaults, and what is refused.

The field descriptions of these models (`rack:` and `traffic:` have theirs in `testbed.experiment.topology.settings` and
`testbed.experiment.traffic`, `time:` in `testbed.experiment.time_span`) are the one place where keys and defaults are
documented; `scripts/reference` makes the JSON schema and docs/reference/experiment.md of them.
Everything is nominal (see `testbed.clock`) and SI once it is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator

from testbed.base.arrays import Ints
from testbed.experiment import apps, deadlock, events
from testbed.experiment.apps import App
from testbed.experiment.block import Count, Part, refuse
from testbed.experiment.bonds import Bonds
from testbed.experiment.choice import (
    ControllerChoice,
    PacketsOf,
    PluginChoice,
    ReceiverChoice,
    RoutingChoice,
    SharingController,
    check_controllers,
    check_packets,
    deciders,
    message_sizes,
    with_packets,
)
from testbed.experiment.events import EventSpec, Step
from testbed.experiment.time_span import DILATIONS, TimeSpan
from testbed.experiment.topology.any_rack import MOST_HOSTS, MOST_SWITCHES
from testbed.experiment.topology.buffers import check_buffers, usual_buffer
from testbed.experiment.topology.kinds import shape_of
from testbed.experiment.topology.settings import Rack, Star
from testbed.experiment.topology.shape import Shape
from testbed.experiment.topology.tables import Tables
from testbed.experiment.topology.trim import WITH_RETH
from testbed.experiment.traffic.any_traffic import Traffic
from testbed.experiment.traffic.pattern import Context
from testbed.experiment.traffic.plan import Plan
from testbed.experiment.transport import Transport
from testbed.units import AutoOrTime, Time, show_rate, show_size, show_time


class Most(NamedTuple):
    """What an engine has room for."""

    hosts: int
    switches: int
    flows: int


USUAL = Most(1023, 255, 65_536)  # a Linux bridge has 1,024 ports; other racks are limited by what one machine can build
VIRTUAL = Most(MOST_HOSTS, MOST_SWITCHES, 1 << 20)  # an all-to-all of 1,024 ranks fits
MOST_CELLS = 20_000_000  # samples x flows kept in memory
SLOWEST, FASTEST = 1e5, 1e10  # bit/s of wall time that software links can shape at all
DEFAULT_TUNER = "static"
MOST_HEADERS = 200  # bytes of a packet


class Pacing(Part):
    """How senders spread their packets."""

    burst: Count = Field(default=1, description="Packets of one flow that are sent back to back.")


class Record(Part):
    """What the time series hold."""

    interval: Annotated[Time, Field(gt=0)] = Field(default=10e-6, description="Time between two samples.")
    flows: Annotated[int, Field(strict=True, ge=0)] = Field(
        default=1024, description="Series for this many flows at most, the largest ones."
    )
    decisions: Annotated[int, Field(strict=True, ge=0, le=MOST_CELLS)] = Field(
        default=1_000_000, description="For `testbed replay`: about so many are kept, the first ones."
    )
    report: Annotated[bool, Field(strict=True)] = Field(
        default=True, description="Write `report.html` at the end; `testbed report FOLDER` does it later."
    )


class Fluid(Part):
    """The fluid model; other engines do not read it."""

    step: AutoOrTime = Field(
        default="auto", description="Step of the model, at most a quarter of the base RTT; `auto` is a sixteenth."
    )
    probes: Annotated[int, Field(strict=True, ge=1, le=64)] = Field(
        default=8, description="[How many](../explanation/engines.md#the-fluid-engine) a flow has on the way at once."
    )


class Experiment(Part):
    """One experiment: rack, traffic, controller, tuner, time."""

    name: str = Field(default="", description="By default the name of the file.")
    description: str = Field(default="", description="One line, shown by `testbed list`.")
    rack: Rack = Field(default=Star(), description="Hosts, links and switches; the keys depend on `kind`.")
    traffic: Traffic = Field(description="Who sends to whom; the keys depend on `pattern`.")
    packets: list[PacketsOf] = Field(default=[])
    controller: ControllerChoice
    controllers: list[SharingController] = Field(default=[])
    receiver: ReceiverChoice | None = None
    tuner: PluginChoice = Field(
        default=PluginChoice(name=DEFAULT_TUNER), description="Switch-side ECN tuner; a plain name will do."
    )
    routing: RoutingChoice = RoutingChoice()
    time: TimeSpan = Field(default_factory=TimeSpan)
    pacing: Pacing = Pacing()
    queue_pairs: Literal["per-message", "per-pair"] = Field(
        default="per-message",
        description="Whether a flow has a controller state of its own (`per-message`), or [goes "
        "on](traffic.md#queue-pairs) with one of its two hosts (`per-pair`).",
    )
    transport: Transport = Transport()
    record: Record = Record()
    events: list[EventSpec] = Field(default=[])
    apps: list[App] = Field(default=[])
    engine: Literal["kernel", "virtual", "live", "fluid"] = Field(
        default="kernel",
        description="What carries the traffic: `kernel`, `virtual`, `live` or `fluid` "
        "([engines](../explanation/engines.md)). `--engine` wins.",
    )
    fluid: Fluid = Fluid()
    seed: Annotated[int, Field(strict=True, ge=0)] = Field(default=1, description="Seed of everything that is random.")

    @model_validator(mode="before")
    @classmethod
    def _what_goes_without_saying(cls, data: Any) -> Any:
        """``tuner: {preset: secn1}`` means the default tuner; apps need no other traffic."""
        if isinstance(data, dict):
            data = apps.with_apps_alone(data)
        if isinstance(data, dict) and isinstance(data.get("tuner"), dict):
            return {**data, "tuner": {"name": DEFAULT_TUNER, **data["tuner"]}}
        return data

    @property
    def hosts(self) -> int:
        """Number of hosts: as asked, or as many as traffic and apps need."""
        return self.rack.size or self._hosts_needed

    @property
    def _hosts_needed(self) -> int:
        return max(self.traffic.hosts_needed(), apps.hosts_needed(self.apps))

    @cached_property
    def between_hosts(self) -> Plan:
        """The flows, as the traffic pattern and the seed make them."""
        return with_packets(self.packets, self.traffic.marked(self.traffic.plan(self.context)))

    @cached_property
    def bonds(self) -> Bonds | None:
        """Which NICs they take; None where each host has one."""
        return Bonds(self.shape, self.between_hosts, self.pair, self.seed) if self.shape.bonds else None

    @cached_property
    def plan(self) -> Plan:
        """The flows from NIC to NIC, which are hosts to everything below traffic."""
        return self.bonds.placed() if self.bonds else self.between_hosts

    @cached_property
    def decider(self) -> Ints:
        """Who decides about each flow, shape (n,): 0 is `controller`, i the i-th of `controllers`, from 1."""
        return deciders(self.controllers, self.between_hosts)

    @cached_property
    def message_packets(self) -> Ints:
        """Packets of each flow's messages, shape (n,); 0 where each packet is one."""
        sizes = message_sizes(self.packets, self.between_hosts, self.transport.messages or 0.0)
        return np.asarray(np.rint(sizes / self.traffic.payload), np.int64)

    @property
    def pair(self) -> Ints | None:
        """Number of each flow's two hosts, whose queue pairs go on from flow to flow; None where each has its own."""
        return self.between_hosts.pair if self.queue_pairs == "per-pair" else None

    @property
    def own_ports(self) -> bool:
        """Whether each flow has a source port of its own, by which switches choose among several paths."""
        several = len(self.shape.switches) > 1 or bool(self.shape.bonds)
        return several and self.queue_pairs == "per-message"

    @cached_property
    def shape(self) -> Shape:
        """Hosts, switches, links."""
        return shape_of(self.rack, self.hosts)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """As pydantic's; the copy makes its own shape and plan."""
        copy = super().model_copy(update=update, deep=deep)
        for derived in ("between_hosts", "bonds", "plan", "shape", "decider", "message_packets"):
            copy.__dict__.pop(derived, None)
        return copy

    @property
    def buffer(self) -> float:
        """Bytes of each switch port whose link says no others: as asked, or as usual with such links."""
        return self.rack.switch.buffer or usual_buffer(self.shape)

    @property
    def context(self) -> Context:
        """What the traffic is made for."""
        switches = self.shape.switches
        edges = tuple(switches.index(self.shape.edge(host)) for host in self.shape.hosts[: self.hosts])
        return Context(self.hosts, self.rack.link.rate, self.time.end, (self.seed,), edges, self.rack.inside())

    @model_validator(mode="after")
    def _hosts_are_named(self) -> Self:
        """Files of flows that number nodes mean those of the rack's file."""
        try:
            self.__dict__["traffic"] = self.traffic.named(self.rack.nodes_of)
        except ValueError as error:
            refuse("traffic", str(error))
        return self

    @model_validator(mode="after")
    def _parts_fit_together(self) -> Self:
        self._check_hosts()
        apps.check(self.apps, self.hosts, self.time.duration)
        check_buffers(self.shape, self.buffer, self.traffic.payload + MOST_HEADERS, self.rack.switch.pfc)
        self._check_size(self.traffic.flow_count(self.context))
        self._check_time()
        check_controllers(self.controllers, self.between_hosts)
        self._check_bonds()
        self._check_messages()
        self._check_trim()
        check_packets(self.packets, self.between_hosts)
        self.check_pauses(self.steps())
        return self

    def _check_bonds(self) -> None:
        """What is of one NIC, and could not go on at another."""
        if not self.shape.bonds:
            return
        if self.receiver:
            refuse("receiver", "grants to NICs, between which flows of a bond change; leave one of the two out")
        if self.apps:
            refuse("apps", "have one NIC, and no bond; leave one of the two out")
        if self.queue_pairs == "per-pair" and self.engine == "kernel":
            refuse("queue_pairs", "in the kernel each flow of a bond has a source port of its own; say 'per-message', "
                   "or use 'virtual'")  # fmt: skip

    def _check_messages(self) -> None:
        said = {"transport.messages": self.transport.messages}
        said |= {f"packets.{number}.messages": one.messages for number, one in enumerate(self.packets)}
        payload = self.traffic.payload
        for key, size in said.items():
            if size is not None and self.transport.messages is None:
                refuse(key, "is for flows that differ from others; say transport.messages for those")
            if size is not None and (size % payload or payload % 4):
                whole = show_size(max(1, round(size / payload)) * payload)
                words = "traffic.payload must be whole words of 4 B" if payload % 4 else f"say {whole}"
                refuse(key, f"must be whole packets of {show_size(payload)}; {words}")

    def _check_trim(self) -> None:
        trim, nic = self.rack.switch.trim, self.rack.nic
        if trim is None:
            return
        if self.transport.recovery != "selective-repeat":
            refuse("rack.switch.trim", "needs senders that send single packets again; say transport.recovery: "
                   "selective-repeat")  # fmt: skip
        if self.transport.operation == "write" and trim.size < WITH_RETH:
            refuse(
                "rack.switch.trim.size", f"the headers of an RDMA WRITE are {WITH_RETH} B, got {show_size(trim.size)}"
            )
        if trim.dscp in (nic.ack_dscp, nic.cnp_dscp) or (self.plan.tos >> 2 == trim.dscp).any():
            refuse("rack.switch.trim.dscp", f"other packets have the DSCP {trim.dscp}; say one that none has")

    def steps(self) -> list[Step]:
        """The events, in order of time, with their links chosen."""
        if not self.events:
            return []
        return events.plan(self.events, self.shape, self.seed, self.time.end)

    def check_pauses(self, steps: Sequence[Step]) -> None:
        """Refuses what could deadlock."""
        switch = self.rack.switch
        if not (switch.pfc or (switch.memory and switch.memory.lossless)) or switch.deadlock == "allow":
            return
        if how := deadlock.possible(Tables(self.shape), steps):
            refuse("rack.switch.pfc", f"{how}; take other links out, say 'off', or rack.switch.deadlock: allow")

    @property
    def simulates_packets(self) -> bool:
        """Whether the rack's own programs do, in this process."""
        return self.engine in {"virtual", "live"}

    @property
    def _most(self) -> Most:
        return VIRTUAL if self.simulates_packets else USUAL

    def _possible(self, needed: float, what: Literal["hosts", "switches", "flows"]) -> str:
        """How many are, and where there is room for as many as are needed."""
        most, elsewhere = getattr(self._most, what), getattr(VIRTUAL, what)
        room = f"; say --engine virtual, which has room for {elsewhere:,}" if most < needed <= elsewhere else ""
        return f"at most {most:,} are possible with engine '{self.engine}'{room}"

    def _check_hosts(self) -> None:
        needed, most = self.traffic.hosts_needed(), self._most.hosts
        size = self.rack.size or 0
        if size > most:
            key = "hosts" if isinstance(self.rack, Star) else "kind"
            refuse(f"rack.{key}", f"makes a rack of {size} hosts, {self._possible(size, 'hosts')}")
        if needed > most:
            where = f"traffic.{self.traffic.blamed.hosts}"
            refuse(where, f"needs {needed} hosts, {self._possible(needed, 'hosts')}")
        if (of_apps := apps.hosts_needed(self.apps)) > most:
            refuse("apps", f"need {of_apps} hosts, {self._possible(of_apps, 'hosts')}")
        if self.hosts and (switches := len(self.shape.switches)) > self._most.switches:
            refuse("rack.kind", f"makes a rack of {switches} switches, {self._possible(switches, 'switches')}")
        if not self.hosts:
            refuse("rack.hosts", f"say how many hosts there are: '{self.traffic.pattern}' does with any number")
        slow = self.rack.nic.receive.hosts if self.rack.nic.receive else []
        if unknown := next((one for one in slow if int(one[1:]) > self.hosts), None):
            refuse("rack.nic.receive.hosts", f"there is no {unknown}; the rack has h1 to h{self.hosts}")
        if self.rack.size is not None and needed > self.rack.size:
            if isinstance(self.rack, Star):
                refuse("rack.hosts", f"the traffic needs at least {needed}, got {self.rack.size}")
            refuse("rack.kind", f"{self.rack.kind} of {self.rack.size} hosts, but the traffic needs at least {needed}")

    def _check_size(self, flows: float) -> None:
        if flows > self._most.flows:
            where = f"traffic.{self.traffic.blamed.flows}"
            refuse(where, f"makes {flows:.0f} flows, {self._possible(flows, 'flows')}")
        cells = self.time.end / self.record.interval * max(1, min(flows, self.record.flows))
        if cells > MOST_CELLS:
            refuse(
                "record.interval",
                f"would keep {cells:.3g} samples, at most {MOST_CELLS:.0e}; raise it, or lower record.flows",
            )

    def _check_time(self) -> None:
        plan, end = self.plan, show_time(self.time.end)
        if len(plan) > self._most.flows:  # chance made more than expected
            self._check_size(len(plan))
        if not len(plan) and not self.apps:
            refuse("time.duration", f"no flow starts within {end}")
        late = np.flatnonzero((plan.start >= self.time.end) & ~plan.waits)
        if len(late):
            first = late[plan.start[late].argmin()]
            key = f"traffic.{self.traffic.blamed.start}"
            refuse(key, f"the flow {plan.src[first]} to {plan.dst[first]} would start only after time.duration ({end})")
        if self.engine != "kernel" or self.time.dilation == "auto":  # a number will be within these limits
            return
        low, high = self.dilation_limits
        if not low <= self.time.factor <= high:
            slowest, fastest = self._link_rates
            worst = fastest if self.time.factor < low else slowest
            wall_rate = worst / self.time.factor  # a check of limits; only testbed.clock converts
            refuse(
                "time.dilation",
                f"makes {show_rate(worst)} links {show_rate(wall_rate)} of wall time; it must be from {low:.0f} to "
                f"{high:.0f}",
            )

    @property
    def dilation_limits(self) -> tuple[float, float]:
        """Smallest and largest dilation with these links."""
        slowest, fastest = self._link_rates
        return max(DILATIONS[0], fastest / FASTEST), min(DILATIONS[1], slowest / SLOWEST)

    @property
    def _link_rates(self) -> tuple[float, float]:
        rates = [link.rate for link in self.shape.link_of.values()]  # of hosts, as `rack.link` says them
        return min(rates), max(rates)
