"""Completion of operations: flows that belong together, such as the messages of one exchange of all with all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from testbed.results.figures.unknown import NULL_IF_UNKNOWN, Number, mean
from testbed.results.record import FlowTable


@dataclass(frozen=True)
class Messages:
    """Operations of one kind. Times are in s, from the operation's first start to a last acknowledgement."""

    __pydantic_config__ = NULL_IF_UNKNOWN

    label: str  # of the flows
    size: Number  # bytes of a message; the largest if they differ
    operations: int  # that finished; the others are in none of the times
    message: Number  # mean over all messages: each from its own start to its own end
    rank: Number  # mean over operations and hosts: until all that the host sends or receives is done
    operation: Number  # mean over operations: until all is done


def messages(flows: FlowTable) -> list[Messages]:
    """Completion times per kind of operation, in the order of size.

    ``rank`` is what osu_alltoall prints, the latency of MPI_Alltoall averaged over iterations and ranks, where the
    size is that of one message to one peer. DECC calls its figure the mean completion time of a message, and it is
    too short for the former (sheet 8): ``message`` is nearest to its words. Trap: a rank's part ends with the last
    acknowledgement at the sender, half an RTT later than a receiver sees its last byte.
    """
    grouped = np.flatnonzero(flows.group >= 0)
    if not len(grouped):
        return []
    _, operation = np.unique(flows.group[grouped], return_inverse=True)
    count = int(operation.max()) + 1
    start, end = flows.start[grouped], np.nan_to_num(flows.finished[grouped], nan=np.inf)
    begin, done = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(begin, operation, start)
    np.maximum.at(done, operation, end)
    whole = np.isfinite(done) & np.isfinite(begin)

    # A rank is a host that takes part in an operation, as sender or as receiver.
    hosts, side = np.unique(
        np.array(flows.src + flows.dst)[np.concatenate([grouped, len(flows) + grouped])], return_inverse=True
    )
    ranks, which = np.unique(np.tile(operation, 2) * len(hosts) + side, return_inverse=True)
    last = np.full(len(ranks), -np.inf)
    np.maximum.at(last, which, np.tile(end, 2))
    rank_of = ranks // len(hosts)  # the operation of each

    kind = np.empty(count, object)
    kind[operation] = np.array(flows.label, object)[grouped]
    size = np.zeros(count)
    np.maximum.at(size, operation, flows.size[grouped])
    found = []
    for label in dict.fromkeys(kind.tolist()):
        kept = whole & (kind == label)
        own = kept[operation]
        own_ranks = kept[rank_of]
        found.append(
            Messages(
                label=label,
                size=float(size[kind == label].max()),
                operations=int(kept.sum()),
                message=mean(end[own] - start[own]),
                rank=mean(last[own_ranks] - begin[rank_of[own_ranks]]),
                operation=mean(done[kept] - begin[kept]),
            )
        )
    return sorted(found, key=lambda one: one.size)
