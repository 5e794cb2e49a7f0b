"""Classes of traffic, as operators have them: DSCP to class, class to queue and to priority group.

`Classes` is what engines and reports read: the tables of a switch, complete and checked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

from pydantic import AfterValidator, Field

from testbed.errors import nearest
from testbed.experiment.block import Part, refuse
from testbed.experiment.topology.dscp import DSCPS, Dscps
from testbed.experiment.topology.queues import QueueNumber, QueueSettings
from testbed.experiment.topology.trim import Trim

ONLY = "default"  # the class of a switch that names none
TRIMMED = "trimmed"  # and of what is left of packets, if no class has their DSCP
PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def _name(value: str) -> str:
    if not PLAIN.fullmatch(value):
        raise ValueError("the name of a class is letters, digits, - and _, and begins with a letter")
    return value


ClassName = Annotated[str, AfterValidator(_name)]
Group = Annotated[int, Field(ge=0, lt=8)]


class TrafficClass(Part):
    """Classes of traffic by name, told by DSCP. Without any, a port has one queue."""

    dscp: Dscps = Field(description="Their DSCPs: a number, a range such as `0-7`, or a list of both.")
    queue: QueueNumber = Field(description="Where they wait at every port: 0 to 7.")
    group: Group | None = Field(
        default=None,
        description="Their priority group, and the priority of their pause frames: 0 to 7; by default the number of "
        "their queue.",
    )


@dataclass(frozen=True)
class Classes:
    """The classes and queues of all switches. Queues that no class uses are not there."""

    names: tuple[str, ...]
    dscps: tuple[tuple[int, ...], ...]  # of each class, as named in the file
    queue: tuple[int, ...]  # of each class
    group: tuple[int, ...]
    default: int  # the class of each DSCP that none names
    queues: Mapping[int, QueueSettings]  # by number, ascending
    at_dequeue: bool = False  # when packets are marked
    trim: Trim | None = None

    @cached_property
    def class_of(self) -> tuple[int, ...]:
        """Of each DSCP."""
        named = {dscp: number for number, mine in enumerate(self.dscps) for dscp in mine}
        return tuple(named.get(dscp, self.default) for dscp in range(DSCPS))

    @property
    def queue_of(self) -> tuple[int, ...]:
        """Of each DSCP."""
        return tuple(self.queue[one] for one in self.class_of)

    @property
    def group_of(self) -> tuple[int, ...]:
        """Of each DSCP."""
        return tuple(self.group[one] for one in self.class_of)

    @property
    def trim_tos(self) -> int:
        """The second byte of the IP header of trimmed packets, but for their ECN bits; 0 where none is trimmed."""
        return self.trim.dscp << 2 if self.trim else 0

    def groups_in(self, queue: int) -> set[int]:
        """Those whose packets wait in a queue."""
        return {group for where, group in zip(self.queue, self.group, strict=True) if where == queue}

    def names_in(self, queue: int) -> str:
        """The classes that wait in a queue: ``bulk, storage``."""
        return ", ".join(name for name, where in zip(self.names, self.queue, strict=True) if where == queue)


def tables(
    classes: Mapping[str, TrafficClass],
    default: str | None,
    queues: Mapping[int, QueueSettings],
    marking: str,
    trim: Trim | None = None,
) -> Classes:
    """Complete them. Refuses what contradicts itself; keys are those of `rack.switch`."""
    owner: dict[int, str] = {}
    for name, one in classes.items():
        for dscp in one.dscp:
            if dscp in owner:
                refuse(f"classes.{name}.dscp", f"the class '{owner[dscp]}' has the DSCP {dscp} already")
            owner[dscp] = name
    if default is not None and default not in classes:
        refuse("default_class", f"no class is named '{default}'; {nearest(default, list(classes))}")
    named = dict(classes) or {ONLY: TrafficClass(dscp=(0,), queue=0)}
    if trim:
        named, queues = _with_trimmed(trim, named, owner, queues)
    used = sorted({one.queue for one in named.values()})
    idle = next((number for number in queues if number not in used), None)
    if idle is not None:
        refuse(f"queues.{idle}", f"no class uses this queue; used: {', '.join(map(str, used))}")
    return Classes(
        names=tuple(named),
        dscps=tuple(one.dscp for one in named.values()),
        queue=tuple(one.queue for one in named.values()),
        group=tuple(one.queue if one.group is None else one.group for one in named.values()),
        default=list(named).index(default or next(iter(named))),
        queues={number: queues.get(number, QueueSettings()) for number in used},
        at_dequeue=marking == "dequeue",
        trim=trim,
    )


def _with_trimmed(
    trim: Trim, named: Mapping[str, TrafficClass], owner: Mapping[int, str], queues: Mapping[int, QueueSettings]
) -> tuple[dict[str, TrafficClass], dict[int, QueueSettings]]:
    """What is left of packets has a queue to itself, and waits in the same one at every switch."""
    name = owner.get(trim.dscp, TRIMMED)
    other = next((one for one, it in named.items() if one != name and it.queue == trim.queue), None)
    if other is not None:
        refuse("trim.queue", f"the class '{other}' waits in queue {trim.queue}; trimmed packets need one of their own")
    if trim.dscp not in owner:
        named = {**named, TRIMMED: TrafficClass(dscp=(trim.dscp,), queue=trim.queue)}
        queues = {trim.queue: QueueSettings(red="off"), **queues}
    elif named[name].queue != trim.queue:
        refuse("trim.queue", f"the class '{name}' has the DSCP {trim.dscp}, and waits in queue {named[name].queue}")
    return dict(named), dict(queues)
