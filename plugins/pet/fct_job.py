"""`testbed train pet --preset fct`: one actor for all workloads and loads, measured in packets, and its log."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from testbed.base.extras import need
from testbed.sdk.jobs import JobContext, JobProgress, Result

from ..learned.job import LOG
from ..learned.policy import write
from . import ALPHA, FCT, grid
from .settings import WORKLOADS, Settings

SEED = 101  # of the evaluation: trainings draw from 2^31
LOADS = (0.3, 0.6, 0.9)
WITH_INCASTS = 0.5  # of the load, where there are incasts, too


def run(settings: Settings, context: JobContext) -> Result:
    """Train, measure against SECN1 and the constant, write. Raises BadInput if a package is missing."""
    need("onnx", "onnxruntime", "torch")
    from .beginning import FIRST
    from .cell import Cell
    from .fct import FctTraining
    from .training import Progress

    kmin, kmax, pmax = (float(one[0]) for one in grid(ALPHA).values(np.array([FIRST])))
    constant = {"kmin": f"{kmin} B", "kmax": f"{kmax} B", "pmax": pmax}

    cells = [(workload, load, False) for workload in WORKLOADS for load in LOADS]
    cells += [(workload, WITH_INCASTS, True) for workload in WORKLOADS]
    total = settings.updates + len(cells)

    def tell(progress: Progress) -> None:
        said = f"update {progress.update}: felt {-progress.reward:.3f} of SECN1"
        context.report(JobProgress(progress.update, total, said))

    checkpoint = context.checkpoints / f"{FCT}.npz" if context.checkpoints else None
    trained = FctTraining(settings).run(tell, checkpoint)
    file = context.out / f"{FCT}.onnx"
    write(trained.actor, file, {"plugin": "pet", "workload": FCT})
    figures: list[dict[str, Any]] = []
    for number, (workload, load, incasts) in enumerate(cells, 1):
        cell = Cell(workload, load, SEED, settings.ports, settings.episode, incasts=incasts)
        told = {
            "workload": workload,
            "load": load,
            "incasts": incasts,
            "felt": round(cell.felt("pet", {"goal": FCT, "policy": str(file)}), 4),
            "constant": round(cell.felt("static", constant), 4),
        }
        figures.append(told)
        context.report(JobProgress(settings.updates + number, total, f"{workload}, {load:.0%}: {told['felt']:.3f}"))
    log = {
        **context.about(settings, "numpy", "torch", "onnx"),
        "seconds_of_cpu": round(trained.history[-1].seconds, 1),
        "figures": figures,
        "history": [asdict(one) for one in trained.history],
    }
    context.log(f"{FCT}-{LOG}", log)
    lines = ["slowdown, of SECN1's, mean of mice and elephants"]
    form = "{workload:11} {load:4.0%}{more}  pet {felt:.3f}  constant {constant:.3f}"
    lines += [form.format(more=", incasts" if one["incasts"] else "", **one) for one in figures]
    mean = sum(one["felt"] for one in figures) / len(figures)
    refused = "" if mean < 1 else f"users feel {mean:.3f} of what they feel under SECN1"
    return Result(lines, {"figures": figures}, refused)
