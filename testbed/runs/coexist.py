"""Every pair of some controllers in one rack, half of the flows each: who gets how much of it?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations_with_replacement, product
from pathlib import Path

import numpy as np

from testbed.base.arrays import Floats
from testbed.engines.engine import Engine
from testbed.experiment.resolved import Resolved
from testbed.fidelity.verdict import judge
from testbed.live.observers import Observer
from testbed.results.compare.median import Estimate, estimate
from testbed.results.summary import summarise
from testbed.results.table import Cell, Table
from testbed.runs.forked import each
from testbed.runs.run import execute


@dataclass(frozen=True)
class Met:
    """One run of a pair. A share is goodput per flow / that of all flows: 1 is fair, 2 is everything."""

    pair: tuple[str, str]
    seed: int
    share: float  # of the first
    utilisation: float  # %, of the bottleneck
    word: str  # of the verdict
    why: str


@dataclass(frozen=True)
class Matrix:
    """``share[i, j]`` is what ``names[i]`` got beside ``names[j]``; of one with itself, what half of its flows got.

    Of several seeds it is the median, with an interval (`testbed.results.compare.median`).
    """

    names: Sequence[str]
    met: Sequence[Met]

    def of(self, one: str, beside: str) -> Estimate:
        """What one of them got beside another."""
        own = [met.share for met in self.met if met.pair == (one, beside)]
        return estimate(own or [2 - met.share for met in self.met if met.pair == (beside, one)])

    @property
    def estimates(self) -> list[list[Estimate]]:
        """A row per controller."""
        return [[self.of(one, other) for other in self.names] for one in self.names]

    @property
    def share(self) -> Floats:
        """Shape (n, n)."""
        return np.array([[one.median for one in row] for row in self.estimates])

    @property
    def degraded(self) -> list[Met]:
        """Pairs whose figures are not all the algorithms'."""
        return [one for one in self.met if one.word != "clean"]

    def table(self) -> Table:
        """A row per controller; what got less than half of its fair share is marked."""
        rows = []
        for name, shares in zip(self.names, self.estimates, strict=True):
            cells = [
                Cell(f"{one.median:.2f}", _interval(one), mark="worse" if one.median < 0.5 else "") for one in shares
            ]
            rows.append([Cell(name), *cells])
        return Table(rows, [Cell("got, beside"), *map(Cell, self.names)], notes="below")


def _interval(found: Estimate) -> str:
    return f"{found.low:.2f}..{found.high:.2f}" if found.has_interval else ""


def halves(flows: int) -> list[int]:
    """The second half: every other flow, so that both halves are at all hosts and start alike."""
    return list(range(1, flows, 2))


def coexist(
    engine: Engine,
    make: Callable[[str, str, int], Resolved],
    names: Sequence[str],
    jobs: int,
    *,
    repeat: int = 1,
    out: Path | None = None,
) -> Iterator[Met]:
    """All pairs, each as soon as it is known; what they leave goes into ``out``.

    ``make`` gives the experiment of a pair for the first of ``repeat`` seeds (0), the second, and so on. Raises
    TestbedError.
    """
    works = []
    for pair, again in product(combinations_with_replacement(names, 2), range(repeat)):
        resolved = make(*pair, again)
        engine.check(resolved)
        works.append(partial(_meet, engine, pair, resolved, out))
    yield from each(works, jobs)


def _meet(engine: Engine, pair: tuple[str, str], resolved: Resolved, out: Path | None) -> Met:
    observer, experiment = Observer(), resolved.experiment
    if out is None:
        record = engine.follow(engine.prepare(resolved, observer), observer, [], "-".join(pair), [])
        summary = summarise(record, judge(record), experiment=experiment.name, controller=resolved.title)
    else:
        name = ",".join([*(one.plugin.name for one in resolved.deciders), f"seed={experiment.seed}"])
        summary = execute(engine, resolved, out / name, observer).summary
    why = "; ".join(str(reason) for reason in summary.verdict.reasons)
    return Met(pair, experiment.seed, summary.shared[0].fair, summary.su, summary.verdict.word, why)
