"""The memory of switches as their programs have it (pool.bpf.h): settings of queues and priority groups, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testbed.dataplane import class_rows, wire
from testbed.dataplane.port_maps import Port
from testbed.experiment.topology.classes import Classes
from testbed.experiment.topology.pool import Memory, Share


@dataclass(frozen=True)
class PoolRows:
    """Arrays of dtype `wire.SHARE` by row of a queue, `wire.GROUP` by row of a group, and `wire.POOL` by switch."""

    shares: NDArray[np.void]
    groups: NDArray[np.void]
    pools: NDArray[np.void]


def pool_rows(memory: Memory, classes: Classes, ports: Sequence[Port], interfaces: int, headroom: int) -> PoolRows:
    """``headroom``: bytes that a lossless group needs until a pause has taken effect."""
    rows = class_rows.rows(interfaces)
    shares, groups = np.zeros(rows, wire.SHARE), np.zeros(rows, wire.GROUP)
    pools = np.zeros(1 + max(port.node >> 16 for port in ports), wire.POOL)
    pools["size"] = wire.UNLIMITED if memory.size is None else round(memory.size)
    pools["headroom"] = wire.UNLIMITED if memory.headroom is None else round(memory.headroom)
    for port in ports:
        for queue, share in memory.queues.items():
            row = class_rows.row_of(port.ifindex, queue, interfaces)
            own = None if memory.size is not None or _is_lossless(memory, classes, queue) else port.buffer
            shares[row] = (*_share(share, own), port.node >> 16, 0)
        for number, group in memory.groups.items():
            row, told = class_rows.row_of(port.ifindex, number, interfaces), groups[:]
            told["share"][row] = (*_share(group.share, None), 0, 0)
            told["xon"][row], told["xon_offset"][row] = round(group.xon), min(group.xon_offset, wire.UNLIMITED)
            if group.lossless:
                told["headroom"][row] = headroom if group.headroom is None else round(group.headroom)
    return PoolRows(shares, groups, pools)


def _is_lossless(memory: Memory, classes: Classes, queue: int) -> bool:
    return all(memory.groups[group].lossless for group in classes.groups_in(queue))


def _share(share: Share, buffer: int | None) -> tuple[int, int, int]:
    limits = [wire.UNLIMITED, *(round(limit) for limit in (share.static, buffer) if limit is not None)]
    return round(share.reserved), round((share.alpha or 0.0) * (1 << wire.ALPHA_SHIFT)), min(limits)
