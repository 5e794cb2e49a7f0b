"""`testbed train pet --from RUN`: what the switches of a run learned online becomes a policy file of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from testbed.errors import BadInput
from testbed.results.folder import LEARNED, load
from testbed.results.report import tuned
from testbed.results.tables import TUNERS
from testbed.results.tuner_log import TunerLog
from testbed.sdk.jobs import JobContext, Result

from ..learned.job import LOG
from ..learned.policy import collect
from .guard import WINDOW

POLICIES = "learned.zip"
STATIC = ("baseline", "fallen back")  # states in which the static thresholds are active


def keep(folder: Path, context: JobContext) -> Result:
    """Write the policies of all switches that learned. Raises BadInput if none did, or it is no run of PET."""
    run = load(folder)
    if (name := run.manifest.experiment["tuner"]["name"]) != "pet":
        raise BadInput(f"{folder} is a run with tuner '{name}', expected one with 'pet' and tuner.online=true")
    learned = {file.stem: file.read_bytes() for file in (folder / LEARNED).glob("*.onnx")}
    if not learned:
        raise BadInput(
            f"{folder}: nothing was learned in this run; it takes tuner.online=true and an update that the guard did "
            "not take back"
        )
    collect(learned, context.out / POLICIES)
    about = {log.switch: _about(log) for log in tuned.read(folder / TUNERS) if log.switch in learned}
    context.log(LOG, {"command": context.command, "run": str(folder), "policies": about})
    lines = [
        f"{switch}: {one['updates']:.0f} updates, reward {one['reward']:.3f} (static thresholds {one['static']:.3f})"
        for switch, one in about.items()
    ]
    return Result(lines, about)


def _about(log: TunerLog) -> dict[str, Any]:
    reward, static = log.reported("reward"), np.isin(log.states, STATIC)
    return {
        "updates": float(np.nanmax(log.reported("updates"))),
        "falls": float(np.nanmax(log.reported("falls"))),
        "reward": _mean(reward[~static][-WINDOW:]),
        "static": _mean(reward[static]),
    }


def _mean(values: Any) -> float:
    return round(float(np.mean(values)), 5) if len(values) else float("nan")
