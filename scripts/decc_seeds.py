#!/usr/bin/env python3
"""DECC's recipe over seeds: each is trained, compressed and distilled, and every form of it held against the gates.

The gates are those of docs/explanation/decc.md, in the training's environment, in the fluid engine and with packets
on the virtual engine, of which a line has the worst figure over the numbers of flows. A seed takes three to five
minutes of one core. What is in OUT already is not made again, so that an interrupted script goes on; results are
written after each seed.

    .venv/bin/python scripts/decc_seeds.py OUT [SEED ...]   # 1 to 10 by default; preset `wide`
    .venv/bin/python scripts/decc_seeds.py                  # the table of docs/findings/decc.md, of what is kept
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from testbed_controllers.decc import Decc, DeccNn, DeccQuantised
from testbed_controllers.decc.controller import DeccForm
from testbed_controllers.decc.distillation import Settings as Distillation
from testbed_controllers.decc.evaluate import CHECKED, LEAST_FR, LEAST_REWARD, LEAST_SU, MOST_QUEUE
from testbed_controllers.decc.job_distil import DISTIL
from testbed_controllers.decc.job_train import TRAIN
from testbed_controllers.decc.training_settings import PRESETS, Settings
from testbed_controllers.learned.in_fluid import BASE_RTT, rested
from tuner_oracle import FINDINGS, filed, keep, kept

import testbed
from testbed.engines.fluid.fluid import Options
from testbed.sdk.jobs import JobContext

KEPT = FINDINGS / "results/decc-seeds.csv"
PRESET = "wide"
FORMS: dict[str, tuple[type[DeccForm], str, str]] = {  # controller, its file, the log that has its figures
    "network": (DeccNn, "network.json", "training.json"),
    "quantised": (DeccQuantised, "quantised.json", "training.json"),
    "trees": (Decc, "trees.json", "distilled.json"),
}
IN_PACKETS = (2, 8, 16, 32, 64)  # flows
STARTS = (1, 2)  # seeds of the fluid engine
Figures = dict[str, float]  # by figure: SU in %, FR, queue in BDP, what was lost


def made(folder: Path, seed: int) -> None:
    """Train and distil, unless that was done."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "training.json").exists():
        settings = Settings.model_validate({**PRESETS[PRESET], "seed": seed, "attempts": 1})
        TRAIN.run(settings, JobContext(folder, command=f"testbed train decc --preset {PRESET} --seed {seed}"))
    if not (folder / "distilled.json").exists():
        settings_of_trees = Distillation(network=str(folder / "quantised.json"))
        DISTIL.run(settings_of_trees, JobContext(folder, command="testbed distil decc --set network=quantised.json"))


def worst(figures: list[Figures]) -> Figures:
    """Over numbers of flows and runs."""
    most = {"queue", "lost"}
    return {key: (max if key in most else min)(one[key] for one in figures) for key in figures[0]}


def in_training(folder: Path, form: str) -> Figures:
    """As training and distilling logged them."""
    log = json.loads((folder / FORMS[form][2]).read_text())
    figures = log["compression"]["figures"] if form == "quantised" else log["figures"]
    return worst([{key: one[key] for key in ("reward", "su", "fr", "queue", "lost")} for one in figures])


def in_the_fluid_engine(folder: Path, form: str) -> Figures:
    """400 base RTTs after 400 others; 32 probes: with 8 an ACK is heard up to an eighth of an RTT late."""
    kind, file, _ = FORMS[form]
    config, found = kind.Config(policy=str(folder / file)), []
    for flows in CHECKED:
        for seed in STARTS:
            options = Options(step=BASE_RTT / 16, probes=32, seed=seed)
            one = rested(kind, config, flows, options, warmup=400 * BASE_RTT, duration=800 * BASE_RTT)
            found.append({"su": one.su, "fr": one.fr, "queue": one.queue / BASE_RTT, "lost": one.lost})
    return worst(found)


def in_packets(folder: Path, form: str) -> Figures:
    """3 ms after 3 others."""
    kind, file, _ = FORMS[form]
    found = []
    for flows in IN_PACKETS:
        settings: dict[str, Any] = {"traffic.senders": flows, "controller.policy": str(folder / file)}
        settings |= {"time.warmup": "3 ms", "record.decisions": 0}
        with tempfile.TemporaryDirectory() as out:
            run = testbed.run(
                "incast-8", controller=kind.name, engine="virtual", duration="6 ms", settings=settings, out=f"{out}/run"
            )
            one = run.summary
        queue = one.ql_mean / BASE_RTT
        found.append({"su": one.su, "fr": one.fr_flows / 100, "queue": queue, "lost": float(one.drops)})
    return worst(found)


def missed(figures: Figures) -> bool:
    """Whether any gate is."""
    return not (
        figures.get("reward", LEAST_REWARD) >= LEAST_REWARD
        and figures["su"] > LEAST_SU
        and figures["fr"] > LEAST_FR
        and figures["queue"] < MOST_QUEUE
        and figures["lost"] == 0
    )


PLACES = {"training": in_training, "fluid": in_the_fluid_engine, "packets": in_packets}
SHOWN = {"su": ("least SU, %", 1), "fr": ("least FR", 3), "queue": ("most queue, BDP", 2)}  # figure: its head, digits
HEAD = ("form", "in", "pass", *(head for head, _ in SHOWN.values()))


def lines(folder: Path, seed: int) -> list[dict[str, Any]]:
    """What is to be said of one seed."""
    trained, distilled = (json.loads((folder / f"{name}.json").read_text()) for name in ("training", "distilled"))
    refused = {
        "network": trained["attempts"][0]["failure"],
        "quantised": trained["compression"]["failure"],
        "trees": "" if distilled["accepted"] else distilled["attempts"][-1]["failure"],
    }
    found = []
    for form in FORMS:
        figures = {place: measure(folder, form) for place, measure in PLACES.items()}
        passes = [place for place, one in figures.items() if not missed(one)]
        line: dict[str, Any] = {"preset": PRESET, "form": form, "seed": str(seed), "update": trained["update"]}
        line["trees_tried"] = len(distilled["attempts"])
        line |= {f"{place}_{key}": f"{value:.4g}" for place, one in figures.items() for key, value in one.items()}
        found.append({**line, "passes": " ".join(passes), "refused": refused[form]})
    return found


def made_and_measured(out: Path, seed: int) -> None:
    """Keep the results, unless they were made before."""
    folder = out / str(seed)
    made(folder, seed)
    file = folder / "lines.json"
    if not file.exists():
        file.write_text(json.dumps(lines(folder, seed)))
    new = json.loads(file.read_text())
    keep(KEPT, tuple(new[0]), new)
    print(f"seed {seed}: {[line['passes'] for line in new]}", flush=True)


def summary(form: str, place: str) -> list[str]:
    """Of all seeds of the preset: which pass; median, least and most of what is worst over the numbers of flows."""
    mine = [line for line in kept(KEPT) if (line["preset"], line["form"]) == (PRESET, form)]
    failed = [line["seed"] for line in mine if place not in line["passes"].split()]
    passed = f"{len(mine) - len(failed)} of {len(mine)}" + (f"; not {', '.join(failed)}" if failed else "")
    told = [form, place, passed]
    for figure, (_, digits) in SHOWN.items():
        found = [float(line[f"{place}_{figure}"]) for line in mine]
        told.append("{:.{n}f} ({:.{n}f} to {:.{n}f})".format(np.median(found), min(found), max(found), n=digits))
    return told


def main(arguments: Sequence[str]) -> None:
    """Go on, or print."""
    for seed in map(int, arguments[1:] or range(1, 11)) if arguments else ():
        made_and_measured(Path(arguments[0]), seed)
    if not arguments:
        filed("decc-seeds", HEAD, [summary(form, place) for form in FORMS for place in PLACES])


if __name__ == "__main__":
    main(sys.argv[1:])
