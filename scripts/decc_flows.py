#!/usr/bin/env python3
"""DECC's reward and fairness with 2 to 8192 flows, of every form of every seed that `decc_seeds.py` has made in OUT.

In the training's environment: the second half of 4000 base RTTs, mean over four bottlenecks. One of more than 16 flows
has 16 that stand for several alike each. A minute of a core for a seed; what is kept is not measured again.

    .venv/bin/python scripts/decc_flows.py OUT      # preset `wide`
    .venv/bin/python scripts/decc_flows.py          # the picture of docs/findings/decc.md, of what is kept
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from compact_svg import drawing
from decc_seeds import FORMS, PRESET
from finding_plot import LOOK, PANEL
from testbed_controllers.decc.distillation import acting
from testbed_controllers.decc.evaluate import CHECKED, Act, measure
from testbed_controllers.decc.network import Network
from testbed_controllers.decc.tree import Trees
from tuner_oracle import FINDINGS, keep, kept

KEPT, PICTURE = FINDINGS / "results/decc-flows.csv", FINDINGS / "tables/decc-flows.svg"
FLOWS, PERIODS = (*CHECKED, 256, 1024, 4096, 8192), 4000
RUN, FIGURES = ("preset", "form", "flows", "seed"), ("reward", "su", "fr", "queue", "lost")
PANELS = {"reward": "R", "fr": "FR, min / max of the flows' rates"}


def policy(file: Path) -> Act:
    """What it decides."""
    return acting(Trees.load(file)) if file.stem == "trees" else Network.load(file).act


def measured(folder: Path) -> None:
    """Each form of a seed."""
    lines = []
    for form, (_, name, _) in FORMS.items():
        for one in measure(policy(folder / name), FLOWS, PERIODS):
            run = {"preset": PRESET, "form": form, "flows": str(one.flows), "seed": folder.name}
            lines.append(run | {name: f"{getattr(one, name):.4g}" for name in FIGURES})
    keep(KEPT, (*RUN, *FIGURES), lines)
    print(f"seed {folder.name}: kept", flush=True)


def draw() -> None:
    """Medians, and from the least to the most of all seeds."""
    title = "R and FR of DECC's seeds over numbers of flows"
    with drawing(PICTURE, title, (2 * PANEL[0], PANEL[1] + 0.3), **LOOK) as drawn:
        for axes, (figure, title) in zip(drawn.subplots(1, 2), PANELS.items(), strict=True):
            for at, form in enumerate(FORMS):
                mine = [one for one in kept(KEPT) if one["form"] == form]
                found = np.array([[float(one[figure]) for one in mine if one["flows"] == str(n)] for n in FLOWS]).T
                axes.plot(FLOWS, np.median(found, axis=0), "o-", color=f"C{at}", ms=2.5, lw=0.8, label=form)
                axes.fill_between(FLOWS, found.min(axis=0), found.max(axis=0), color=f"C{at}", alpha=0.15, lw=0)
            axes.set_xscale("log", base=2)
            axes.set_xticks(FLOWS, [str(n) for n in FLOWS], rotation=35, fontsize=7)
            axes.set_title(f"{title}; flows", fontsize=8, loc="left")
            axes.grid(axis="y", lw=0.3)
        drawn.legend(*axes.get_legend_handles_labels(), loc="outside lower center", frameon=False, ncols=3)


def main(arguments: Sequence[str]) -> None:
    """Measure what is not kept; draw all."""
    done = {line["seed"] for line in kept(KEPT)}
    for out in map(Path, arguments):
        for folder in sorted(one for one in out.iterdir() if one.name not in done and (one / "lines.json").exists()):
            measured(folder)
    draw()


if __name__ == "__main__":
    main(sys.argv[1:])
