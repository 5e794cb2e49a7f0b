"""From the traffic of an experiment to numbered flows, ordered by sending host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.experiment.traffic.flow import Flow


@dataclass(frozen=True)
class Plan:
    """All flows of a run, shape (n,) per column. Flow numbers are positions."""

    src: list[str]  # host names
    dst: list[str]
    size: Floats  # bytes of payload; inf for an endless flow
    start: Floats  # s; of a flow that waits for a group: s after the last of that group has finished
    label: list[str]
    group: Ints  # number of the flow's group, or -1
    after: Ints  # number of the group that must have finished before the flow starts, or -1

    @classmethod
    def of(cls, flows: Sequence[Flow]) -> Plan:
        """Number the flows: hosts in order, flows of a host as they were listed. An agent serves whole hosts."""
        ordered = sorted(flows, key=lambda flow: int(flow.src[1:]))
        return cls(
            src=[flow.src for flow in ordered],
            dst=[flow.dst for flow in ordered],
            size=np.array([flow.size for flow in ordered], np.float64),
            start=np.array([flow.start for flow in ordered], np.float64),
            label=[flow.label for flow in ordered],
            group=np.array([flow.group for flow in ordered], np.int64),
            after=np.array([flow.after for flow in ordered], np.int64),
        )

    def __len__(self) -> int:
        return len(self.src)

    @property
    def src_number(self) -> Ints:
        """Number of each flow's sending host."""
        return np.array([int(name[1:]) for name in self.src])

    @property
    def dst_number(self) -> Ints:
        """Number of each flow's receiving host."""
        return np.array([int(name[1:]) for name in self.dst])

    @property
    def pairs(self) -> set[tuple[str, str]]:
        """Which host talks to which."""
        return set(zip(self.src, self.dst, strict=True))

    @property
    def busiest_receiver(self) -> str:
        """The host that most flows go to: its switch port is the bottleneck."""
        names, counts = np.unique(self.dst, return_counts=True)
        return str(names[counts.argmax()])
