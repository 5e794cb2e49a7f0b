"""The `events:` block of an experiment file: links between switches that fail and come back while traffic goes on."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple, Self

import numpy as np
from pydantic import AfterValidator, Field, model_validator

from testbed.errors import nearest
from testbed.experiment.block import Moment, Part, refuse
from testbed.experiment.topology.shape import Link, Shape
from testbed.units import RATIO_UNITS, parse, show_time

log = logging.getLogger(__package__)
ALL = "all"


@dataclass(frozen=True)
class Event:
    """Something that the experiment did to the rack while traffic went on."""

    time: float
    what: str  # "cut leaf1-spine1"


def _link_or_share(value: str) -> str:
    if value.rstrip().endswith("%"):
        share = parse(value, RATIO_UNITS, "a share")
        if not 0 < share <= 1:
            raise ValueError(f"must be above 0 % and at most 100 %, got {value}")
    return value


class EventSpec(Part):
    """One event: say `cut` or `mend`."""

    at: Moment = Field(description="When it happens.")
    cut: Annotated[str, AfterValidator(_link_or_share)] | None = Field(
        default=None,
        description="The link between switches that fails, such as `leaf1-spine1`; or a share of all of them such as "
        "`10 %`, at least one, chosen by the seed. What is on it is lost, and other paths are taken.",
    )
    mend: str | None = Field(default=None, description="The link that is back, or `all` that are cut.")
    detected_after: Moment = Field(
        default=0.0,
        description="How long the switches take to notice it. Until then they keep their routes, and what goes to a "
        "link that is cut is lost.",
    )

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if (self.cut is None) == (self.mend is None):
            refuse("cut", "say either cut or mend")
        return self


class Step(NamedTuple):
    """One event, with its links chosen."""

    at: float  # s
    verb: str  # "cut", "mend", or "reroute": the switches have noticed
    links: tuple[str, ...]


def plan(events: Sequence[EventSpec], shape: Shape, seed: int, end: float) -> list[Step]:
    """What happens, in order of time. Refuses, for the block's list, what cannot happen."""
    dead: list[str] = []
    steps = []
    names = [_name(link) for link in shape.trunks]
    for number, event in sorted(enumerate(events), key=lambda item: item[1].at):
        if event.at >= end:
            refuse(f"events.{number}.at", f"is not before time.duration ({show_time(end)})")
        key = f"events.{number}.{'cut' if event.cut else 'mend'}"
        if not names:
            refuse(key, "this rack has no links between switches; see rack.kind")
        whole = [name for name in names if name not in dead]
        if event.cut is not None:
            chosen = _chosen(event.cut, whole, len(names), np.random.default_rng((seed, number)))
        else:
            chosen = list(dead) if event.mend == ALL else [event.mend or ""]
        chosen = [_known(key, name, shape, names) for name in chosen]
        if not chosen:
            state = "every link is cut already" if event.cut else "no link is cut"
            refuse(key, f"{state} at {show_time(event.at)}")
        wrong = [name for name in chosen if (name in dead) == (event.cut is not None)]
        if wrong:
            refuse(key, f"{wrong[0]} {'is cut already' if event.cut else 'is not cut'} at {show_time(event.at)}")
        dead = [*dead, *chosen] if event.cut else [name for name in dead if name not in chosen]
        steps.append(Step(event.at, "cut" if event.cut else "mend", tuple(chosen)))
        steps.append(Step(event.at + event.detected_after, "reroute", tuple(chosen)))
    return sorted(steps, key=lambda step: step.at)


def _chosen(cut: str, whole: list[str], links: int, random: np.random.Generator) -> list[str]:
    if not cut.rstrip().endswith("%"):
        return [cut]
    count = min(len(whole), max(1, round(parse(cut, RATIO_UNITS, "a share") * links)))
    return [whole[place] for place in sorted(random.permutation(len(whole))[:count].tolist())]


def _known(key: str, name: str, shape: Shape, names: list[str]) -> str:
    try:
        link = shape.find(name)
    except KeyError:
        refuse(key, f"no link is named '{name}'; {nearest(name, names)}")
    if link not in shape.trunks:
        refuse(key, f"{name} is not a link between switches; {nearest(name, names)}")
    return _name(link)


def _name(link: Link) -> str:
    return f"{link.low.node}-{link.high.node}"


class Timetable:
    """Makes the events of a run happen. ``next`` is the nominal time of the next one."""

    def __init__(
        self,
        steps: list[Step],
        cut: Callable[[str], None],
        mend: Callable[[str], None],
        reroute: Callable[[Sequence[str]], None],
    ) -> None:
        self._steps = steps
        self._do = {"cut": cut, "mend": mend}
        self._reroute = reroute
        self.done: list[Event] = []  # with the time at which it really happened
        self.next = steps[0].at if steps else math.inf

    def step(self, now: float) -> None:
        """Do what is due."""
        while self._steps and self._steps[0].at <= now:
            one, *self._steps = self._steps
            log.info("event", extra={"verb": one.verb, "links": ",".join(one.links), "at": show_time(one.at)})
            if one.verb == "reroute":
                self._reroute(one.links)
                continue
            for link in one.links:
                self._do[one.verb](link)
            self.done.append(Event(now, f"{one.verb} {', '.join(one.links)}"))
        self.next = self._steps[0].at if self._steps else math.inf
