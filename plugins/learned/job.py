"""What the job sets of learned tuners share: a job trains policies, measures them, and keeps a log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from testbed.base.arrays import Floats
from testbed.base.extras import need
from testbed.registry import find
from testbed.sdk.jobs import JobConfig, JobContext, JobProgress, Result
from testbed.tuner import Ports, Tuner

from .environment import LARGEST, RATES
from .evaluation import SLOTS, Make, ahead, compare, means, static, table
from .policy import Layer, write
from .tuner import WEIGHTS, Workload, shipped_name

SEEDS = range(101, 107)  # of the evaluation: none that anything was trained with
BASELINES = {
    "secn1": static("secn1"),
    "secn2": static("secn2"),
    # The hardest marking that PET's grid has: what a policy that had learned nothing else would be.
    "tightest": static(kmin="20 kB", kmax="40 kB", pmax="100 %"),
}
PUBLISHED = ("secn1", "secn2")
PLAYS, PLAY = (1 + len(BASELINES)) * len(SEEDS), SLOTS * len(RATES)  # of the evaluation: how many, and slots of each
LOG = "training.json"


@dataclass(frozen=True)
class Wanted:
    """One policy; ``blind``: of PET's ablation, without incast degree and mice share."""

    workload: Workload
    blind: bool = False

    @property
    def name(self) -> str:
        """Of its file."""
        return shipped_name(self.workload, blind=self.blind)


class Work:
    """How far a job is, in slots of the model: training and evaluation are made of them."""

    def __init__(self, context: JobContext, policies: int, slots: int) -> None:
        """``slots``: of the training of each policy."""
        self.context, self.before = context, 0
        self.total = policies * (slots + PLAYS * PLAY)

    def tell(self, slots: int, text: str) -> None:
        """So many slots of what is going on are done."""
        self.context.report(JobProgress(self.before + slots, self.total, text))

    def done(self, slots: int) -> None:
        """All of them are."""
        self.before += slots


Tell = Callable[[int, str], None]  # slots of the training that are done, and what to say


@dataclass(frozen=True)
class Trained:
    """One policy, and how it came about."""

    layers: list[Layer]
    history: Sequence[Any]  # dataclasses with a ``reward``
    about: dict[str, Any]


def run(
    name: str,
    settings: JobConfig,
    context: JobContext,
    *,
    policies: Sequence[Wanted],
    slots: int,
    train: Callable[[Wanted, Tell], Trained],
    reward: Callable[..., Floats],
) -> Result:
    """Train, measure against the static tuners, write; ``slots`` of the model is how long a training takes.

    ``reward`` is of a sample, its ports and the workload's `WEIGHTS`. Raises BadInput if a package is missing, or a
    checkpoint is of no use.
    """
    need("onnx", "onnxruntime", "torch")  # before any time is spent
    for package in ("onnx", "onnxruntime"):  # now: within an import of C code Ctrl-C would become another error
        import_module(package)
    lines: list[str] = []
    work = Work(context, len(policies), slots)
    log: dict[str, Any] = {
        **context.about(settings, "numpy", "torch", "onnx"),
        "largest_message": LARGEST,
        "policies": {},
    }
    for one in policies:
        trained, workload = train(one, work.tell), one.workload
        work.done(slots)
        file = context.out / f"{one.name}.onnx"
        write(trained.layers, file, {"plugin": name, "workload": workload})
        options = {"flows": False} if one.blind else {}
        makers: dict[str, Make] = {name: with_policy(name, workload, file, **options), **BASELINES}

        def measured(other: str, policy: str = one.name) -> None:
            work.done(PLAY)
            work.tell(0, f"{policy}: measured in the model, {other}")

        found = compare(makers, workload, SEEDS, partial(reward, weights=WEIGHTS[workload]), told=measured)
        lines += [f"{one.name}:", *table(found, name)]
        log["policies"][one.name] = {
            **trained.about,
            "seconds_of_cpu": round(trained.history[-1].seconds, 1),
            "figures": {other: means(figures) for other, figures in found.items()},
            "ahead": {other: [round(x, 4) for x in ahead(found[name], found[other])] for other in BASELINES},
            "history": [_rounded(asdict(row)) for row in trained.history],
        }
    context.log(LOG, log)
    return Result(lines, {one: _short(entry) for one, entry in log["policies"].items()}, _refused(log["policies"]))


def with_policy(name: str, workload: str, file: Path, **options: Any) -> Make:
    """A tuner with this policy file."""
    plugin = find("tuner", name)
    config = plugin.configure(None, {"workload": workload, "policy": str(file), **options})

    def make(ports: Ports) -> Tuner:
        tuner: Tuner = plugin.form(config, ports)
        return tuner

    return make


def _refused(policies: dict[str, Any]) -> str:
    """A policy that earns less than static thresholds, beyond doubt, is not worth its cost."""
    behind = [
        f"{name}: less reward than {other}"
        for name, entry in policies.items()
        for other in PUBLISHED
        if sum(entry["ahead"][other]) < 0
    ]
    return "; ".join(behind)


def _short(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: entry[key] for key in ("seconds_of_cpu", "figures", "ahead")}


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _rounded(value) if isinstance(value, dict) else float(np.round(value, 5)) if value is not None else None
        for key, value in row.items()
    }
