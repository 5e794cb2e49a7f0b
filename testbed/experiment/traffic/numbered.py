"""Flows between nodes that a file of another tool knows by number: who waits for whom, and which hosts these are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.experiment.traffic.flow import NO_GROUP
from testbed.experiment.traffic.plan import Plan
from testbed.experiment.traffic.tasks import Tasks, circle_of

SHOWN = 6


@dataclass(frozen=True)
class NumberedFlows:
    """Columns of shape (n,). Node n is host h(n+1), or what the rack's file says."""

    form: str  # what the file was taken for
    file: Path
    src: Ints
    dst: Ints
    size: Floats  # bytes; inf for an endless flow
    start: Floats  # s; of a flow that waits, s after the last of those
    line: Ints  # where each stands
    tasks: Tasks = field(default_factory=Tasks)
    notes: tuple[str, ...] = ()  # what of the file is not as it says

    def __post_init__(self) -> None:
        own = np.flatnonzero(self.src == self.dst)
        if len(own):
            raise ValueError(f"{self._place(own[0])}: expected two nodes, but both are {self.src[own[0]]}")
        count = len(self.src)
        if circle := circle_of(count + len(self.tasks.steps), self.tasks.numbered(count)):
            places = [f"line {self.line[node]}" for node in circle if node < count]
            shown = " > ".join(places[:SHOWN]) + " > ..." * (len(places) > SHOWN)
            raise ValueError(f"{self.file}: flows wait for each other: {shown}")

    def __len__(self) -> int:
        return len(self.src)

    def _place(self, flow: int) -> str:
        return f"{self.file}, line {self.line[flow]}"

    def _hosts(self, names: Mapping[str, str]) -> tuple[Ints, Ints]:
        """The numbers of both ends' hosts."""
        if not names:
            return self.src + 1, self.dst + 1
        known = np.array([int(theirs) for theirs in names])
        strange = np.flatnonzero(~(np.isin(self.src, known) & np.isin(self.dst, known)))
        if len(strange):
            src, dst = self.src[strange[0]], self.dst[strange[0]]
            raise ValueError(f"{self._place(strange[0])}: expected hosts of the rack's file, got nodes {src} and {dst}")
        hosts = np.zeros(known.max() + 1, np.int64)
        hosts[known] = [int(ours[1:]) for ours in names.values()]
        return hosts[self.src], hosts[self.dst]

    def plan(self, hosts: Mapping[str, str] | None = None) -> Plan:
        """The flows, in the order of the file; ``hosts`` by what the rack's file calls them. Raises ValueError."""
        src, dst = self._hosts(hosts or {})
        names = [f"h{number}" for number in range(max(src.max(), dst.max()) + 1)]
        return Plan(
            src=[names[number] for number in src.tolist()],
            dst=[names[number] for number in dst.tolist()],
            size=self.size,
            start=self.start,
            label=[""] * len(self),
            group=np.full(len(self), NO_GROUP, np.int64),
            tasks=self.tasks,
        ).ordered()
