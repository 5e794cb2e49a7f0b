"""Runs of the virtual engine, without a results folder."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from testbed.capture.files import WHOLE, Capture
from testbed.capture.point import Point
from testbed.capture.reader import Frame, Reader
from testbed.engines.engine import Prepared, Stoppable
from testbed.engines.virtual.engine import VirtualEngine
from testbed.engines.virtual.run import VirtualRun
from testbed.fidelity.verdict import judge
from testbed.live.observers import Observer
from testbed.results.record import RunRecord
from testbed.results.summary import Summary, summarise
from testbed.runs.overrides import resolve
from testbed.sdk.conformance.trial import Unwatched


class Here(VirtualEngine):
    """In this process, with nobody looking on.

    A fork of one that has a whole suite in its memory takes as long as a short run, and both then copy what they write.
    """

    def follow(
        self,
        prepared: Prepared,
        observer: Observer,  # noqa: ARG002 - part of the interface
        running: list[Stoppable],  # noqa: ARG002 - nobody can stop it
        name: str,  # noqa: ARG002
        captures: Sequence[Capture],
    ) -> RunRecord:
        """The same run."""
        return VirtualRun(prepared.resolved, captures, Unwatched(), threads=self.threads or 1).follow()


def simulated(
    experiment: str,
    settings: Sequence[str] = (),
    *,
    controller: str = "",
    tuner: str = "",
    captures: Sequence[Capture] = (),
    observer: Observer | None = None,
) -> RunRecord:
    """The record of a run, no invariant of which was broken; ``experiment`` is a name, or a file's text."""
    with tempfile.TemporaryDirectory() as folder:
        if "\n" in experiment:
            file = Path(folder) / "experiment.yaml"
            file.write_text(experiment)
            experiment = str(file)
        plugins = {"controller": controller, "tuner": tuner}
        resolved = resolve(experiment, plugins, {}, ["record.decisions=0", "engine=virtual", *settings])
        engine, observer = (VirtualEngine(), observer) if observer else (Here(), Observer())
        engine.check(resolved)
        record = engine.follow(engine.prepare(resolved, observer), observer, [], "run", captures)
    assert record.broken == []
    assert record.counters["drops_outside_model"] == 0
    return record


def captured(
    folder: Path, points: Sequence[str], experiment: str, *settings: str, controller: str = "", snap: int = WHOLE
) -> tuple[RunRecord, list[list[Frame]]]:
    """The record, and the packets of each point, whose files are left in the folder."""
    files = [folder / f"{number}.pcapng" for number in range(len(points))]
    captures = [
        Capture(Point(*point.split(":")), file.open("w+b"), snap) for point, file in zip(points, files, strict=True)
    ]
    record = simulated(experiment, settings, controller=controller, captures=captures)
    return record, [list(Reader(file)) for file in files]


def measured(experiment: str, settings: Sequence[str] = (), *, controller: str) -> Summary:
    """What such a run showed."""
    record = simulated(experiment, settings, controller=controller)
    return summarise(record, judge(record), experiment=experiment, controller=controller)
