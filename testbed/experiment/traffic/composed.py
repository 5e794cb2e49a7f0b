"""Patterns made of others: several at once, or one after the other."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, model_validator

from testbed.base.inputs import Input
from testbed.experiment.block import ChosenBy, Moment, Part, refuse
from testbed.experiment.traffic.all_to_all import AllToAll
from testbed.experiment.traffic.flow import Payload
from testbed.experiment.traffic.incast import Incast
from testbed.experiment.traffic.jobs import OneJob
from testbed.experiment.traffic.jobs.several import Jobs
from testbed.experiment.traffic.listed import FlowList
from testbed.experiment.traffic.long_short import LongShort
from testbed.experiment.traffic.osu import OsuAllToAll
from testbed.experiment.traffic.pattern import Context, Keys, Pattern, one_payload
from testbed.experiment.traffic.plan import Plan
from testbed.experiment.traffic.poisson import Poisson
from testbed.experiment.traffic.tracefile import TraceFile

Simple = Annotated[
    Incast | AllToAll | LongShort | OsuAllToAll | OneJob | Jobs | Poisson | TraceFile | FlowList,
    ChosenBy("pattern"),
]

JOBS = {name for job in (*get_args(OneJob), Jobs) for name in get_args(job.model_fields["pattern"].annotation)}


def usual_payload(patterns: Iterable[Any]) -> str:
    """What a job among ``patterns``, as a file has them, has alone; else what all others have."""
    return "4096 B" if any(isinstance(one, dict) and one.get("pattern") in JOBS for one in patterns) else "1 kB"


class Composed(Pattern):
    """What `mix` and `phases` have in common."""

    payload: Payload = Field(
        default=1000.0, description="User data in a full packet; with a job among the parts by default 4096 B."
    )

    @abstractmethod
    def members(self) -> list[Pattern]:
        """The patterns within."""

    @abstractmethod
    def key_of(self, number: int) -> str:
        """Where the file has one of them."""

    @abstractmethod
    def contexts(self, context: Context) -> list[tuple[float, Context]]:
        """When each begins, and what it is expanded for."""

    def hosts_needed(self) -> int:
        """As many as the neediest."""
        return max(one.hosts_needed() for one in self.members())

    def flow_count(self, context: Context) -> float:
        """All together."""
        found = zip(self.members(), self.contexts(context), strict=True)
        return sum(one.flow_count(inner) for one, (_, inner) in found)

    def plan(self, context: Context) -> Plan:
        """The flows of all."""
        found = zip(self.members(), self.contexts(context), strict=True)
        return Plan.joined(
            [self.begun(one.marked(one.plan(inner)).later(begin), begin + inner.end) for one, (begin, inner) in found]
        )

    def begun(self, plan: Plan, _end: float) -> Plan:
        """What of one pattern really starts before it is over."""
        return plan

    def notes(self) -> list[str]:
        """Of all."""
        return list(dict.fromkeys(note for one in self.members() for note in one.notes()))

    def inputs(self) -> list[Input]:
        """Of all."""
        return [file.within(self.key_of(n)) for n, one in enumerate(self.members()) for file in one.inputs()]

    @property
    def blamed(self) -> Keys:
        """Hosts: of the one that needs most. All of them make flows."""
        needs = [one.hosts_needed() for one in self.members()]
        worst = needs.index(max(needs))
        every = self.key_of(0).partition(".")[0]
        return Keys(f"{self.key_of(worst)}.{self.members()[worst].blamed.hosts}", every, every)


class Mix(Composed):
    """Several patterns at once."""

    pattern: Literal["mix"] = Field(description="`mix`")
    parts: Annotated[list[Simple], Field(min_length=1)] = Field(
        description="The patterns, each with its own keys; `payload` is given once for all."
    )

    def members(self) -> list[Pattern]:
        """The patterns within."""
        return list(self.parts)

    def named(self, hosts: Mapping[str, str]) -> Self:
        """Of all."""
        return self.model_copy(update={"parts": [one.named(hosts) for one in self.parts]})

    def key_of(self, number: int) -> str:
        """Where the file has one of them."""
        return f"parts.{number}"

    alone: str = Field(
        default="",
        description="A job: all but its flows are left out, and it stays on its hosts; see `testbed run --alone`.",
    )

    def plan(self, context: Context) -> Plan:
        """The flows of all, or of one job."""
        return super().plan(context).only(self.alone)

    def contexts(self, context: Context) -> list[tuple[float, Context]]:
        """All begin at 0."""
        return [(0.0, context.part(number)) for number in range(len(self.parts))]

    def links_filled(self, context: Context) -> float:
        """All together, but no more than there are hosts."""
        filled = sum(
            one.links_filled(inner) for one, (_, inner) in zip(self.parts, self.contexts(context), strict=True)
        )
        return min(filled, context.hosts)

    @model_validator(mode="before")
    @classmethod
    def _payload_of_all(cls, data: Any) -> Any:
        if not isinstance(data, dict) or not isinstance(data.get("parts"), list):
            return data
        data = {"payload": usual_payload(data["parts"]), **data}
        parts = [one_payload(part, data["payload"], f"parts.{i}") for i, part in enumerate(data["parts"])]
        return {**data, "parts": parts}


class Phase(Part):
    """One of several patterns that follow each other."""

    start: Moment = Field(description="When it begins; the pattern's own times count from here.")
    traffic: Simple = Field(description="A pattern with its own keys; `payload` is given once for all.")


class Phases(Composed):
    """Patterns that follow each other; flows of the old one that run go on."""

    pattern: Literal["phases"] = Field(description="`phases`")
    parts: Annotated[list[Phase], Field(min_length=1)] = Field(description="The phases, in the order of their starts.")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        for i, (before, after) in enumerate(pairwise(self.parts)):
            if after.start <= before.start:
                refuse(f"parts.{i + 1}.start", "each phase must start after the one before")
        return self

    def members(self) -> list[Pattern]:
        """The patterns within."""
        return [phase.traffic for phase in self.parts]

    def named(self, hosts: Mapping[str, str]) -> Self:
        """Of all."""
        parts = [one.model_copy(update={"traffic": one.traffic.named(hosts)}) for one in self.parts]
        return self.model_copy(update={"parts": parts})

    def key_of(self, number: int) -> str:
        """Where the file has one of them."""
        return f"parts.{number}.traffic"

    def contexts(self, context: Context) -> list[tuple[float, Context]]:
        """Each until the next begins, or the run ends."""
        borders = [*(min(phase.start, context.end) for phase in self.parts), context.end]
        return [(begin, context.part(number, end - begin)) for number, (begin, end) in enumerate(pairwise(borders))]

    def begun(self, plan: Plan, end: float) -> Plan:
        """What would start after its phase is over is left out; what waits for others goes on if they began."""
        return plan.begun(end)

    def links_filled(self, context: Context) -> float:
        """Of the busiest phase."""
        return max(
            one.links_filled(inner) for one, (_, inner) in zip(self.members(), self.contexts(context), strict=True)
        )

    @model_validator(mode="before")
    @classmethod
    def _payload_of_all(cls, data: Any) -> Any:
        if not isinstance(data, dict) or not isinstance(data.get("parts"), list):
            return data
        usual = usual_payload(phase.get("traffic") for phase in data["parts"] if isinstance(phase, dict))
        data = {"payload": usual, **data}
        parts = [
            {**phase, "traffic": one_payload(phase["traffic"], data["payload"], f"parts.{i}.traffic")}
            if isinstance(phase, dict) and "traffic" in phase
            else phase
            for i, phase in enumerate(data["parts"])
        ]
        return {**data, "parts": parts}
