"""What `testbed replay` found: per agent how far the decisions were the same, and where they first differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from testbed.units import show_time

UNITS = {"rate": "bit/s", "window": "B", "timer": "s"}


@dataclass(frozen=True)
class Difference:
    """The first row that was decided differently."""

    call: int  # of the agent, from 0
    time: float  # nominal s
    kind: str
    flow: str
    recorded: dict[str, Any]
    now: dict[str, Any]
    told: dict[str, Any]  # what the controller was told of the flow in this call


@dataclass(frozen=True)
class Replayed:
    """One agent: how far its decisions were the same."""

    agent: int
    calls: int
    rows: int
    compared_calls: int
    compared_rows: int
    difference: Difference | None


@dataclass(frozen=True)
class Replay:
    """All agents of a run."""

    controller: str
    agents: list[Replayed]
    notes: list[str] = field(default_factory=list)

    @property
    def identical(self) -> bool:
        """Whether every decision was the same."""
        return all(one.difference is None for one in self.agents)

    def as_dict(self) -> dict[str, Any]:
        """For JSON; what JSON has no number for is text."""
        return {"identical": self.identical, **asdict(self)}

    def as_lines(self) -> Iterator[str]:
        """For people."""
        yield from (f"note: {note}" for note in self.notes)
        for one in self.agents:
            compared = f"agent {one.agent}: {one.compared_calls} calls, {one.compared_rows} rows compared"
            if one.difference is None:
                yield f"{compared}: identical"
                continue
            first = one.difference
            yield f"{compared} of {one.calls} calls: first difference"
            yield f"  call {first.call}, {first.kind} at {show_time(first.time)}, flow {first.flow}"
            for name, unit in UNITS.items():
                then, now = first.recorded[name], first.now[name]
                mark = "" if then == now else "   <--"
                yield f"  {name:7}recorded {then} {unit}, now {now} {unit}{mark}"
            yield f"  told: {', '.join(f'{name}={value}' for name, value in first.told.items()) or 'nothing more'}"
