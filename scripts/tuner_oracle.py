"""What there is to adapt to: the tables of docs/findings/pet.md on `fct`, constants and incasts.

    .venv/bin/python scripts/tuner_oracle.py [FOLDER]     # FOLDER of scripts/tuner_runs.py: keep what it has

They are made of docs/findings/results/pet-thresholds.csv: a line per run, so that seeds are what varies.
Long ones are files, docs/findings/tables/pet-*.csv.
Changes are ratios of rows with the same arrivals; intervals hold 95 % by Student's t over the seeds' logarithms.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path

import numpy as np
from testbed_plugins.learned.evaluation import interval

from testbed.base.arrays import Floats
from testbed.tuner import ELEPHANT

FINDINGS = Path(__file__).resolve().parents[1] / "docs/findings"
KEPT = FINDINGS / "results/pet-thresholds.csv"
ARRIVED = 0.7  # of the run: those that come later would often not end; one that does not counts with its time so far
NAMES = ("mice", "p99", "elephants", "others", "others_p99")  # mean, p99, mean; mice that are of no incast: mean, p99
FELT = [NAMES.index(name) for name in ("others", "others_p99", "elephants")]  # the goal is about these
COUNTS = ("mice_count", "elephants_count", "elephants_unfinished")
RUN = ("cell", "row", "seed")  # of a line
PUBLISHED = ("SECN1", "SECN2", "ACC")
CHOSE = (1, 2)  # the seeds that what `fct` begins with was chosen by; they are in no other table
FEWEST = 6  # seeds of a figure
WIDE, MANY = range(31, 38), range(31, 61)  # seeds that many constants have, and those that some have at 30 % load
LOW, WIDE_CELLS = ("websearch-30", "datamining-30"), ("websearch-30", "websearch-50", "websearch-70", "datamining-30")
AGAINST = ("against", "seeds", "mice, mean", "mice, p99", "elephants, mean")  # of a table, before the goal
WORD = {"websearch": "WebSearch", "datamining": "DataMining"}
Line = dict[str, str]
Runs = dict[str, dict[str, dict[int, Floats]]]  # cell, row, seed: slowdowns as in `NAMES`


def measured(file: Path) -> Line:
    """The line of one run."""
    cell, *row, seed = file.stem.split(",")
    one = np.load(file, allow_pickle=False)
    came = one["start"] < ARRIVED * one["duration"]
    mice, slowdown = one["size"] <= ELEPHANT, one["slowdown"]
    small, large, others = came & mice, came & ~mice, came & mice & ~one["incast"]
    figures = (
        slowdown[small].mean(),
        np.quantile(slowdown[small], 0.99),
        slowdown[large].mean(),
        slowdown[others].mean(),
        np.quantile(slowdown[others], 0.99),
    )
    counts = (small.sum(), large.sum(), (large & ~one["finished"]).sum())
    line = [cell, ",".join(row).replace("_", "/"), seed, *(f"{x:.4f}" for x in figures), *map(str, counts)]
    return dict(zip((*RUN, *NAMES, *COUNTS), line, strict=True))


def keep(file: Path, head: Sequence[str], lines: Iterable[Line]) -> None:
    """Each line in place of what ``file`` had of that run, which ``head`` names up to its seed."""
    run = head[: head.index("seed")]
    newest = {(*(line[name] for name in run), int(line["seed"])): line for line in (*kept(file), *lines)}
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, head, lineterminator="\n")
        writer.writeheader()
        writer.writerows(newest[run] for run in sorted(newest))


def kept(file: Path) -> list[Line]:
    if not file.exists():
        return []
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def read(chose: bool) -> Runs:
    """Those of the seeds that chose, or those of all others."""
    return by_cell(line for line in kept(KEPT) if (int(line["seed"]) in CHOSE) == chose)


def by_cell(lines: Iterable[Line]) -> Runs:
    found: Runs = defaultdict(lambda: defaultdict(dict))
    for line in lines:
        figures = np.array([float(line[name] or "nan") for name in NAMES])
        found[line["cell"]][line["row"]][int(line["seed"])] = figures
    return found


def changes(runs: Runs, cell: str, row: str, other: str, seeds: Sequence[int] = ()) -> Floats:
    """Logarithms of the ratios, shape (seeds, names), of these seeds or of all that both have."""
    mine, theirs = runs[cell][row], runs[cell][other]
    return np.log([mine[seed] / theirs[seed] for seed in seeds or sorted(mine.keys() & theirs.keys())])


def bounds(values: Floats) -> tuple[float, float, float]:
    """Mean and its 95 % interval over seeds."""
    mean, half = interval(values)
    return mean, mean - half, mean + half


def percent(values: Floats) -> str:
    mean, low, high = (100 * np.expm1(one) for one in bounds(values))
    return f"{mean:+.1f} ({low:+.1f}, {high:+.1f})"


def points(values: Floats) -> str:
    mean, low, high = bounds(values)
    return f"{mean:+.1f} ({low:+.1f}, {high:+.1f})"


def title(cell: str) -> str:
    workload, load, *incasts = cell.split("-")
    return f"{WORD[workload]}, {load} %" + (", incasts" if incasts else "")


def goal(change: Floats) -> str:
    """Which of the three parts of the goal are certain (yes), excluded (no), or neither (open)."""
    said = []
    for column, most in zip(change.T, (np.log(0.9), 0.0, np.log(1.03)), strict=True):
        _, low, high = bounds(column)
        said.append("yes" if high <= most else "no" if low > most else "open")
    return ", ".join(said)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    print("| " + " | ".join(head) + " |\n|---|" + "---:|" * (len(head) - 1))
    print("\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n")


def filed(name: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table that is too long for the page, as a file that the page names."""
    with (FINDINGS / f"tables/{name}.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, lineterminator="\n").writerows([head, *rows])
    print(f"(tables/{name}.csv)\n")


def reached(
    runs: Runs, pairs: Iterable[tuple[str, str]], row: str, name: str, means: Iterable[list[str]] = (), *, goals: bool
) -> None:
    """A row against others, by the parts of the goal, and ``means`` of such rows; mice are those of no incast."""
    lines = []
    for cell, other in pairs:
        change = changes(runs, cell, row, other)
        if len(change) >= FEWEST:
            change = change[:, FELT]
            said = [goal(change)] * goals
            lines.append([title(cell), other, str(len(change)), *map(percent, change.T), *said])
    filed(name, [f"{row}, %", *AGAINST, *["goal"] * goals], [*lines, *means])


def over_loads(runs: Runs, groups: Iterable[list[str]], row: str) -> list[list[str]]:
    """The same with each seed's mean over the loads of a workload."""
    lines = []
    for cells in groups:
        for other in PUBLISHED:
            seeds = seeds_of(runs, cells, [row, other])
            one = np.mean([changes(runs, cell, row, other, seeds)[:, FELT] for cell in cells], axis=0)
            name = title(cells[-1]).replace(", ", f", {cells[0].split('-')[1]} to ", 1)
            lines.append([name, other, str(len(seeds)), *map(percent, one.T), goal(one)])
    return lines


def least_for_elephants(runs: Runs, cells: list[str]) -> list[str]:
    """What they pay against SECN2 where mice gain 10 % against SECN1: constants chosen for each load in hindsight."""
    ahead = np.mean([changes(runs, cell, "SECN1", "SECN2", WIDE) for cell in cells], axis=(0, 1))
    means = [{row: change.mean(axis=0) for row, change in against_secn1(runs, cell, WIDE).items()} for cell in cells]
    some = [np.mean([mean[row] for mean, row in zip(means, rows, strict=True)], axis=0) for rows in product(*means)]
    found = min((one for one in some if one[0] <= np.log(0.9)), key=lambda one: float(one[2]))
    least = 100 * np.expm1(found[2] + ahead[NAMES.index("elephants")])
    return [title(cells[0]).partition(",")[0], str(len(some)), f"{least:+.1f}"]


def best_for_mice(runs: Runs, cells: list[str]) -> None:
    """The most that any constant gives mice against SECN1, and the most if elephants pay no more than 3 %."""
    lines = []
    for cell in cells:
        found = against_secn1(runs, cell, WIDE)
        fair = [row for row, change in found.items() if change[:, 2].mean() <= np.log(1.03)]
        line = [title(cell)]
        for some in (found, fair):
            if not some:
                line += ["none", "", ""]
                continue
            best = min(some, key=lambda row: found[row][:, 0].mean())
            line += [best, percent(found[best][:, 0]), percent(found[best][:, 2])]
        lines.append([*line, str(len(found))])
    head = [f"against SECN1, %, {named(WIDE)}", "best for mice", "mice", "elephants"]
    filed("pet-best", [*head, "elephants at most +3", "mice", "elephants", "of"], lines)


def against_one(runs: Runs, cells: list[str], rows: list[str], usual: str) -> None:
    """All rows against one: the mice that are of no incast, all mice, elephants."""
    lines = []
    for cell in cells:
        for row in rows:
            change = changes(runs, cell, row, usual)
            if row != usual and len(change) >= FEWEST:
                figures = [percent(change[:, NAMES.index(name)]) for name in ("others", "mice", "elephants")]
                lines.append([title(cell), row, str(len(change)), *figures])
    filed("pet-incasts", [f"against {usual}, %", "", "seeds", "mice of no incast", "all mice", "elephants"], lines)


def seeds_of(runs: Runs, cells: list[str], rows: list[str]) -> list[int]:
    """Those that every one of these rows has in every cell."""
    return sorted(set.intersection(*(set(runs[cell][row]) for cell in cells for row in (*rows, "SECN1"))))


def in_all(runs: Runs, cells: list[str], rows: list[str]) -> list[str]:
    """Rows with enough seeds in every cell."""
    return [row for row in rows if min(len(runs[cell][row]) for cell in cells) >= FEWEST]


def scored(runs: Runs, cells: list[str], rows: list[str], seeds: list[int]) -> Floats:
    """Mean of the logarithms of the mice of no incast and elephants against SECN1, in %: shape (cells, rows, seeds)."""
    columns = [NAMES.index("others"), NAMES.index("elephants")]
    found = np.array([[[runs[c][r][s][columns] for s in seeds] for r in (*rows, "SECN1")] for c in cells])
    return np.asarray(100 * np.log(found[:, :-1] / found[:, -1:]).mean(axis=3))


def oracle(runs: Runs, cells: list[str], rows: list[str], name: str, more: Sequence[str] = ()) -> None:
    """The best of ``rows`` in every cell in hindsight against the one best over all, and ``more`` beside them."""
    seeds = seeds_of(runs, cells, [*rows, *more])
    scores, others = scored(runs, cells, rows, seeds), scored(runs, cells, list(more), seeds) if more else None
    means, each = scores.mean(axis=2), np.arange(len(cells))
    single, hindsight = int(means.mean(axis=0).argmin()), scores[each, means.argmin(axis=1)]
    ranked = [(row, scores[:, k]) for k, row in enumerate(rows)]
    ranked.sort(key=lambda one: float(one[1].mean()))
    ranked.append(("the best constant in each", hindsight))
    if others is not None:
        ranked += [(row, others[:, k]) for k, row in enumerate(more)]
    held = []
    for seed in range(len(seeds)):
        known = np.delete(scores, seed, axis=2).mean(axis=2)
        chosen = scores[each, known.argmin(axis=1), seed] - scores[:, known.mean(axis=0).argmin(), seed]
        held.append(chosen.mean())
    means = [[points(some.mean(axis=0)) for some in (one, one - scores[:, single])] for _, one in ranked]
    lines = [
        [row, *(f"{x:+.1f}" for x in one.mean(axis=1)), *mean] for (row, one), mean in zip(ranked, means, strict=True)
    ]
    lines.append(["the best in each, chosen by the other seeds", *[""] * len(cells), "", points(np.array(held))])
    head = [f"seeds {', '.join(map(str, seeds))}", *map(title, cells), "mean", f"less that of {rows[single]}"]
    filed(name, head, lines)


def chosen(runs: Runs, cells: list[str]) -> None:
    """What `fct` might begin with, by the seeds that chose."""
    rows = [row for row in runs[cells[0]] if row != "SECN1"]
    scores = scored(runs, cells, rows, list(CHOSE)).mean(axis=2)
    lines = [[row, *(f"{x:+.1f}" for x in (*one, one.mean()))] for row, one in zip(rows, scores.T, strict=True)]
    filed("pet-chosen", [f"seeds {' and '.join(map(str, CHOSE))}", *map(title, cells), "mean"], lines)


def frontier(runs: Runs, cells: Iterable[str], seeds: range, name: str) -> None:
    """What each constant gives mice and takes from elephants, over the same seeds."""
    lines = []
    for cell in cells:
        found = against_secn1(runs, cell, seeds)
        for row in sorted(found, key=lambda one: float(found[one][:, 0].mean())):
            lines.append([title(cell), row, *map(percent, found[row].T), goal(found[row])])
    filed(name, [f"against SECN1, %, {named(seeds)}", "", "mice, mean", "mice, p99", "elephants, mean", "goal"], lines)


def against_secn1(runs: Runs, cell: str, seeds: range) -> dict[str, Floats]:
    """The constants that all of ``seeds`` were run with: mice's mean and p99, elephants, shape (seeds, 3)."""
    rows = [row for row, by_seed in runs[cell].items() if is_constant(row) and by_seed.keys() >= {*seeds}]
    return {row: changes(runs, cell, row, "SECN1", seeds)[:, FELT] for row in rows}


def named(seeds: range) -> str:
    return f"seeds {seeds[0]} to {seeds[-1]}"


def is_constant(row: str) -> bool:
    return row.count("/") == 2 and " " not in row


def in_order(runs: Runs) -> list[str]:
    return sorted(runs, key=lambda cell: (cell.startswith("d"), cell))


def main(arguments: list[str]) -> None:
    """Print all tables."""
    if arguments:
        keep(KEPT, (*RUN, *NAMES, *COUNTS), map(measured, Path(arguments[0]).glob("*.npz")))
    before = read(chose=True)
    chosen(before, [cell for cell in in_order(before) if not any("rests" in row for row in before[cell])])
    runs = read(chose=False)
    cells = in_order(runs)
    calm = [cell for cell in cells if not cell.endswith("-incast")]
    incasts = [cell for cell in cells if cell.endswith("-incast")]
    constants = [row for row in runs[calm[0]] if is_constant(row)]
    by_workload = [[cell for cell in some if cell.startswith(word)] for some in (calm, incasts) for word in WORD]
    means = over_loads(runs, by_workload, "fct")
    reached(runs, [(cell, other) for other in PUBLISHED for cell in cells], "fct", "pet-fct", means, goals=True)
    table(["fct, %, mean over loads", *AGAINST, "goal"], [line for line in means if "incasts" not in line[0]])
    head = [f"mice 10 % faster than with SECN1, {named(WIDE)}", "constants", "elephants against SECN2 at least, %"]
    filed("pet-least", head, [least_for_elephants(runs, some) for some in by_workload[: len(WORD)]])
    best_for_mice(runs, calm)
    frontier(runs, LOW, MANY, "pet-constants-30")
    frontier(runs, WIDE_CELLS, WIDE, "pet-constants")
    oracle(runs, calm, in_all(runs, calm, constants), "pet-oracle")
    reached(runs, product(incasts, in_all(runs, cells, constants)), "fct", "pet-fct-constants", goals=False)
    against_one(runs, incasts, sorted({row for cell in incasts for row in runs[cell]}), "SECN1")
    oracle(runs, cells, in_all(runs, cells, constants), "pet-oracle-incasts", ["fct"])


if __name__ == "__main__":
    main(sys.argv[1:])
