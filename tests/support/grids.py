"""Full grids of thresholds as they were measured (`scripts/advise_grid.py`), and how a search does on one.

python -m tests.support.grids        # the table of docs/howto/advise.md
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from testbed.advise.budget import Budget
from testbed.advise.constraint import Constraint
from testbed.advise.contenders import contenders
from testbed.advise.evidence import Ask, Evidence, Found, Settings
from testbed.advise.knob import Knob
from testbed.advise.objective import share
from testbed.advise.question import Aim
from testbed.advise.search import search
from testbed.advise.space import Space
from testbed.advise.standing import Beside, Standing
from testbed.advise.workload import Workload
from tests.support.checkout import ROOT

GRIDS = ROOT / "tests" / "advise" / "grids"
KEYS = ("tuner.kmin", "tuner.kmax", "tuner.pmax")
NAME = "grid"
PARTS = (10, 5, 3)  # of the grid's runs: a tenth, a fifth, a third
SEEDS = range(1, 21)


@dataclass(frozen=True)
class Grid:
    """``draws``: how many of the columns are the search's; the others are the check's."""

    file: Path
    draws: int = 4

    @cached_property
    def rows(self) -> list[list[str]]:
        """The head, the present configuration, and the cells."""
        with self.file.open(newline="") as source:
            return list(csv.reader(source))

    @property
    def objective(self) -> str:
        """Its figure."""
        return self.rows[0][3][:-1]

    @cached_property
    def cells(self) -> list[Settings]:
        """All of them."""
        return [tuple(f"{key}={text}" for key, text in zip(KEYS, row, strict=False)) for row in self.rows[2:]]

    @cached_property
    def places(self) -> np.ndarray:
        """Logarithms of Kmin, Kmax and Pmax of each cell."""
        return np.array([self._place(one) for one in self.cells])

    @cached_property
    def knobs(self) -> list[Knob]:
        """As far as the cells reach."""
        low, high = np.exp(self.places.min(axis=0)), np.exp(self.places.max(axis=0))
        kinds = ("size", "size", "ratio")
        return [Knob(key=key, kind=kind, low=a, high=b) for key, kind, a, b in zip(KEYS, kinds, low, high, strict=True)]

    def _place(self, candidate: Settings) -> list[float]:
        kinds = {"kmin": "size", "kmax": "size", "pmax": "ratio"}
        said = [one.split("=") for one in candidate]
        return [float(np.log(Knob(key=key, kind=kinds[key.rpartition(".")[2]]).number(text))) for key, text in said]

    def carry(self, asks: Sequence[Ask]) -> list[Found]:
        """The nearest cell's figures instead of a run."""
        return [Found(self._figures(one)) for one in asks]

    def _figures(self, ask: Ask) -> Mapping[str, float]:
        row = self.rows[1]
        if ask.candidate:
            row = self.rows[2 + int(np.abs(self.places - self._place(ask.candidate)).sum(axis=1).argmin())]
        values = row[3 + 2 * ask.draw : 5 + 2 * ask.draw]
        return {self.objective: float(values[0]), "goodput": float(values[1])} if all(values) else {}

    def beside(self) -> Beside:
        """With nothing run yet."""
        evidence = Evidence(self.carry)
        now = {NAME: [one.figures for one in evidence.of([Ask(NAME, draw) for draw in self.search_draws])]}
        constraint = Constraint.read("goodput >= 0.97*baseline", [NAME])
        return Beside(evidence, [NAME], Aim.of(self.objective, now), [constraint])

    @property
    def search_draws(self) -> list[int]:
        """Columns."""
        return list(range(self.draws))

    def checked(self, candidate: Settings) -> float:
        """Its gain on the other draws."""
        draws = list(range(self.draws, (len(self.rows[0]) - 3) // 2))
        return self.beside().stand([candidate], draws)[0].gain

    def best(self) -> Standing:
        """Of the whole grid, on the search's draws."""
        found = self.beside().stand(self.cells, self.search_draws)
        return max((one for one in found if one.allowed), key=lambda one: (-one.strained, one.gain))

    def searched(self, sampler: str, seed: int, part: int) -> Standing | None:
        """What a search finds in a part of the grid's runs, on the same draws."""
        space = Space(self.knobs, dict.fromkeys(KEYS, ""))
        runs = len(self.cells) * self.draws // part
        found = search(
            space, self.beside(), self.search_draws, Budget(None, runs), self.starts, seed=seed, sampler=sampler
        )
        return found.whole[0] if found.whole else None

    @cached_property
    def starts(self) -> list[Settings]:
        """The rules with which `testbed advise` begins."""
        space = Space(self.knobs, dict.fromkeys(KEYS, ""))
        return [one.candidate for one in contenders(space, Workload.of(self.file.stem, None, (), Path()).present)]

    def gains(self, sampler: str, part: int) -> list[float]:
        """On traffic not seen, for each seed of the search; 0 where nothing was found."""
        found = [self.searched(sampler, seed, part) for seed in SEEDS]
        return [share(self.checked(one.candidate)) if one and one.gain > 0 else 0.0 for one in found]


def main() -> None:
    """Print what searches find beside the whole grid."""
    print("| case | figure | best of the grid | share of its runs | TPE | chance |\n|---|---|---:|---:|---:|---:|")
    for file in sorted(GRIDS.glob("*.csv")):
        grid = Grid(file)
        best = share(grid.checked(grid.best().candidate))
        for part in PARTS:
            told = [f"{100 * np.mean(grid.gains(sampler, part)):.1f} %" for sampler in ("tpe", "random")]
            print(f"| {file.stem} | `{grid.objective}` | {100 * best:.1f} % | 1/{part} | {' | '.join(told)} |")


if __name__ == "__main__":
    main()
