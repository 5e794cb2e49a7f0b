#!/usr/bin/env python3
"""DECC's recipe over seeds: each is trained, compressed and distilled, and every form of it held against the gates.

The gates are those of docs/explanation/decc.md, in the training's environment, in the fluid engine and with packets
on the virtual engine, of which a line has the worst figure over the numbers of flows. A seed takes three to five
minutes of one core. What is in OUT already is not made again, so that an interrupted script goes on; results are
written after each seed.

    .venv/bin/python scripts/decc_seeds.py OUT [SEEDS]      # 10 seeds by default; preset `wide`
    .venv/bin/python scripts/decc_seeds.py                  # the table of docs/explanation/decc.md, of what is kept
"""

from __future__ import annotations

import csv
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from testbed_controllers.decc import Decc, DeccNn, DeccQuantised
from testbed_controllers.decc.controller import DeccForm
from testbed_controllers.decc.distillation import Settings as Distillation
from testbed_controllers.decc.evaluate import CHECKED, LEAST_FR, LEAST_REWARD, LEAST_SU, MOST_QUEUE
from testbed_controllers.decc.job_distil import DISTIL
from testbed_controllers.decc.job_train import TRAIN
from testbed_controllers.decc.training_settings import PRESETS, Settings
from testbed_controllers.learned.in_fluid import BASE_RTT, rested

import testbed
from testbed.engines.fluid.fluid import Options
from testbed.sdk.jobs import JobContext

RESULTS = Path(__file__).resolve().parents[1] / "docs/findings/results/decc-seeds.csv"
PAGE, BEGIN, END = RESULTS.parents[2] / "explanation/decc.md", "<!-- decc-seeds -->\n", "<!-- end -->"
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
        line: dict[str, Any] = {"seed": seed, "form": form, "update": trained["update"]}
        line["trees_tried"] = len(distilled["attempts"])
        line |= {f"{place}_{key}": f"{value:.4g}" for place, one in figures.items() for key, value in one.items()}
        found.append({**line, "passes": " ".join(passes), "refused": refused[form]})
    return found


def made_and_measured(out: Path, seeds: int) -> None:
    """Keep the results after each seed, with those of other seeds and presets that are kept already."""
    for seed in range(1, seeds + 1):
        folder = out / str(seed)
        made(folder, seed)
        file = folder / "lines.json"
        if not file.exists():
            file.write_text(json.dumps(lines(folder, seed)))
        new = [{"preset": PRESET, **line} for line in json.loads(file.read_text())]
        others = [one for one in kept() if (one["preset"], one["seed"]) != (PRESET, str(seed))]
        with RESULTS.open("w", newline="") as text:
            writer = csv.DictWriter(text, list(new[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows([*others, *new])
        fill()
        print(f"seed {seed}: {[line['passes'] for line in new]}", flush=True)


def kept() -> list[dict[str, str]]:
    """A line per preset, seed and form."""
    with RESULTS.open(newline="") as text:
        return list(csv.DictReader(text))


def table() -> list[str]:
    """What is kept, as Markdown, and how many seeds of each preset pass with every form everywhere."""
    heads = [f"{place}: least SU, %, FR; most queue, BDP" for place in PLACES]
    told = [f"| preset, seed | update | form | reward | {' | '.join(heads)} |", "|---|---|---|---|---|---|---|"]
    for line in kept():
        cells = [f"`{line['preset']}`, {line['seed']}", line["update"], line["form"]]
        cells.append(f"{float(line['training_reward']):.4f}")
        for place in PLACES:
            su, fr, queue, lost = (float(line[f"{place}_{key}"]) for key in ("su", "fr", "queue", "lost"))
            missing = "" if place in line["passes"].split() else " **missed**"
            cells.append(f"{su:.1f}, {fr:.2f}, {queue:.2f}{', with loss' if lost else ''}{missing}")
        told.append(f"| {' | '.join(cells)} |")
    told.append("")
    for preset in dict.fromkeys(line["preset"] for line in kept()):
        mine = [line for line in kept() if line["preset"] == preset]
        seeds = {line["seed"] for line in mine}
        failed = {line["seed"] for line in mine if line["refused"] or line["passes"] != " ".join(PLACES)}
        told.append(f"`{preset}`: {len(seeds - failed)} of {len(seeds)} tried in this way pass everywhere.")
    return told


def fill() -> None:
    """Put the table into the page."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n" + "\n".join(table()) + f"\n\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    if sys.argv[1:]:
        made_and_measured(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10)
    else:
        fill()
