"""A results folder of a run that was made up."""

from __future__ import annotations

from pathlib import Path

from testbed.fidelity.verdict import judge
from testbed.registry import Plugin
from testbed.results import folder
from testbed.results.manifest import Manifest, describe
from testbed.results.report import build
from testbed.results.summary import summarise
from tests.support.synthetic_runs import run


def described(file: Path) -> Manifest:
    """A manifest; the controller is this file."""
    file.write_text("rate = 1\n")
    return describe(
        engine="kernel",
        experiment={
            "name": "incast-2",
            "note": "</script><b>not markup</b>",
            "rack": {"link": {"rate": "100 Gbit/s"}, "switch": {"buffer": "5 MB"}},
            "time": {"warmup": "2 ms"},
        },
        command_line=["testbed", "run", "incast-2"],
        seed=7,
        controller=Plugin("controller", "my_cc", object, str(file), file),
        kernel_features={"netem": False},
    )


def written(path: Path, manifest: Manifest, report: bool = False) -> Path:
    record = run()
    summary = summarise(record, judge(record), experiment="incast-2", controller="my_cc")
    return folder.write(path, manifest, record, summary, last=build.add_report if report else None)
