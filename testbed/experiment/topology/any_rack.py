"""What the `rack:` blocks of an experiment file have in common, whatever their ``kind``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from testbed.base.inputs import Input
from testbed.experiment.block import Part, refuse
from testbed.experiment.topology.classes import Classes, ClassName, TrafficClass, tables
from testbed.experiment.topology.dscp import USUAL_ACK, USUAL_CNP, Dscp
from testbed.experiment.topology.groups import GroupNumber, GroupSettings, Pool, Watchdog
from testbed.experiment.topology.links import Buffer, DifferingLinks, LinkSettings
from testbed.experiment.topology.pfc import OnOrOff, on_or_off
from testbed.experiment.topology.pool import Memory, memory_of
from testbed.experiment.topology.queues import QueueNumber, QueueSettings
from testbed.experiment.topology.receive import Receive
from testbed.experiment.topology.servers import Servers
from testbed.experiment.topology.shape import Shape
from testbed.experiment.topology.trim import OnOrTrim

MOST_HOSTS = 65_535  # two bytes of an address
MOST_SWITCHES = 4095
MOST_TRUNKS = 1 << 18
PARTS = ("switches", "links between switches")


class Switch(Part):
    """The switches."""

    buffer: Buffer | None = Field(
        default=None,
        description="Queue space of each port, with classes of each of its queues; what exceeds it is lost. By "
        "default 5 MB; above 100 Gbit/s what the fastest link sends in 400 us "
        "([why](../explanation/fidelity.md#where-the-default-buffer-comes-from)).",
    )
    forwarding: Literal["bridge", "ovs"] = Field(
        default="bridge",
        description="Who forwards in a star: the Linux `bridge`, or Open vSwitch in the kernel (`ovs`). Others route.",
    )
    pfc: OnOrOff = Field(default=None, json_schema_extra=on_or_off)
    classes: dict[ClassName, TrafficClass] = Field(default={})
    default_class: str | None = Field(
        default=None, description="Class of each DSCP that no class names; by default the first."
    )
    queues: dict[QueueNumber, QueueSettings] = Field(default={})
    groups: dict[GroupNumber, GroupSettings] = Field(default={})
    pool: Pool | None = None
    watchdog: Watchdog | None = None
    trim: OnOrTrim = Field(default=None, json_schema_extra=on_or_off)
    config: str | None = Field(
        default=None,
        description="[SONiC's config_db.json](../howto/switch.md), relative to this file; what is said here holds.",
    )
    deadlock: Literal["refuse", "allow"] = Field(
        default="refuse", description="Racks in which pauses could wait for each other in a cycle: `refuse` or `allow`."
    )
    marking: Literal["enqueue", "dequeue"] = Field(
        default="enqueue",
        description="When RED looks at the queue: as a packet joins it (`enqueue`), or as it leaves (`dequeue`).",
    )

    @cached_property
    def tables(self) -> Classes | None:
        """Classes and queues, complete; None for ports that are one plain queue."""
        if not (self.classes or self.queues or self.groups or self.pool or self.trim) and self.marking == "enqueue":
            return None
        return tables(self.classes, self.default_class, self.queues, self.marking, self.trim)

    @cached_property
    def memory(self) -> Memory | None:
        """What queues and groups may have of it; None where each queue has a buffer, and nothing else counts."""
        return memory_of(self.tables, self.pool, self.groups) if self.tables else None

    @model_validator(mode="after")
    def _tables_fit(self) -> Self:
        if self.default_class is not None and not self.classes:
            refuse("default_class", "there are no classes; name some, or leave it out")
        if self.config is not None:
            refuse("config", "is read as an experiment is loaded: testbed.experiment.load, or the command line")
        idle = next((number for number in self.groups if number not in self._groups_used), None)
        if idle is not None:
            refuse(f"groups.{idle}", "no class uses this group")
        self._check_pool()
        if self.groups and self.pfc:
            refuse("pfc", "is for ports of one queue; with groups say which of them are lossless: pfc 'on' there")
        if self.watchdog and self.pfc:
            refuse("watchdog", "is of lossless groups; say groups with pfc 'on' instead of rack.switch.pfc")
        if self.tables and self.pfc:
            refuse("pfc", "is not there yet for ports with several queues; say 'off', or leave classes and queues out")
        return self

    @property
    def _groups_used(self) -> set[int]:
        return set(self.tables.group) if self.tables else set()

    def _check_pool(self) -> None:
        """Shares of a pool need one."""
        if self.pool is not None:
            return
        for key, blocks in (("queues", self.queues), ("groups", self.groups)):
            for number, one in blocks.items():
                if one.alpha is not None or one.reserved or getattr(one, "static", None) is not None:
                    refuse(f"{key}.{number}", "has a share of a pool; say rack.switch.pool")


class Nic(Part):
    """The hosts' NICs."""

    ack_dscp: Dscp = Field(default=USUAL_ACK, description="DSCP of ACKs.")
    cnp_dscp: Dscp = Field(default=USUAL_CNP, description="DSCP of CNPs.")
    receive: Receive | None = None


def _off(value: object) -> object:
    return "off" if value is False else value  # what YAML makes of `off`


class AnyRack(Part):
    """What racks of all kinds have."""

    link: LinkSettings = Field(default=LinkSettings(), description="The links between hosts and switches.")
    switch: Switch = Switch()
    nic: Nic = Nic()
    calibrate: Annotated[Literal["off", "classes", "all"], BeforeValidator(_off)] = Field(
        default="classes",
        description="What is measured before the run: every kind of link (`classes`), `all`, or nothing (`off`).",
    )
    delay_by: Literal["auto", "netem", "delay-line"] = Field(
        default="auto",
        description="Who delays packets: `netem`, or a `delay-line` at the sender. `auto` is netem where the kernel "
        "has it, but the delay line with Bolt, and with PFC in racks of several switches.",
    )

    @property
    @abstractmethod
    def size(self) -> int | None:
        """Number of hosts; None for as many as the traffic needs."""

    @property
    @abstractmethod
    def shape(self) -> Shape:
        """Its hosts, switches and links, in nominal units."""

    def inside(self) -> Servers | None:
        """Where hosts are NICs of servers: which, and what joins them; None where each host is one of its own."""
        return None

    def inputs(self) -> list[Input]:
        """Files that it was read from."""
        return []

    @property
    def nodes_of(self) -> Mapping[str, str]:
        """Our names of hosts by those in the rack's file."""
        return {}

    @model_validator(mode="after")
    def _can_be_built(self) -> Self:
        if self.size is not None and self.size > MOST_HOSTS:
            refuse("kind", f"makes a rack of {self.size} hosts, at most {MOST_HOSTS} are possible")
        if self.nic.receive and not (self.switch.memory and self.switch.memory.lossless):
            refuse("nic.receive", "is of lossless packets; say rack.switch.groups with pfc 'on'")
        if self.nic.receive and self.delay_by == "netem":
            refuse("delay_by", "'netem' delays behind the ports of switches, where pauses must hold; use 'delay-line'")
        return self


class Regular(AnyRack):
    """A rack that parameters describe."""

    links: list[DifferingLinks] = Field(default=[])


class Routed(AnyRack):
    """A rack of several switches."""

    def parts(self) -> tuple[int, int]:
        """How many switches there are, and links between them; (0, 0) for who counts them otherwise."""
        return 0, 0

    @model_validator(mode="after")
    def _few_enough(self) -> Self:
        for count, most, what in zip(self.parts(), (MOST_SWITCHES, MOST_TRUNKS), PARTS, strict=True):
            if count > most:
                refuse("kind", f"makes a rack of {count:,} {what}, at most {most:,} are possible")
        return self

    @model_validator(mode="after")
    def _routes(self) -> Self:
        if "forwarding" in self.switch.model_fields_set and self.switch.forwarding == "ovs":
            refuse("switch.forwarding", "'ovs' is possible in a star only; racks of several switches route")
        if self.switch.tables and self.delay_by == "netem":
            refuse("delay_by", "'netem' delays behind the queues of ports, which are counted there; use 'delay-line'")
        if self.switch.pfc and self.delay_by == "netem":
            refuse("delay_by", "'netem' delays behind the ports of switches, where pauses must hold; use 'delay-line'")
        return self
