"""Results folders with figures that a test chooses; their curves are those of the synthetic run."""

from __future__ import annotations

import base64
import functools
import json
import zlib
from pathlib import Path
from typing import Any

from testbed.experiment.load import load, resolve
from testbed.experiment.resolved import Resolved
from testbed.fidelity.verdict import judge
from testbed.results.manifest import describe
from testbed.results.summary import summarise
from testbed.results.tables import write_tables
from testbed.results.verdict import Reason, Verdict
from tests.support.synthetic_runs import run

SLOW = Verdict(reasons=(Reason(what="pacing lag", how_much="much", remedy="raise --dilation"),))


@functools.cache
def resolved(experiment: str, controller: str, settings: tuple[str, ...]) -> Resolved:
    return resolve(load(experiment).replace({"controller": controller}, "--controller").apply(settings))


def unpacked(element: str) -> Any:
    """What `testbed.results.report.page.packed` was given, as data."""
    return json.loads(zlib.decompress(base64.b64decode(element)))


def results(
    path: Path, controller: str = "dcqcn", seed: int = 1, *settings: str, experiment: str = "incast-8",
    degraded: bool = False, manifest: dict[str, Any] | None = None, **figures: float,
) -> Path:  # fmt: skip
    """Write what is compared of a run, and give back where. Figures are the summary's fields, in SI units."""
    what = resolved(experiment, controller, settings)
    record = run()
    about = describe(
        engine="kernel",
        experiment=what.as_dict() | {"seed": seed}, command_line=["testbed", "run"], seed=seed,
        controller=what.controller, tuner=what.tuner, inputs=what.inputs(), kernel_features={"delay_by": "delay-line"},
    )  # fmt: skip
    summary = summarise(record, judge(record), experiment=experiment, controller=controller, tuner="static")
    summary = summary.model_copy(update={**figures, "verdict": SLOW if degraded else Verdict()})
    path.mkdir(parents=True)
    write_tables(path, record)
    (path / "manifest.json").write_text(about.model_copy(update=manifest or {}).to_json())
    (path / "summary.json").write_text(summary.to_json())
    return path
