"""Every pair of some controllers in one rack, half of the flows each: who gets how much of it?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations_with_replacement

import numpy as np

from testbed.base.arrays import Floats
from testbed.engines.engine import Engine
from testbed.experiment.resolved import Resolved
from testbed.fidelity.verdict import judge
from testbed.live.observers import Observer
from testbed.results.figures import throughput
from testbed.results.figures.spans import window
from testbed.results.table import Cell, Table
from testbed.runs.forked import each


@dataclass(frozen=True)
class Met:
    """One pair. A share is goodput per flow / that of all flows: 1 is fair, 2 is everything."""

    pair: tuple[str, str]
    share: float  # of the first
    utilisation: float  # %, of the bottleneck
    word: str  # of the verdict
    why: str


@dataclass(frozen=True)
class Matrix:
    """``share[i, j]`` is what ``names[i]`` got beside ``names[j]``; of one with itself, what half of its flows got."""

    names: Sequence[str]
    met: Sequence[Met]

    @property
    def share(self) -> Floats:
        """Shape (n, n)."""
        place = {name: at for at, name in enumerate(self.names)}
        shares = np.full((len(self.names), len(self.names)), np.nan)
        for one in self.met:
            row, column = (place[name] for name in one.pair)
            shares[column, row] = 2 - one.share
            shares[row, column] = one.share
        return shares

    @property
    def degraded(self) -> list[Met]:
        """Pairs whose figures are not all the algorithms'."""
        return [one for one in self.met if one.word != "clean"]

    def table(self) -> Table:
        """A row per controller; what got less than half of its fair share is marked."""
        rows = []
        for name, shares in zip(self.names, self.share, strict=True):
            cells = [Cell(f"{one:.2f}", mark="worse" if one < 0.5 else "") for one in shares]
            rows.append([Cell(name), *cells])
        return Table(rows, [Cell("got, beside"), *map(Cell, self.names)])


def halves(flows: int) -> list[int]:
    """The second half: every other flow, so that both halves are at all hosts and start alike."""
    return list(range(1, flows, 2))


def coexist(engine: Engine, make: Callable[[str, str], Resolved], names: Sequence[str], jobs: int) -> Iterator[Met]:
    """All pairs, each as soon as it is known. ``make`` gives the experiment of a pair. Raises TestbedError."""
    pairs = [(first, second, make(first, second)) for first, second in combinations_with_replacement(names, 2)]
    for _, _, resolved in pairs:
        engine.check(resolved)
    yield from each([partial(_meet, engine, *pair) for pair in pairs], jobs)


def _meet(engine: Engine, first: str, second: str, resolved: Resolved) -> Met:
    observer = Observer()
    record = engine.follow(engine.prepare(resolved, observer), observer, [], f"{first}-{second}", [])
    verdict, span = judge(record), window(record)
    goodput = throughput.flow_goodput(record, span)
    share = float(goodput[resolved.experiment.decider == 0].mean() / goodput.mean()) if goodput.any() else np.nan
    why = "; ".join(str(reason) for reason in verdict.reasons)
    return Met((first, second), share, throughput.utilisation(record, span), verdict.word, why)
