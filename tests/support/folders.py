"""Results folders with figures that a test chooses; their curves are those of the synthetic run."""

from __future__ import annotations

import base64
import functools
import json
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from testbed.experiment.load import load, resolve
from testbed.experiment.resolved import Resolved
from testbed.fidelity.verdict import judge
from testbed.results.manifest import Manifest, describe
from testbed.results.summary import Summary, summarise
from testbed.results.tables import write_tables
from testbed.results.verdict import Reason, Verdict
from tests.support.synthetic_runs import run

SLOW = Verdict(reasons=(Reason(what="pacing lag", how_much="much", remedy="raise --dilation"),))


@functools.cache
def resolved(experiment: str, controller: str, settings: tuple[str, ...]) -> Resolved:
    return resolve(load(experiment).choose("controller", controller, "--controller").apply(settings))


def unpacked(element: str) -> Any:
    """What `testbed.results.report.page.packed` was given, as data."""
    return json.loads(zlib.decompress(base64.b64decode(element)))


def results(
    path: Path, controller: str = "dcqcn", seed: int = 1, *settings: str, experiment: str = "incast-8",
    degraded: bool = False, manifest: dict[str, Any] | None = None, **figures: Any,
) -> Path:  # fmt: skip
    """Write what is compared of a run, and give back where. Figures are the summary's fields, in SI units."""
    about, summary = described(experiment, controller, settings)
    about = about.model_copy(
        update={"seed": seed, "experiment": {**about.experiment, "seed": seed}, **(manifest or {})}
    )
    summary = summary.model_copy(update={**figures, "verdict": SLOW if degraded else Verdict()})
    path.mkdir(parents=True)
    for name, table in tables().items():
        (path / name).write_bytes(table)
    (path / "manifest.json").write_text(about.to_json())
    (path / "summary.json").write_text(summary.to_json())
    return path


@functools.cache
def described(experiment: str, controller: str, settings: tuple[str, ...]) -> tuple[Manifest, Summary]:
    """Of the synthetic run: made once, as it is asked for many times."""
    what, record = resolved(experiment, controller, settings), run()
    about = describe(
        engine="kernel",
        experiment=what.as_dict(), command_line=["testbed", "run"], seed=1,
        controller=what.controller, tuner=what.tuner, inputs=what.inputs(), kernel_features={"delay_by": "delay-line"},
    )  # fmt: skip
    return about, summarise(record, judge(record), experiment=experiment, controller=controller, tuner="static")


@functools.cache
def tables() -> dict[str, bytes]:
    """Those of the synthetic run, by the names of their files."""
    with TemporaryDirectory() as folder:
        write_tables(Path(folder), run())
        return {file.name: file.read_bytes() for file in Path(folder).iterdir()}
