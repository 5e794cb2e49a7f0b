#!/usr/bin/env python3
"""Make docs/pictures/many-paths.svg: how paths are chosen, and what comes of it.

Runs on the virtual engine for some minutes, and prints the figures:

    .venv/bin/python scripts/many_paths.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

import testbed

TARGET = Path(__file__).parent.parent / "docs" / "pictures" / "many-paths.svg"
ROUTINGS = {"ecmp": 20, "flowlet": 20, "round-robin": 5, "random": 5, "spray": 5, "reps": 5, "adaptive": 5}  # seeds
UPLINKS = ("spine1", "spine2", "spine3", "spine4, cut at 1 ms", "spine5, a tenth")
UNLUCKY = 3  # a seed with which one flow has the link that is cut, and one the slow one


def main() -> None:
    figure, (by_luck, ecmp, reps) = plt.subplots(1, 3, figsize=(11, 3.4), width_ratios=(1.1, 1, 1))
    draw_permutation(by_luck)
    for axes, routing in ((ecmp, "ecmp"), (reps, "reps")):
        draw_uplinks(axes, routing)
    ecmp.set_ylabel("brought to leaf1's uplinks, Gbit/s")
    reps.legend(fontsize=7, loc="upper right")
    figure.tight_layout()
    figure.savefig(TARGET, metadata={"Date": None})


def draw_permutation(axes: Axes) -> None:
    print("routing        SU: mean   least    most  Jain: mean   least")
    for place, (routing, seeds) in enumerate(ROUTINGS.items()):
        found = [permutation(routing, seed) for seed in range(1, seeds + 1)]
        utilisation, fairness = np.array(found).T
        told = (utilisation.mean(), utilisation.min(), utilisation.max(), fairness.mean(), fairness.min())
        print(f"{routing:12}" + "{:11.1f} {:7.1f} {:7.1f} {:11.4f} {:7.4f}".format(*told), flush=True)
        axes.scatter(utilisation, place + np.linspace(-0.25, 0.25, seeds), s=8)
    axes.set_yticks(range(len(ROUTINGS)), list(ROUTINGS))
    axes.set_xlim(0, 103)
    axes.set_xlabel("utilisation of the receivers' links, %")
    axes.set_title("permutation-64, DCQCN: a dot per seed", fontsize=9)
    axes.invert_yaxis()


def permutation(routing: str, seed: int) -> tuple[float, float]:
    """Utilisation and Jain's index."""
    settings = {"routing": routing, "time.duration": "400 us", "time.warmup": "150 us"}
    with tempfile.TemporaryDirectory() as folder:
        found = run("permutation-64", folder, seed, settings).summary
        return found.su_receivers or 0.0, found.jain_flows or 0.0


def draw_uplinks(axes: Axes, routing: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        done = run("slow-uplink", folder, UNLUCKY, {"routing": routing, "record.interval": "10 us"})
        table = done.series.ports
        ports = {name: table[name].to_numpy() for name in ("port", "time", "tx_bytes", "queue")}
    for number, name in enumerate(UPLINKS, start=1):
        own = ports["port"] == f"leaf1-eth{3 + number}"
        time, come = ports["time"][own], (ports["tx_bytes"] + ports["queue"])[own]
        axes.plot(1e6 * time[1:], 8e-9 * np.diff(come) / np.diff(time), lw=1, label=name)
    axes.set_title(f"slow-uplink, NSCC, {routing}", fontsize=9)
    axes.set_xlabel("time, us")
    axes.set_ylim(0, 170)


def run(experiment: str, folder: str, seed: int, settings: dict[str, str]) -> testbed.Run:
    settings = {**settings, "record.report": "false", "record.decisions": "0"}
    return testbed.run(experiment, engine="virtual", seed=seed, settings=settings, out=Path(folder) / "run")


if __name__ == "__main__":
    main()
