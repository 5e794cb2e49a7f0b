"""PPO, REINFORCE and Aurora learned in other ways, many to one: the tables of variants of docs/findings/adpg.md.

    .venv/bin/python scripts/baseline_variants.py FOLDER [SECONDS]     # learn, run, keep; then go on
    .venv/bin/python scripts/baseline_variants.py                      # the table, of what is kept

A policy takes 3 to 12 s of CPU, its two to four runs on the virtual engine 2 to 10 s, of Aurora 90 s.
Kept: docs/findings/results/baseline-variants.csv.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from testbed_controllers.baselines.settings import AuroraSettings, PpoSettings, ReinforceSettings
from tuner_oracle import FINDINGS, filed, keep, kept

import testbed
from testbed.advise.budget import in_time
from testbed.runs.forked import each

KEPT = FINDINGS / "results/baseline-variants.csv"
RUN = ("variant", "flows", "seed")
FIGURES = (
    "su",
    "fr",
    "ql",
    "loss",
    "loss_in_run",
)  # %, %, us; % of what came to the bottleneck, after the warm-up and in all
FLOWS, FEW, SEEDS = (128, 1024, 4096, 8192), 2, range(1, 7)
TIMES = {"time.duration": "60 ms", "time.warmup": "40 ms", "record.report": False, "traffic.flows": None}
LINE, PROCESSES = 100e9, 2  # bit/s
MOST_LOSS, MOST_QUEUE = 1.0, 200.0  # %, us: beyond is PL
ENOUGH = {"updates": 100}  # of 200: the mean reward is at rest
PRINTED = {"beta": 0.0, "highest_x": 1e9, "start_rate": 0.02}


@dataclass(frozen=True)
class Variant:
    """``learned`` are settings of the training, ``run`` options of the controller; ``every``: with all `FLOWS`."""

    by: str
    learned: dict[str, Any] = field(default_factory=dict)
    run: dict[str, Any] = field(default_factory=dict)
    every: bool = False


VARIANTS = {
    "PPO": Variant("ppo", every=True),
    "PPO, entropy 0.1": Variant("ppo", {"entropy": 0.1}, every=True),
    "PPO, entropy 0.1, most probable factor": Variant("ppo", {"entropy": 0.1}, {"drawn": False}),
    "PPO, entropy 0.03": Variant("ppo", {"entropy": 0.03}),
    "PPO, entropy 0": Variant("ppo", {"entropy": 0.0}),
    "PPO, normal actions": Variant("ppo", {"action": "normal"}, {"beta": 1.5}),
    "PPO, reward as printed": Variant("ppo", PRINTED, {"beta": 0.0}),
    "PPO, reward as printed, normal actions": Variant("ppo", PRINTED | {"action": "normal"}, {"beta": 0.0}),
    "PPO, x not limited": Variant("ppo", {"highest_x": 1e9}),
    "PPO, gamma 0.9": Variant("ppo", {"gamma": 0.9}),
    "PPO, learns with 8, 32, 128 flows": Variant("ppo", {"senders": (8, 32, 128), "copies": 2}),
    "REINFORCE": Variant("reinforce", every=True),
    "REINFORCE, drawn with 0.1": Variant("reinforce", {}, {"sigma": 0.1}),
    "REINFORCE, learns and is drawn with 0.5": Variant("reinforce", {"sigma": 0.5}, {"sigma": 0.5}, every=True),
    "REINFORCE, learns and is drawn with 1": Variant("reinforce", {"sigma": 1.0}, {"sigma": 1.0}),
    "REINFORCE, gamma 0.9": Variant("reinforce", {"gamma": 0.9}),
    "Aurora": Variant("aurora", every=True),
    "Aurora, reward rescaled": Variant("aurora", {"reward": "rescaled"}),
    "Aurora, reward rescaled, gamma 0": Variant("aurora", {"reward": "rescaled", "gamma": 0.0}),
}


def learned(variant: Variant, seed: int, file: Path) -> None:
    """Train, unless another variant of the same training did."""
    from testbed_controllers.baselines import (
        train_aurora,
        train_ppo,
        train_reinforce,
    )  # torch, which tables do not need

    if file.is_file():
        return
    given, told = {"seed": seed, **variant.learned}, lambda *_: None
    if variant.by == "aurora":
        with tempfile.TemporaryDirectory() as scratch:
            train_aurora.train(AuroraSettings(**given), told, Path(scratch)).save(file)
    elif variant.by == "ppo":
        train_ppo.train(PpoSettings(**ENOUGH | given), told).save(file)
    else:
        train_reinforce.train(ReinforceSettings(**given), told).save(file)


def ran(variant: Variant, policy: Path, flows: int) -> list[str]:
    """The figures of one run."""
    options = {"start_rate": "1 %", **variant.run, "policy": str(policy)}
    name = "reinforce" if variant.learned.get("action") == "normal" else variant.by
    settings = {**TIMES, "traffic.flows": flows} | {f"controller.{key}": value for key, value in options.items()}
    with tempfile.TemporaryDirectory() as out:
        one = testbed.run("many-to-one-8192", controller=name, engine="virtual", settings=settings, out=out).summary
    lost = 100 * one.drop_rate / (one.drop_rate + one.su / 100 * LINE)
    return [f"{figure:.3f}" for figure in (one.su, one.fr_flows, one.ql_mean * 1e6, lost, one.loss)]


def lines(name: str, seed: int, left: list[int], folder: Path) -> list[dict[str, str]]:
    """Of one policy, with so many flows each."""
    variant = VARIANTS[name]
    which = "-".join(str(part) for part in (variant.by, *variant.learned.items(), seed))
    policy = folder / f"{''.join(c if c.isalnum() or c in '.-' else '_' for c in which)}.json"
    learned(variant, seed, policy)
    made = [[name, str(flows), str(seed), *ran(variant, policy, flows)] for flows in left]
    return [dict(zip((*RUN, *FIGURES), line, strict=True)) for line in made]


def go_on(folder: Path, until: float) -> None:
    """All variants with one seed, then those of all numbers of flows, then the rest; what is kept is not run again."""
    done = {tuple(line[name] for name in RUN) for line in kept(KEPT)}
    works = []
    order = sorted(product(SEEDS, VARIANTS.items()), key=lambda one: (one[0] > 1, not one[1][1].every, one[0]))
    for seed, (name, variant) in order:
        asked = FLOWS if variant.every else FLOWS[:FEW]
        if left := [flows for flows in asked if (name, str(flows), str(seed)) not in done]:
            works.append(partial(lines, name, seed, left, folder))
    for made in each(in_time(works, until), PROCESSES):
        keep(KEPT, (*RUN, *FIGURES), made)
        print(*(" ".join(line.values()) for line in made), sep="\n", flush=True)


def main(arguments: Sequence[str]) -> None:
    """Go on, or print."""
    if arguments:
        Path(arguments[0]).mkdir(parents=True, exist_ok=True)
        go_on(Path(arguments[0]), time.monotonic() + float(arguments[1] if len(arguments) > 1 else "inf"))
        return
    cells: dict[str, dict[int, list[list[float]]]] = {}
    for line in kept(KEPT):
        found = cells.setdefault(line["variant"], {}).setdefault(int(line["flows"]), [])
        found.append([float(line[name]) for name in FIGURES])
    told = [[name, *(cell(cells[name].get(flows, [])) for flows in FLOWS)] for name in VARIANTS if name in cells]
    filed("baseline-variants", ("learned", *(f"{flows} flows" for flows in FLOWS)), told)


def cell(found: list[list[float]]) -> str:
    """Medians with the range of all seeds: SU, FR, QL; how many are PL."""
    if not found:
        return ""
    runs = np.array(found)
    lost = (runs[:, 3] > MOST_LOSS) | (runs[:, 2] > MOST_QUEUE)
    if lost.all():
        return f"PL {len(runs)}/{len(runs)}"
    fine = runs[~lost]
    shown = " / ".join(
        f"{np.median(one):.3g} ({one.min():.3g} to {one.max():.3g})"
        if one.max() - one.min() >= 0.1
        else f"{one[0]:.3g}"
        for one in fine.T[:3]
    )
    return f"{shown}; PL {lost.sum()}/{len(runs)}"


if __name__ == "__main__":
    main(sys.argv[1:])
