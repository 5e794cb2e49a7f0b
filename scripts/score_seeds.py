"""Scores of controllers on ten seeds, by halves of the suite: docs/findings/tables/score-seeds.csv.

    .venv/bin/python scripts/score_seeds.py [CONTROLLER ...]     # scores these anew, 15 s of CPU each, and keeps them
    .venv/bin/python scripts/score_seeds.py "evolved controller.yields=0"       # with settings

Half of the experiments are those that `program_search.py` sees, the other half is held out; the seeds are other ones
for both. Intervals hold 95 % by Student's t over seeds. Made of docs/findings/results/score-seeds.csv.
"""

from __future__ import annotations

import sys

import numpy as np
from tuner_oracle import FINDINGS, bounds, filed, keep, kept

from testbed.sdk.score.parts import together
from testbed.sdk.score.score import Outcome, Score, outcome
from testbed.sdk.score.suite import QUICK

KEPT = FINDINGS / "results/score-seeds.csv"
SEEDS = range(11, 21)
SEARCHED = ("incast-128", "websearch", "long-short")  # all seven parts; the others stay unseen
HALVES = ("searched", "held out", "whole suite")
PARTS = ("utilisation", "fairness", "queue", "loss", "slowdown_mean", "slowdown_p99", "recovery")
AHEAD = HALVES[1:]
HEAD = (
    "controller",
    "seeds",
    *HALVES,
    *(f"`evolved` ahead, {name}" for name in AHEAD),
    *(name.replace("_", " ") for name in PARTS),
)
FEWEST = 6  # seeds of a row


def total(outcomes: list[Outcome]) -> float:
    """As `testbed score` counts, of these experiments alone."""
    names = dict.fromkeys(name for one in outcomes for name in one.parts)
    return 100 * together(together(one.parts[name] for one in outcomes if name in one.parts) for name in names)


def line(controller: str, seed: int, outcomes: list[Outcome]) -> dict[str, str]:
    """What is kept of one score."""
    searched = [one for one in outcomes if one.experiment in SEARCHED]
    others = [one for one in outcomes if one.experiment not in SEARCHED]
    figures = [total(searched), total(others), total(outcomes), *map(Score(controller, outcomes).parts.get, PARTS)]
    told = [f"{figure:.4f}" for figure in figures]
    return dict(zip(("controller", "seed", *HALVES, *PARTS), [controller, str(seed), *told], strict=True))


def scored(row: str, seed: int) -> dict[str, str]:
    controller, *settings = row.split()
    trials = enumerate(QUICK)
    return line(row, seed, [outcome(controller, one, [*one.seeded(seed, at), *settings]) for at, one in trials])


def main(rows: list[str]) -> None:
    """Score, keep, print."""
    for row in rows:
        made = [scored(row, seed) for seed in SEEDS]
        keep(KEPT, ("controller", "seed", *HALVES, *PARTS), made)
    found: dict[str, list[dict[str, str]]] = {}
    for one in kept(KEPT):
        found.setdefault(one["controller"], []).append(one)
    ours = found["evolved"]
    told = [[name, str(len(lines)), *shown(lines, ours)] for name, lines in found.items() if len(lines) >= FEWEST]
    told.sort(key=lambda line: -float(line[HEAD.index(HALVES[-1])].split()[0]))
    filed("score-seeds", HEAD, told)


def shown(lines: list[dict[str, str]], ours: list[dict[str, str]]) -> list[str]:
    """Of one controller: the halves with their intervals, by how much `evolved` is ahead, seed by seed, the parts."""
    columns = {name: np.array([float(one[name]) for one in lines]) for name in (*HALVES, *PARTS)}
    ahead = [np.array([float(one[name]) for one in ours]) - columns[name] for name in AHEAD]
    return [
        *("{:.1f} ({:.1f}, {:.1f})".format(*bounds(columns[name])) for name in HALVES),
        *("" if lines is ours else "{:+.2f} ({:+.2f}, {:+.2f})".format(*bounds(one)) for one in ahead),
        *(f"{columns[name].mean():.2f}" for name in PARTS),
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
