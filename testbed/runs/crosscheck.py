"""`testbed crosscheck`: one experiment on several engines, and by how much their figures differ."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from testbed.base.arrays import Floats
from testbed.dataplane.shaper import BURST_FRAMES
from testbed.engines.kernel import doctor
from testbed.errors import BadInput, TestbedError
from testbed.experiment.resolved import Resolved
from testbed.live.observers import Observer
from testbed.results import folder
from testbed.results.figures.registry import Figure
from testbed.results.record import EngineName
from testbed.results.summary import FIGURES, Summary
from testbed.runs.carrier import carrier
from testbed.runs.run import execute
from testbed.runs.same import Difference, other_course

ENGINES: tuple[EngineName, ...] = ("fluid", "virtual", "live", "kernel")
REFERENCES: tuple[EngineName, ...] = ("kernel", "virtual")  # the first that is clean
CHANCE = 2  # standard deviations of the difference between two runs


def _heard_late(kernel: Summary) -> float:
    """s by which packets left and feedback was heard late, at the 99th percentile."""
    return kernel.pacing_lag_p99 + kernel.feedback_lag_p99


def _line_lost(kernel: Summary) -> float:
    """% of the window in which the bottleneck's shaper did not send what it had, and in which senders stood still."""
    late = 8 * kernel.stalled_bytes / kernel.bottleneck_rate
    return 100 * (late + kernel.pacing_lag_max) / (kernel.window_end - kernel.window_start)


@dataclass(frozen=True)
class Bound:
    """By how much a figure may differ: the largest of all. ``packets`` are times at the bottleneck's rate.

    ``rack`` and, for each link of the longest path, ``per_link`` are packets that the kernel's shapers add or take by
    themselves; ``late`` is what late timers do. This is no part of the bound: who is outside by no more is told so.
    """

    figure: str
    relative: float = 0.0
    absolute: float = 0.0
    packets: float = 0.0
    rack: float = 0.0
    per_link: float = 0.0
    late: Callable[[Summary], float] | None = None  # of the kernel's run, in the figure's unit

    def of(self, reference: float, packet: float) -> float:
        """In the figure's unit; ``packet`` is the time of a full one, s."""
        return max(self.relative * abs(reference), self.absolute, self.packets * packet)

    def shaped(self, packet: float, links: int, kernel: Summary | None) -> float:
        """By how much the rack may shift the figure, in its unit."""
        late = self.late(kernel) if self.late and kernel else 0.0
        return packet * (self.rack + self.per_link * links) + late


BUCKET = BURST_FRAMES  # what passes a shaper at once: the RTT shows that much of a queue less
BOUNDS = (
    Bound("su", absolute=1.0, late=_line_lost),
    Bound("ql_mean", relative=0.05, packets=1.0, rack=BUCKET + 2),  # by which shaper and virtual queue may differ
    Bound("rtt_p50", relative=0.005, per_link=BUCKET),
    Bound("rtt_p99", relative=0.03, per_link=BUCKET, late=_heard_late),
    Bound("marks", relative=0.05),
    Bound("trims", relative=0.05),
    Bound("resent", relative=0.05, absolute=0.1),
    Bound("pause_frames", relative=0.05, absolute=2.0),  # a pause and its end
    Bound("slowdown_p99", relative=0.05),
    Bound("iteration_mean", relative=0.02),
)
BESIDE = ("jain_flows", "drops_in_run", "fct_finished")  # told without a bound


@dataclass(frozen=True)
class Told:
    """One figure on all engines that ran. ``bound`` is nan for one without."""

    figure: Figure
    values: dict[EngineName, float]
    reference: EngineName
    bound: float
    chance: float  # by how much two runs may differ that are the same but for chance
    rack: float = 0.0  # by how much the kernel's rack shapes it itself

    @property
    def label(self) -> str:
        """For the table; some figures have a name only."""
        return self.figure.label or self.figure.name

    @property
    def allowed(self) -> float:
        """The bound, or what chance alone does."""
        return max(self.bound, self.chance)

    def difference(self, engine: EngineName) -> float:
        """To the reference."""
        return self.values[engine] - self.values[self.reference]

    @property
    def outside(self) -> list[EngineName]:
        """The engines that differ by more than is allowed."""
        return [one for one in self.values if abs(self.difference(one)) > self.allowed]  # never if it is nan

    @property
    def shaped(self) -> list[EngineName]:
        """Those outside that differ from the kernel by no more than what its emulation does to the figure."""
        near = [one for one in self.outside if abs(self.difference(one)) <= self.allowed + self.rack]
        return [one for one in near if "kernel" in (one, self.reference)]


@dataclass(frozen=True)
class Crosscheck:
    """``ran`` has a summary per engine, ``cannot`` why the others have none; ``seeds`` the virtual engine's runs."""

    ran: dict[EngineName, Summary]
    cannot: dict[EngineName, str]
    seeds: Sequence[Summary]
    packet: float  # s that a full one takes at the bottleneck
    links: int  # of the longest path, one way
    folder: Path
    other: Difference | None = None  # between the virtual and the live engine, which must decide the same

    @property
    def reference(self) -> EngineName | None:
        """What the others are held against; none if nothing that carries packets is clean."""
        clean = [one for one in REFERENCES if one in self.ran and not self.ran[one].verdict.reasons]
        return clean[0] if clean else None

    @property
    def figures(self) -> list[Told]:
        """Those that are known on the reference. Without one there is nothing to hold against."""
        return list(self._figures(self.reference)) if self.reference else []

    def _figures(self, reference: EngineName) -> Iterator[Told]:
        bounds = {bound.figure: bound for bound in BOUNDS}
        for name in (*bounds, *BESIDE):
            values = {engine: float(getattr(summary, name)) for engine, summary in self.ran.items()}
            if not np.nansum(list(values.values())) or not math.isfinite(values[reference]):
                continue
            bound = bounds[name].of(values[reference], self.packet) if name in bounds else math.nan
            rack = bounds[name].shaped(self.packet, self.links, self.ran.get("kernel")) if name in bounds else 0.0
            yield Told(FIGURES[name], values, reference, bound, self._chance(name, values[reference]), rack)

    def _chance(self, name: str, value: float) -> float:
        """From seed to seed on the virtual engine; and a count of draws, as marks are, has its own spread."""
        values: Floats = np.array([getattr(one, name) for one in self.seeds], float)
        deviation = float(values.std(ddof=1)) if len(values) > 1 else 0.0
        drawn = math.sqrt(value) if name == "marks" else 0.0
        return CHANCE * math.sqrt(2) * max(deviation, drawn)

    @property
    def agrees(self) -> bool:
        """All engines that ran are clean, and every figure is within its bound."""
        clean = not any(summary.verdict.reasons for summary in self.ran.values())
        return clean and not self.other and bool(self.figures) and not any(one.outside for one in self.figures)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        runs = {engine: {"verdict": summary.verdict.model_dump(mode="json")} for engine, summary in self.ran.items()}
        return {
            "agrees": self.agrees,
            "reference": self.reference,
            "seeds": len(self.seeds),
            "live_differs": str(self.other) if self.other else None,
            "runs": runs | {engine: {"cannot": why} for engine, why in self.cannot.items()},
            "figures": [
                {
                    "name": one.figure.name,
                    "unit": one.figure.unit,
                    "values": one.values,
                    "bound": one.bound,
                    "chance": one.chance,
                    "outside": one.outside,
                    "shaped": one.shaped,
                }
                for one in self.figures
            ],
        }


def crosscheck(
    make: Callable[[EngineName, int | None], Resolved],
    engines: Sequence[EngineName],
    out: Path | None,
    observer: Observer,
    *,
    seeds: int,
) -> Crosscheck:
    """Run it on each, and ``seeds`` times on the virtual one.

    ``make`` gives the experiment as an engine runs it, with another seed if one is named. Raises BadInput if no engine
    can run it, and TestbedError if a run fails.
    """
    able, cannot = _checked(make, engines)
    resolved = next(iter(able.values()))
    experiment = resolved.experiment
    target = folder.prepare(out, f"crosscheck-{experiment.name}-{resolved.title.replace(' + ', '-')}")
    ran: dict[EngineName, Summary] = {}
    for name, its in able.items():
        observer.on_stage(f"{name} engine")
        ran[name] = execute(carrier(name), its, target / name, observer).summary
    others = [
        execute(carrier("virtual"), make("virtual", seed), target / f"virtual,seed={seed}", observer).summary
        for seed in range(experiment.seed + 1, experiment.seed + seeds)
        if "virtual" in ran
    ]
    port = resolved.layout.shape.ports[resolved.layout.bottleneck]
    packet = 8 * resolved.layout.framing.wire_size / port.link.rate
    links = int(resolved.layout.paths.hops.max()) + 1
    seen = [ran["virtual"], *others] if "virtual" in ran else []
    other = other_course(target / "virtual", target / "live") if {"virtual", "live"} <= {*ran} else None
    return Crosscheck(ran, cannot, seen, packet, links, target, other)


def _checked(
    make: Callable[[EngineName, int | None], Resolved], engines: Sequence[EngineName]
) -> tuple[dict[EngineName, Resolved], dict[EngineName, str]]:
    """The experiments of engines that can run it, and why the others cannot."""
    able: dict[EngineName, Resolved] = {}
    cannot: dict[EngineName, str] = {}
    for name in engines:
        try:
            resolved = make(name, None)
            if name == "kernel":
                doctor.require()
            carrier(name).check(resolved)
        except TestbedError as refusal:
            cannot[name] = str(refusal)
        else:
            able[name] = resolved
    if not able:
        raise BadInput("\n".join(dict.fromkeys(cannot.values())))  # a mistake in the file is told once
    return able, cannot
