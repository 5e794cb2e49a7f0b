"""What a metric is: its name, its meaning, and where its value is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from testbed.base.arrays import Floats, Ints
from testbed.live.scene import Scene
from testbed.live.snapshot import Counted, Snapshot

Labels = Literal["", "port", "queue", "flow", "controller", "job", "limit", "switch", "state"]
LABELS: dict[Labels, tuple[str, ...]] = {
    "": (),
    "port": ("port",),
    "queue": ("port", "queue", "class"),
    "flow": ("flow",),
    "controller": ("controller",),
    "job": ("job",),
    "limit": ("limit",),
    "switch": ("switch",),
    "state": ("switch", "state"),
}
"""What a metric has one value for, and the labels that say which."""

Column = Floats | Ints | Sequence[float]


class Info(NamedTuple):
    """A constant 1 whose labels carry the information: other metrics leave it out, since labels cost a scrape most."""

    name: str
    help: str
    labels: tuple[str, ...]
    read: Callable[[Scene], Iterable[Sequence[str]]]


class Constant(NamedTuple):
    """A gauge that does not change while the run goes on."""

    name: str
    per: Labels
    help: str
    read: Callable[[Scene], Column]


COLUMNS: dict[Labels, Callable[[Snapshot, str], Column]] = {
    "port": lambda now, column: now.ports[column],
    "queue": lambda now, column: now.queues.get(column, ()),
    "flow": lambda now, column: now.flows[column],
    "controller": lambda now, column: now.controllers[column],
    "job": lambda now, column: [getattr(one, column) for one in now.jobs],
    "switch": lambda now, column: [getattr(one, column) for one in now.tuners],
    "": lambda now, column: [getattr(now, column)],
}
"""Where the columns of a snapshot are."""


@dataclass(frozen=True)
class Metric:
    """A counter or gauge; one value per label set: a column of the snapshot, or what is computed from it."""

    kind: Literal["counter", "gauge"]
    name: str
    per: Labels
    column: str | Callable[[Snapshot], Column]
    help: str

    def read(self, now: Snapshot) -> Column:
        """Its values, in the order of the scene."""
        return COLUMNS[self.per](now, self.column) if isinstance(self.column, str) else self.column(now)

    @property
    def exported(self) -> str:
        """As a query uses it."""
        return f"{self.name}_total" if self.kind == "counter" else self.name


@dataclass(frozen=True)
class Distribution:
    """A histogram; one per label set. Bin i of its counts ends at ``limits[i]``, the last one has no end."""

    name: str
    per: Labels
    help: str
    limits: Sequence[float]
    read: Callable[[Snapshot], Counted]
