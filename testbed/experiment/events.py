"""The `events:` block of an experiment file: links that fail and come back, settings that change while traffic goes on.

`testbed set` makes such an event of a run that goes on.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple, Protocol, Self

import numpy as np
from pydantic import AfterValidator, Field, ValidationError, model_validator

from testbed.base.problems import problem
from testbed.errors import BadInput, nearest
from testbed.experiment.block import Moment, Part, refuse
from testbed.experiment.topology.shape import Link, Shape
from testbed.experiment.topology.tables import Tables
from testbed.units import RATIO_UNITS, TIME_UNITS, exactly, parse, show_time

log = logging.getLogger(__package__)
ALL = "all"
Value = str | int | float | bool  # as in YAML


@dataclass(frozen=True)
class Event:
    """Something that the experiment did to the rack while traffic went on."""

    time: float
    what: str  # "link down leaf1-spine1", and between whom no path is left


def _link_or_share(value: str) -> str:
    if value.rstrip().endswith("%"):
        share = parse(value, RATIO_UNITS, "a share")
        if not 0 < share <= 1:
            raise ValueError(f"must be above 0 % and at most 100 %, got {value}")
    return value


class EventSpec(Part):
    """Links that fail and come back, settings that change: one of `down`, `up` and `set`."""

    at: Moment = Field(description="When it happens.")
    down: Annotated[str, AfterValidator(_link_or_share)] | None = Field(
        default=None,
        description="The link that fails: `leaf1-spine1`, or `h3-leaf1` of a host; or a share of those between "
        "switches, `10 %`, chosen by the seed.",
    )
    up: str | None = Field(default=None, description="The link that comes back up, or `all` that are down.")
    set: dict[str, Value] = Field(
        default={}, description="Settings that change, as `testbed set` takes them: `{q3.kmin: 100 kB, q3.weight: 2}`."
    )
    detected_after: Moment = Field(default=0.0, description="How long switches keep their routes.")

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if (self.down is not None) + (self.up is not None) + bool(self.set) != 1:
            refuse("down", "give one of down, up and set")
        if self.set and self.detected_after:
            refuse("detected_after", "is of down and up: nobody detects a setting; leave it out")
        return self


class Step(NamedTuple):
    """One event, with its links chosen."""

    at: float  # s
    verb: str  # "down", "up", "set", or "reroute": the switches have detected it
    links: tuple[str, ...] = ()
    settings: Mapping[str, Value] = {}
    cut_off: tuple[tuple[str, str], ...] = ()  # switches between whose hosts no path is left then

    @property
    def said(self) -> str:
        """For people."""
        if self.settings:
            return f"set {', '.join(f'{key}={value}' for key, value in self.settings.items())}"
        said = f"link {self.verb} {', '.join(self.links)}"
        if not self.cut_off:
            return said
        (one, other), more = self.cut_off[0], len(self.cut_off) - 1
        return f"{said}; no path from {one} to {other}{f' and of {more} other pairs' * (more > 0)}"


def plan(events: Sequence[EventSpec], shape: Shape, seed: int, end: float) -> list[Step]:
    """All steps in order of time. Refuses, by the block's list, what cannot happen."""
    failed: list[str] = []
    steps = []
    tables: Tables | None = None
    trunks, names = ([_name(link) for link in links] for links in (shape.trunks, shape.links))
    for number, event in sorted(enumerate(events), key=lambda item: item[1].at):
        if event.at >= end:
            refuse(f"events.{number}.at", f"is not before time.duration ({show_time(end)})")
        if event.set:
            steps.append(Step(event.at, "set", settings=event.set))
            continue
        verb = "up" if event.down is None else "down"
        key = f"events.{number}.{verb}"
        if not trunks and (event.down or "").rstrip().endswith("%"):
            refuse(key, "this rack has no links between switches; see rack.kind")
        tables = tables or Tables(shape)
        intact = [name for name in trunks if name not in failed]
        if event.down is not None:
            chosen = _chosen(event.down, intact, len(trunks), np.random.default_rng((seed, number)))
        else:
            chosen = list(failed) if event.up == ALL else [event.up or ""]
        chosen = [_known(key, name, shape, trunks or names) for name in chosen]
        if not chosen:
            state = "every link is already down" if event.down else "no link is down"
            refuse(key, f"{state} at {show_time(event.at)}")
        wrong = [name for name in chosen if (name in failed) == (event.down is not None)]
        if wrong:
            refuse(key, f"{wrong[0]} is {'already' if event.down else 'not'} down at {show_time(event.at)}")
        failed = [*failed, *chosen] if event.down else [name for name in failed if name not in chosen]
        for name in chosen:
            (tables.link_down if event.down else tables.link_up)(name)
        steps.append(Step(event.at, verb, tuple(chosen), cut_off=tuple(tables.cut_off())))
        steps.append(Step(event.at + event.detected_after, "reroute", tuple(chosen)))
    return sorted(steps, key=lambda step: step.at)


def event_of(settings: Mapping[str, Value], at: float) -> EventSpec:
    """What `testbed set` asks for. Raises BadInput."""
    own = {key: settings[key] for key in ("down", "up", "detected_after") if key in settings}
    rest = {key: value for key, value in settings.items() if key not in own}
    try:
        return EventSpec.model_validate({"at": exactly(at, TIME_UNITS), **own, "set": rest})
    except ValidationError as error:
        first = error.errors()[0]
        raise BadInput(f"{(first.get('ctx') or {}).get('key') or first['loc'][0]}: {problem(first)}") from None


def _chosen(down: str, intact: list[str], links: int, random: np.random.Generator) -> list[str]:
    if not down.rstrip().endswith("%"):
        return [down]
    count = min(len(intact), max(1, round(parse(down, RATIO_UNITS, "a share") * links)))
    return [intact[place] for place in sorted(random.permutation(len(intact))[:count].tolist())]


def _known(key: str, name: str, shape: Shape, names: list[str]) -> str:
    try:
        link = shape.find(name)
    except KeyError:
        refuse(key, f"no link is named '{name}'; {nearest(name, names)}")
    return _name(link)


def _name(link: Link) -> str:
    return f"{link.low.node}-{link.high.node}"


class Changeable(Protocol):
    """A rack, as events change it."""

    def link_down(self, name: str) -> None:
        """A link fails: packets on it or sent into it are lost."""
        ...

    def link_up(self, name: str) -> None:
        """It comes back; until `reroute` no switch uses it."""
        ...

    def reroute(self, links: Sequence[str]) -> None:
        """The switches detect the state of these links."""
        ...

    def change(self, settings: Mapping[str, Value]) -> None:
        """All at once. Raises BadInput, and then none has changed."""
        ...


class EventSchedule:
    """Makes the events of a run happen. ``next`` is the nominal time of the next one."""

    def __init__(self, steps: Sequence[Step], rack: Changeable) -> None:
        self._steps, self._rack, self._gone = list(steps), rack, 0
        self._do = {"down": rack.link_down, "up": rack.link_up}
        self.done: list[Event] = []  # with the time at which each really happened
        self.added: list[EventSpec] = []  # while it went on

    @property
    def next(self) -> float:
        return self._steps[0].at if self._steps else math.inf

    def add(self, event: EventSpec, steps: Sequence[Step]) -> None:
        """One more, which is not due yet, and the steps of all with it."""
        self.added.append(event)
        self._steps = list(steps[self._gone :])

    def step(self, now: float) -> None:
        """Do what is due."""
        while self._steps and self._steps[0].at <= now:
            one, *self._steps = self._steps
            self._gone += 1
            log.info("event", extra={"what": one.said, "at": show_time(one.at)})
            if one.verb == "reroute":
                self._rack.reroute(one.links)
            elif one.settings:
                self.done.append(Event(now, one.said + self._change(one.settings)))
            else:
                for link in one.links:
                    self._do[one.verb](link)
                self.done.append(Event(now, one.said))
            if one.cut_off:
                log.warning("%s: packets between their hosts are lost", one.said)

    def _change(self, settings: Mapping[str, Value]) -> str:
        """Why nothing has changed; empty if all has."""
        try:
            self._rack.change(settings)
        except BadInput as error:
            log.warning("%s", error)
            return f": refused, {error}"
        return ""
