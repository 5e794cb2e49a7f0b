"""What events do to the rack of a run, whichever engine it is of; see `testbed.experiment.events.Changeable`."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic_core import PydanticCustomError

from testbed.agent.columns import Flows
from testbed.base.arrays import Floats
from testbed.dataplane import wire
from testbed.dataplane.port_reader import PortReader
from testbed.errors import BadInput
from testbed.experiment.changes import Alpha, Change, OfLink, Option, Threshold, Weight
from testbed.experiment.edits import THRESHOLDS, Edits
from testbed.experiment.events import EventSchedule, EventSpec, Step, Value, event_of, plan
from testbed.experiment.resolved import Resolved
from testbed.experiment.topology.classes import Classes
from testbed.experiment.topology.tables import Tables
from testbed.live.edit import Edit, Edited
from testbed.units import show_size


class Rack(Protocol):
    """An engine's."""

    def link_down(self, name: str) -> None:
        """See `testbed.experiment.events.Changeable`."""
        ...

    def link_up(self, name: str) -> None: ...

    def reroute(self, names: Sequence[str]) -> None: ...

    @property
    def tables(self) -> Tables:
        """Which of its links are down, too."""
        ...

    def set_loss(self, name: str, loss: float) -> None:
        """Of a link; one that is down has it when it comes back."""
        ...

    def set_rate(self, name: str, rate: float) -> None:
        """Of a link between switches, both ways."""
        ...

    def set_delay(self, name: str, delay: float) -> None:
        """Of a link, on engines that can."""
        ...

    def set_weights(self, classes: Classes) -> None:
        """Of the queues of all ports."""
        ...

    def shares(self, of_groups: bool) -> NDArray[Any]:
        """Of dtype `testbed.dataplane.wire.SHARE`, of queues or groups, by row."""
        ...

    def row(self, port: int, number: int) -> int:
        """Of a queue or a group of a port."""
        ...


class Senders(Protocol):
    """Whoever sends: the agents of a run."""

    def configure(self, decider: int, options: Mapping[str, Any]) -> None:
        """A controller, by its number, has other options from now on."""
        ...

    def place(self, down: Collection[str]) -> None:
        """These NICs of bonded hosts are known not to work, and flows take the others."""
        ...


class Changes:
    """``readers``: of ports and of queues."""

    def __init__(
        self,
        resolved: Resolved,
        flows: Flows,
        rack: Rack,
        readers: tuple[PortReader, PortReader],
        senders: Senders,
    ) -> None:
        self.resolved, self.flows, self.rack, self.senders = resolved, flows, rack, senders
        self.ports, self.queues = readers  # the same where a port is one queue
        self.link_down, self.link_up = rack.link_down, rack.link_up
        self.edits = Edits(resolved)
        self._down = set[str]()  # NICs that are known not to work
        self.classes = resolved.experiment.rack.switch.tables

    def reroute(self, links: Sequence[str]) -> None:
        """The switches detect the state of these links."""
        self.flows.rerouted += 1  # first: agents must not take other INT nodes for a fault
        self.rack.reroute(links)
        shape = self.resolved.layout.shape
        nics = {link.low.node: link for link in map(shape.find, links) if not link.low.port}
        if shape.bonds and nics:
            self._down -= set(nics)
            self._down |= {nic for nic, link in nics.items() if link in self.rack.tables.down}
            self.senders.place(self._down)

    def planned(self, added: Sequence[EventSpec]) -> list[Step]:
        """All steps of the run with these events. Raises BadInput."""
        experiment, shape = self.resolved.experiment, self.resolved.layout.shape
        try:
            steps = plan([*experiment.events, *added], shape, experiment.seed, experiment.time.end)
            experiment.check_pauses(steps)
        except PydanticCustomError as error:
            raise BadInput(error.message()) from None
        return steps

    def change(self, settings: Mapping[str, Value]) -> None:
        """All at once. Raises BadInput, and then none has changed."""
        changes = self.edits.read(settings)
        rows, thresholds = self._thresholds(changes)
        if len(rows):
            kmin, kmax, pmax = thresholds[:, rows]
            self.queues.set_thresholds(kmin, kmax, pmax, np.array(rows))
        for one in changes:
            self._make(one)

    def check(self, settings: Mapping[str, Value]) -> None:
        """Raises BadInput if they could not change now."""
        self._thresholds(self.edits.read(settings))

    def _thresholds(self, changes: Sequence[Change]) -> tuple[list[int], Floats]:
        """Of all queues, afterwards, and the rows that change."""
        told, rows = self.queues.thresholds.copy(), set[int]()
        for one in changes:
            if isinstance(one, Threshold):
                told[THRESHOLDS.index(one.name), list(one.rows)] = one.value
                rows |= {*one.rows}
        kmin, kmax, _ = told
        for row in sorted(rows):
            if kmin[row] > kmax[row]:
                above = f"Kmin {show_size(kmin[row])} would be above Kmax {show_size(kmax[row])}"
                raise BadInput(f"{self.resolved.layout.queue_names[row]}: {above}; set both")
        return sorted(rows), told

    def _set_rate(self, one: OfLink) -> None:
        self.rack.set_rate(one.link, one.value)
        shape = self.resolved.layout.shape
        link, several = shape.find(one.link), len(self.queues.index) // len(self.ports.index)
        share = one.value / link.rate
        for port in (shape.position[link.low.interface], shape.position[link.high.interface]):
            self.ports.set_rate(slice(port, port + 1), share)
            if self.queues is not self.ports:
                self.queues.set_rate(slice(several * port, several * (port + 1)), share)

    def _make(self, one: Change) -> None:
        if isinstance(one, Weight) and self.classes:
            changed = self.classes.queues[one.queue].model_copy(update={"weight": one.value})
            self.classes = replace(self.classes, queues={**self.classes.queues, one.queue: changed})
            self.rack.set_weights(self.classes)
        elif isinstance(one, Alpha):
            rows = [self.rack.row(port, one.number) for port in one.ports]
            self.rack.shares(one.of_group)["alpha"][rows] = round(one.value * (1 << wire.ALPHA_SHIFT))
        elif isinstance(one, OfLink) and one.setting == "rate":
            self._set_rate(one)
        elif isinstance(one, OfLink):
            (self.rack.set_loss if one.setting == "loss" else self.rack.set_delay)(one.link, one.value)
        elif isinstance(one, Option):
            self.edits.configs[one.decider] = one.config
            self.senders.configure(one.decider, one.config.model_dump(mode="json"))


def accept(schedule: EventSchedule, changes: Changes, edit: Edit, now: float) -> Edited:
    """Make an event of it at the next whole microsecond: a run again, which knows it before, does the same then."""
    at = (math.floor(now * 1e6) + 1) / 1e6
    try:
        event = event_of(edit.settings, at)
        steps = changes.planned([*schedule.added, event])
        changes.check(event.set)
    except BadInput as error:
        return Edited(edit.number, problem=str(error))
    schedule.add(event, steps)
    return Edited(edit.number, at, next(step.said for step in steps if step.at == at))
