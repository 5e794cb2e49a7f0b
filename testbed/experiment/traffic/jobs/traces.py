"""From the nodes of Chakra traces to operations: collectives become the messages that carry them out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from testbed.experiment.traffic.jobs import collectives, trees
from testbed.experiment.traffic.jobs.chakra import COLLECTIVE, COMPUTING, RECV, SEND, Node, nodes
from testbed.experiment.traffic.jobs.operations_file import Listed, What
from testbed.experiment.traffic.jobs.program import Exchange

CHUNKS = 8  # in which a broadcast or reduce goes from rank to rank

# In the order of comm_type, from ranks and what each puts in (ASTRA-sim's Ring; PyTorch's in_msg). No trace has a root:
# it is the first.
CARRIED_OUT: Mapping[str, Callable[[int, float], Exchange]] = {
    "all-reduce": lambda ranks, size: collectives.ring(ranks, size, 2),
    "reduce": lambda ranks, size: trees.up(trees.chain(ranks), size, CHUNKS),
    "all-gather": lambda ranks, size: collectives.ring(ranks, size * ranks, 1),
    "gather": lambda ranks, size: collectives.everybody(np.outer(np.ones(ranks), np.eye(ranks)[0]) * size),
    "scatter": lambda ranks, size: collectives.everybody(np.outer(np.eye(ranks)[0], np.ones(ranks)) * size / ranks),
    "broadcast": lambda ranks, size: trees.down(trees.chain(ranks), size, CHUNKS),
    "all-to-all": lambda ranks, size: collectives.everybody(np.full((ranks, ranks), size / ranks)),
    "reduce-scatter": lambda ranks, size: collectives.ring(ranks, size, 1),
    "reduce-scatter-block": lambda ranks, size: collectives.ring(ranks, size, 1),
    "barrier": lambda ranks, size: collectives.ring(ranks, size, 2),
}
Message = tuple[int, int, float]  # the other rank, tag, bytes
NO_MESSAGE: Message = (-1, 0, 0.0)


class Traces:
    """The operations of ranks 0, 1, ... as they are found."""

    def __init__(self, files: Sequence[Path]) -> None:
        self.files = files
        self.rows: list[tuple[int, int, int, int, float, float]] = []  # what, rank, peer, tag, size, length
        self.places: list[str] = []
        self.waits: list[tuple[int, int]] = []
        self.known: list[dict[int, tuple[int, int]]] = [{} for _ in files]  # where each node begins and ends
        self.calls: dict[str, list[list[tuple[int, Node]]]] = defaultdict(list)  # of collectives, by process group
        self.tags = 0  # of the messages of collectives, which count down from -1: no trace has such

    def read(self) -> Listed:
        """All of them. Raises ValueError with file and node."""
        awaited: list[tuple[int, Node]] = []
        for rank, file in enumerate(self.files):
            counts: dict[str, int] = defaultdict(int)
            for node in nodes(file):
                if node.id in self.known[rank]:
                    raise ValueError(f"{self._where(rank, node)} is there twice")
                self.known[rank][node.id] = self._node(rank, node, counts)
                awaited.append((rank, node))
        for rank, node in awaited:
            for one in node.after:
                if one not in self.known[rank]:
                    raise ValueError(f"{self._where(rank, node)} waits for node {one}, which is not there")
                self.waits.append((self.known[rank][one][1], self.known[rank][node.id][0]))
        for group in self.calls.values():
            for call in group:
                self._carry_out(call)
        if not self.rows:
            raise ValueError(f"{self.files[0]}: no node in it")
        what, rank_of, peer, tag, size, length = (np.array(column) for column in zip(*self.rows, strict=True))
        none = np.empty((0, 2), np.int64)
        waits = np.array(self.waits, np.int64).reshape(-1, 2)
        return Listed(
            len(self.files), what.astype(np.int8), rank_of.astype(np.int32), peer.astype(np.int32), tag, size, length,
            waits, none, np.full(len(what), -1), self.places.__getitem__,
        )  # fmt: skip

    def _where(self, rank: int, node: Node) -> str:
        return f"{self.files[rank]}: node {node.id} '{node.name}'"

    def _add(self, place: str, what: What, rank: int, message: Message = NO_MESSAGE, length: float = 0.0) -> int:
        self.rows.append((what, rank, *message, length))
        self.places.append(place)
        return len(self.rows) - 1

    def _node(self, rank: int, node: Node, counts: dict[str, int]) -> tuple[int, int]:
        place = self._where(rank, node)
        if node.type in COMPUTING:
            one = self._add(place, What.CALC, rank, length=1e-6 * (node.micros or node.number("runtime")))
            return one, one
        if node.type in (SEND, RECV):
            key, what = ("comm_dst", What.SEND) if node.type == SEND else ("comm_src", What.RECV)
            if key not in node.values:
                raise ValueError(f"{place} has no attribute {key}")
            message = node.number(key), node.number("comm_tag"), float(node.number("comm_size"))
            one = self._add(place, what, rank, message)
            return one, one
        if node.type != COLLECTIVE:
            raise ValueError(f"{place} is of type {node.type}, which neither computes nor communicates")
        group = str(node.values.get("pg_name", ""))
        if counts[group] == len(self.calls[group]):
            self.calls[group].append([])
        self.calls[group][counts[group]].append((rank, node))
        counts[group] += 1
        return self._add(place, What.CALC, rank), self._add(place, What.CALC, rank)

    def _carry_out(self, call: list[tuple[int, Node]]) -> None:
        """A collective of those ranks: messages between where each begins it and where it ends it."""
        rank, node = call[0]
        kind, size = node.number("comm_type"), node.number("comm_size")
        for other, theirs in call[1:]:
            if (theirs.number("comm_type"), theirs.number("comm_size")) != (kind, size):
                raise ValueError(
                    f"{self._where(other, theirs)} is another collective than {self._where(rank, node)}, with which "
                    "the order of their process group pairs it"
                )
        ends = [self.known[rank][node.id] for rank, node in call]
        made = _messages(kind, len(call), float(size), self._where(rank, node))
        sends, recvs = [], []
        for src, dst, part in zip(made.src.tolist(), made.dst.tolist(), made.size.tolist(), strict=True):
            self.tags -= 1
            (a, _), (b, _) = call[src], call[dst]
            sends.append(self._add(self.places[ends[src][0]], What.SEND, a, (b, self.tags, part)))
            recvs.append(self._add(self.places[ends[dst][0]], What.RECV, b, (a, self.tags, part)))
            self.waits += [(ends[src][0], sends[-1]), (ends[dst][0], recvs[-1])]
            self.waits += [(sends[-1], ends[src][1]), (recvs[-1], ends[dst][1])]
        self.waits += [(begin, end) for begin, end in ends]
        self.waits += [(recvs[before], sends[after]) for before, after in made.waits.tolist()]


def _messages(kind: int, ranks: int, size: float, where: str) -> Exchange:
    if not 0 <= kind < len(CARRIED_OUT):
        known = ", ".join(f"{number} ({name})" for number, name in enumerate(CARRIED_OUT))
        raise ValueError(f"{where} is a collective of comm_type {kind}; those that can be carried out: {known}")
    return list(CARRIED_OUT.values())[kind](ranks, max(size, 1.0))
