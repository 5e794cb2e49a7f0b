"""Full grids of thresholds as they were measured (`scripts/advise_grid.py`), and how searches do on them.

python -m tests.support.grids        # the figures of docs/howto/advise.md; with Optuna's TPE where that is installed
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from testbed.advise.budget import Budget
from testbed.advise.constraint import Constraint
from testbed.advise.contenders import contenders
from testbed.advise.evidence import Ask, Evidence, Found, Settings
from testbed.advise.knob import Knob
from testbed.advise.objective import share
from testbed.advise.proposer import Expected
from testbed.advise.question import Aim
from testbed.advise.search import Propose, search
from testbed.advise.space import Space
from testbed.advise.standing import Beside, Standing
from testbed.advise.workload import Workload
from tests.support.checkout import ROOT

GRIDS = ROOT / "tests" / "advise" / "grids"
KEYS = ("tuner.kmin", "tuner.kmax", "tuner.pmax")
NAME = "grid"
TENTH = 10
SEEDS = range(1, 21)
Search = Callable[[Space, int], Propose]  # with its seed


@dataclass(frozen=True)
class Chance:
    """Anywhere, whatever was tried: what a search is held against."""

    space: Space
    seed: int

    def __call__(self, tried: Sequence[Standing], size: int) -> list[Settings]:
        """So many."""
        chance = np.random.default_rng([self.seed, len(tried)])
        return [self.space.at(place) for place in chance.random((size, len(self.space.knobs)))]


@dataclass(frozen=True)
class Cells(Space):
    """The cells alone: what is between them was not measured."""

    grid: Grid

    def candidate(self, texts: Mapping[str, str]) -> Settings:
        """The nearest cell."""
        return self.grid.nearest(super().candidate(texts))


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
        return np.array([_place(one) for one in self.cells])

    @cached_property
    def space(self) -> Space:
        """As far as the cells reach."""
        low, high = np.exp(self.places.min(axis=0)), np.exp(self.places.max(axis=0))
        kinds = ("size", "size", "ratio")
        knobs = [
            Knob(key=key, kind=kind, low=a, high=b) for key, kind, a, b in zip(KEYS, kinds, low, high, strict=True)
        ]
        return Cells(knobs, dict.fromkeys(KEYS, ""), self)

    def nearest(self, candidate: Settings) -> Settings:
        """Of the cells."""
        return self.cells[int(np.abs(self.places - _place(candidate)).sum(axis=1).argmin())]

    def carry(self, asks: Iterable[Ask]) -> list[Found]:
        """The measured figures instead of a run."""
        return [Found(self._figures(one)) for one in asks]

    def _figures(self, ask: Ask) -> Mapping[str, float]:
        row = self.rows[2 + self.cells.index(ask.candidate) if ask.candidate else 1]
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

    def searched(self, search_: Search, seed: int) -> Standing | None:
        """What a search finds in a tenth of the grid's runs, on the same draws."""
        runs = len(self.cells) * self.draws // TENTH
        found = search(search_(self.space, seed), self.beside(), self.search_draws, Budget(None, runs), self.starts)
        return found.whole[0] if found.whole else None

    @cached_property
    def starts(self) -> list[Settings]:
        """The cells next to the rules with which `testbed advise` begins."""
        ranges = Space(self.space.knobs, self.space.now)
        rules = contenders(ranges, Workload.of(self.file.stem, None, (), Path()).present)
        return [self.nearest(one.candidate) for one in rules if not one.learned and ranges.has(one.candidate)]

    def reached(self, search_: Search, seeds: Iterable[int] = SEEDS) -> np.ndarray:
        """Of the gain of the grid's best, on traffic not seen, the share that each seed of the search has."""
        found = [self.searched(search_, seed) for seed in seeds]
        gains = [share(self.checked(one.candidate)) if one and one.gain > 0 else 0.0 for one in found]
        return np.array(gains) / share(self.checked(self.best().candidate))


def _place(candidate: Settings) -> list[float]:
    kinds = {"kmin": "size", "kmax": "size", "pmax": "ratio"}
    said = [one.split("=") for one in candidate]
    return [float(np.log(Knob(key=key, kind=kinds[key.rpartition(".")[2]]).number(text))) for key, text in said]


class Optuna:
    """One of its samplers."""

    def __init__(self, sampler: str, space: Space, seed: int) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.space, self.told = space, 0
        self.asked: dict[Settings, optuna.Trial] = {}
        options = {"multivariate": True} if sampler == "TPESampler" else {}
        chosen = getattr(optuna.samplers, sampler)(seed=seed, n_startup_trials=8, **options)
        self.study = optuna.create_study(direction="maximize", sampler=chosen)
        self.sides = {one.key: optuna.distributions.FloatDistribution(0, 1) for one in space.knobs}

    def __call__(self, tried: Sequence[Standing], size: int) -> list[Settings]:
        """Tells what came of the last ones, and asks."""
        for one in tried[self.told :]:
            trial = self.asked.pop(one.candidate, None)
            if trial is None:
                place = dict(zip(self.sides, self.space.place(one.candidate), strict=True))
                self.study.enqueue_trial(place)
                trial = self.study.ask(self.sides)
            trial.set_constraint("margin", -one.margin)
            self.study.tell(trial, one.gain)
        self.told = len(tried)
        trials = [self.study.ask(self.sides) for _ in range(size)]
        found = [self.space.at([one.params[key] for key in self.sides]) for one in trials]
        self.asked.update(zip(found, trials, strict=True))
        return found


def main() -> None:
    """Print what searches find beside the whole grid."""
    searches: dict[str, Search] = {"advise": Expected, "chance": Chance}
    if find_spec("optuna"):
        searches["Optuna's TPE"] = partial(Optuna, "TPESampler")
    print("| case | figure | search | median | least | most |\n|---|---|---|---:|---:|---:|")
    for file in sorted(GRIDS.glob("*.csv")):
        grid = Grid(file)
        best = grid.best().candidate
        told = f"full grid, {', '.join(best)} | {100 * share(grid.checked(best)):.1f} %"
        print(f"| {file.stem} | `{grid.objective}` | {told} | | |")
        for name, one in searches.items():
            found = 100 * grid.reached(one)
            print(f"| | | {name} | {np.median(found):.0f} % | {found.min():.0f} % | {found.max():.0f} % |", flush=True)


if __name__ == "__main__":
    main()
