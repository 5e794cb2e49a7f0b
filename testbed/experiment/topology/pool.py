"""What each queue and priority group may have of a switch's memory: what engines read of `queues`, `groups`, `pool`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from testbed.experiment.topology.classes import Classes
from testbed.experiment.topology.groups import GroupSettings, Pool
from testbed.experiment.topology.queues import QueueSettings

ALPHA = 1.0  # of what shares a pool and says nothing
XOFF = 200e3  # of a lossless group without a pool, as in `Pfc`
XON = 0.9  # of a static threshold
XON_OFFSET = 5e3  # of a dynamic one


@dataclass(frozen=True)
class Share:
    """Bytes; the threshold is alpha x what is free of the pool, or static, or none."""

    reserved: float
    alpha: float | None
    static: float | None

    @property
    def bounded(self) -> bool:
        """Whether it has a threshold of its own."""
        return self.alpha is not None or self.static is not None

    def alone(self, size: float | None, sharers: int) -> float:
        """Bytes that each of so many can take that share a pool of this size, if nobody else does."""
        most = math.inf if self.static is None else self.static
        if size is not None:
            most = min(most, size / sharers if self.alpha is None else size * self.alpha / (1 + sharers * self.alpha))
        return self.reserved + most


@dataclass(frozen=True)
class Group:
    """Of a lossless group: it resumes at the higher of xon and its threshold less an offset."""

    share: Share
    lossless: bool
    headroom: float | None  # None for what it takes until a pause has taken effect
    xon: float
    xon_offset: float

    def beyond(self, auto: int) -> float:
        """Bytes of headroom."""
        return 0.0 if not self.lossless else auto if self.headroom is None else self.headroom


@dataclass(frozen=True)
class Memory:
    """The memory of each switch, by numbers of queues and groups."""

    size: float | None  # of the pool; None for none, and static thresholds only
    headroom: float | None  # that lossless groups share; None for each its own
    queues: Mapping[int, Share]
    groups: Mapping[int, Group]

    def alone(self, queue: int, group: int, ingresses: int, buffer: float, headroom: int) -> float:
        """Bytes that a queue can hold while all else is empty, if its packets come in at so many ports.

        ``buffer``: of a queue that shares nothing; ``headroom``: what a lossless group has that says 'auto'.
        """
        own, came_in = self.queues[queue].alone(self.size, 1), self.groups[group]
        shared = ingresses * came_in.share.alone(self.size, ingresses)
        if not came_in.lossless:
            return min(own, shared) if self.size else min(own, buffer, shared)
        beyond = ingresses * came_in.beyond(headroom)
        full = shared + (beyond if self.headroom is None else min(beyond, self.headroom))
        return min(own, full) if self.queues[queue].bounded else full

    def longest(self, buffer: float, ports: int, headroom: int) -> float:
        """Bytes that may wait at one of so many ports of a switch at most; ``headroom`` as in `alone`."""
        beside = ports * float(
            sum(round(one.beyond(headroom)) + round(one.share.reserved) for one in self.groups.values())
        )
        if self.size is not None:
            return self.size + beside
        limits = [one.share.static for one in self.groups.values() if one.share.static is not None]
        return max(ports * float(sum(map(round, limits))) + beside, buffer)

    @property
    def lossless(self) -> list[int]:
        """The groups that pause their senders."""
        return [number for number, one in self.groups.items() if one.lossless]


def memory_of(classes: Classes, pool: Pool | None, groups: Mapping[int, GroupSettings]) -> Memory | None:
    """None for a switch whose queues have a buffer each, and nothing else."""
    if pool is None and not groups:
        return None
    used = {number: groups.get(number, GroupSettings()) for number in sorted(set(classes.group))}
    lossless = {number for number, one in used.items() if one.pfc}
    return Memory(
        size=pool.size if pool else None,
        headroom=pool.headroom if pool and pool.headroom else None,
        queues={
            number: _queue(one, pool, classes.groups_in(number) <= lossless) for number, one in classes.queues.items()
        },
        groups={number: _group(one, pool) for number, one in used.items()},
    )


def _queue(one: QueueSettings, pool: Pool | None, lossless: bool) -> Share:
    """Packets of lossless groups are bounded where they come in."""
    if one.alpha is None and one.static is None and pool and not lossless:
        return Share(one.reserved, ALPHA, None)
    return Share(one.reserved, one.alpha, one.static)


def _group(one: GroupSettings, pool: Pool | None) -> Group:
    alpha, static = one.alpha, one.xoff
    if one.pfc and alpha is None and static is None:
        alpha, static = (ALPHA, None) if pool else (None, XOFF)
    xon, offset = one.xon or 0.0, one.xon_offset
    if offset is None and one.xon is None:
        offset = (1 - XON) * static if static else XON_OFFSET
    offset = float("inf") if offset is None else offset  # below nothing: xon alone counts
    headroom = None if isinstance(one.headroom, str) else one.headroom
    return Group(Share(one.reserved, alpha, static), one.pfc, headroom, xon, offset)
