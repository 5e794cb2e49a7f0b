"""A result's experiment again; where packets are simulated, whether it leaves the same bits."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from testbed.engines.engine import Engine
from testbed.errors import TestbedError
from testbed.experiment.load import Loaded, recorded
from testbed.experiment.resolved import Resolved
from testbed.live.observers import Observer
from testbed.results import brought, folder, packed
from testbed.results.again import differences
from testbed.results.manifest import Manifest
from testbed.results.trust import Guard
from testbed.results.verdict import ENDED_EARLY, Verdict
from testbed.runs.carrier import carrier
from testbed.runs.overrides import overridden
from testbed.runs.plan import Planned, plan
from testbed.runs.run import CTRL_C
from testbed.runs.same import Difference, first_difference, other_course

SIMULATED = ("virtual", "live")


@dataclass(frozen=True)
class Result:
    """A results folder that is to be run again: one of this machine, or what a report carried."""

    name: Path  # as the user gave it
    folder: Path
    trusted: bool  # plugins that it brings may run

    @classmethod
    def at(cls, path: Path, *, trusted: bool) -> Result:
        """Raises BadInput if there is none."""
        return cls(path, packed.at(path.expanduser()), trusted)

    @cached_property
    def manifest(self) -> Manifest:
        """Raises BadInput."""
        return folder.load_manifest(self.folder)

    @cached_property
    def held(self) -> Mapping[str, Any]:
        """The experiment, which finds its own files in the result."""
        return brought.experiment(self.folder, self.manifest)

    def loaded(self) -> Loaded:
        """The experiment, to be changed or resolved. Raises BadInput."""
        guard = Guard.of(self.name, self.folder, self.manifest, self.held, trusted=self.trusted)
        return recorded(self.held, str(self.name), guard.admit)

    def differs(self, now: Resolved) -> list[str]:
        """What is not as it was, a line each."""
        there = brought.changed(self.folder, self.manifest)
        return [*differences(self.manifest, self.held, now), *(f"{file} has changed; not used here" for file in there)]

    def not_comparable(self) -> str:
        """Why another run cannot leave the same bits; empty if it must."""
        verdict, engine = self.manifest.verdict, self.manifest.engine
        if engine not in SIMULATED:
            return f"it is of --engine {engine}; only the virtual and the live engine leave the same bits again"
        if self.manifest.apps:
            return "it had apps, and what those send no engine repeats"
        if verdict and _ended_by_user(verdict):
            return f"it was ended by {CTRL_C}, at a moment that nothing repeats"
        return ""

    @property
    def compares(self) -> Callable[[Path, Path, Mapping[str, str]], Difference | None]:
        """Its results with those of its run again. How late a live run was is of the machine, and no difference."""
        return other_course if self.manifest.engine == "live" else first_difference

    @property
    def same(self) -> str:
        """What is, if nothing differs."""
        if self.manifest.engine == "live":
            return "every decision and every sample"
        return "every table, every capture, and the summary but for wall time"

    def plan(
        self, lab: Engine | None, plugins: Mapping[str, str], options: Mapping[str, str], settings: Sequence[str]
    ) -> Planned:
        """Its run, captures included, with these changes (see `overridden`). Raises BadInput."""
        resolved = overridden(self.loaded(), plugins, options, settings)
        engine = lab or carrier(resolved.experiment.engine)
        kept = [one for one in self.manifest.captures if not one["problem"]]
        pcap, snap = [one["point"] for one in kept], f"{kept[0]['snap']} B" if kept else ""
        return plan(engine, resolved, pcap if engine.name in ("kernel", "virtual", "live") else [], snap)

    def repeat(self, planned: Planned, out: Path | None, observer: Observer) -> Difference | None:
        """Run it again, into ``out`` if that is given; the first difference, or None. Raises TestbedError."""
        if out is not None:
            return self._compared(planned, out, observer)
        record = planned.resolved.experiment.record.model_copy(update={"report": False})  # nobody will see it
        experiment = planned.resolved.experiment.model_copy(update={"record": record})
        unseen = replace(planned, resolved=replace(planned.resolved, experiment=experiment))
        with tempfile.TemporaryDirectory() as scratch:
            return self._compared(unseen, Path(scratch) / "again", observer)

    def _compared(self, planned: Planned, out: Path, observer: Observer) -> Difference | None:
        outcome = planned.execute(out, observer)
        if _ended_by_user(outcome.summary.verdict):
            raise TestbedError(f"{CTRL_C}: nothing is compared")
        return self.compares(self.folder, outcome.folder, self.manifest.sha256)


def _ended_by_user(verdict: Verdict) -> bool:
    return any(one.what == ENDED_EARLY and one.how_much.startswith(CTRL_C) for one in verdict.reasons)
