"""Where a tuner of PET's inputs can reach the goal of `fct`: an oracle over constants and schedules, for each cell.

    .venv/bin/python scripts/tuner_reach.py [FOLDER]      # FOLDER of scripts/tuner_runs.py: keep what it has
    .venv/bin/python scripts/tuner_reach.py FOLDER again  # run all that is kept anew, but what FOLDER has

Of all that was run with six seeds or more in a cell it shows what is best for mice, and what is best for mice where
elephants pay no more than 3 % in the mean; the first is a bound for any tuner as far as harder marks help mice at all.
`RULE` is one tuner for all cells, told again on seeds that nobody had seen when it was set. Changes are against SECN1
with the same arrivals. Made of docs/findings/results/pet-thresholds.csv, and of pet-reach.csv for the cells that it
has: a later version's runs, which are not to be mixed with the others.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from tuner_oracle import (
    COUNTS,
    FEWEST,
    NAMES,
    PUBLISHED,
    RUN,
    Runs,
    by_cell,
    changes,
    filed,
    goal,
    in_order,
    keep,
    kept,
    measured,
    percent,
    title,
)
from tuner_oracle import KEPT as THRESHOLDS
from tuner_runs import LENGTH, named, run

from testbed.base.arrays import Floats

KEPT = THRESHOLDS.with_name("pet-reach.csv")
FIRST, FRESH = 31, 201  # seeds: the first of the oracle, the first that was unseen when RULE was set
PARTS = [NAMES.index("others"), NAMES.index("elephants")]  # mice of no incast
TOLD = np.log([0.9, 1.03])
RULE = "incast 1280/2560/5, calm 20/320/50, loaded 20/160/100, else 20/40/100"  # the default of `schedule`


def against(runs: Runs, cell: str) -> dict[str, Floats]:
    """Mice and elephants of every row with enough seeds: shape (seeds, 2)."""
    found = {row: changes(runs, cell, row, "SECN1") for row in runs[cell] if row not in PUBLISHED}
    return {row: change[:, PARTS] for row, change in found.items() if len(change) >= FEWEST}


def verdict(found: dict[str, Floats], hardest: str) -> str:
    """Whether anything reaches both parts of the goal, or the reason why not."""
    if any(said(change) == ["yes", "yes"] for change in found.values()):
        return "certain"
    if any((change.mean(axis=0) <= TOLD).all() for change in found.values()):
        return "in the mean"
    if said(found[hardest])[0] == "no":
        return "no, with all that was marked"
    return "none of these"


def shortly(row: str) -> str:
    return "`schedule`" if row == RULE else row


def said(change: Floats) -> list[str]:
    mice, _, elephants = goal(change[:, [0, 0, 1]]).split(", ")
    return [mice, elephants]


def main(arguments: list[str]) -> None:
    """Print the table."""
    if arguments:
        folder, *again = Path(arguments[0]), *arguments[1:]
        for cell, row, seed in [tuple(line[name] for name in RUN) for line in kept(KEPT) if again]:
            if not (file := folder / named(cell, row, seed)).exists():
                run(cell, row, int(seed), file, [LENGTH])
        keep(KEPT, (*RUN, *NAMES, *COUNTS), map(measured, folder.glob("*.npz")))
    runs = by_cell(line for line in kept(THRESHOLDS) if int(line["seed"]) >= FIRST)
    later = kept(KEPT)
    runs |= by_cell(line for line in later if int(line["seed"]) < FRESH)
    lines = []
    for cell in in_order(runs):
        found = against(runs, cell)
        hardest = min(found, key=lambda row: float(found[row][:, 0].mean()))
        fair = [row for row in found if found[row][:, 1].mean() <= TOLD[1]]
        shown = [shortly(hardest), *map(percent, found[hardest].T), "none", "", ""]
        if fair:
            best = min(fair, key=lambda row: float(found[row][:, 0].mean()))
            shown[3:] = [shortly(best), *map(percent, found[best].T)]
        lines.append([title(cell), str(len(found[hardest])), *shown, verdict(found, hardest), str(len(found))])
    some = ("mice", "elephants")
    head = ("seeds", "best for mice", *some, "elephants at most +3", *some, "goal", "of")
    filed("pet-reach", ["against SECN1, %", *head], lines)
    told("pet-schedule-seen", "31 to 36, by which it was set", runs)
    told("pet-schedule-unseen", "201 to 206, unseen", by_cell(line for line in later if int(line["seed"]) >= FRESH))


def told(name: str, seeds: str, runs: Runs) -> None:
    """The rule, by cell."""
    found = {cell: against(runs, cell).get(RULE) for cell in in_order(runs)}
    lines = [
        [title(cell), str(len(change)), *map(percent, change.T), ", ".join(said(change))]
        for cell, change in found.items()
        if change is not None
    ]
    filed(name, [f"{shortly(RULE)} against SECN1, %, seeds {seeds}", "seeds", "mice", "elephants", "goal"], lines)


if __name__ == "__main__":
    main(sys.argv[1:])
