"""A results folder of a run that was made up."""

from __future__ import annotations

from pathlib import Path

from testbed.fidelity.verdict import judge
from testbed.results import folder
from testbed.results.manifest import Manifest
from testbed.results.report import build
from testbed.results.summary import summarise
from tests.support.synthetic_runs import run


def written(path: Path, manifest: Manifest, report: bool = False) -> Path:
    record = run()
    summary = summarise(record, judge(record), experiment="incast-2", controller="my_cc")
    return folder.write(path, manifest, record, summary, last=build.add_report if report else None)
