"""Whether scores in virtual time put controllers in the order that the kernel's rack puts them in."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from bench.measure import Row
from testbed.engines.kernel import doctor
from testbed.engines.virtual.build import WORLD
from testbed.errors import Uncalibrated
from testbed.registry import names as installed
from testbed.results.record import EngineName
from testbed.sdk.score.score import Outcome, Score, outcome
from testbed.sdk.score.suite import SUITES

SEED = 1
TAU = 0.8
TRIES = 3  # of a run that the machine spoiled; then it is left out
SLOWER = ["time.dilation=4000"]  # after the first: `auto` was too fast for what else runs here
TRIALS = SUITES["quick"]
Outcomes = Mapping[str, Outcome]  # by experiment; without those that the machine spoiled


def of_rank() -> Iterator[Row]:
    """Kendall's tau between the scores of all controllers; needs root, and about three minutes for each."""
    doctor.require()
    WORLD.compiled()
    names = sorted(installed("controller"))
    virtual, rack = ([outcomes(name, engine) for name in names] for engine in ("virtual", "kernel"))
    found, pairs = kendall(virtual, rack)
    runs, clean = len(names) * len(TRIALS), sum(len(one) for one in rack)
    yield Row(
        f"Kendall's tau of {len(names)} controllers' scores, virtual and kernel", f"{found:.2f}", f">= {TAU}",
        found >= TAU, note=f"{pairs} pairs; {clean} of {runs} runs in the rack were clean, the others are left out",
        values={"controllers": names, "virtual": _totals(virtual), "kernel": _totals(rack)},
    )  # fmt: skip


def outcomes(controller: str, engine: EngineName) -> Outcomes:
    """Of all runs of the suite that the machine did not spoil."""
    found = {}
    for number, trial in enumerate(TRIALS):
        for attempt in range(TRIES):
            try:
                settings = trial.seeded(SEED, number, engine) + (SLOWER if attempt else [])
                one = outcome(controller, trial, settings)
            except Uncalibrated as error:
                print(f"bench: {controller}: {error}", file=sys.stderr)
                continue
            print(f"bench: {controller}: {engine}: {one}", file=sys.stderr, flush=True)
            if not one.degraded:
                found[trial.experiment] = one
                break
    return found


def kendall(one: Sequence[Outcomes], other: Sequence[Outcomes]) -> tuple[float, int]:
    """Tau-a: the share of pairs in the same order, less that of those in the opposite one; and how many pairs.

    A pair is compared over the experiments of which all four outcomes are there.
    """
    signs = []
    for a, b in combinations(range(len(one)), 2):
        shared = one[a].keys() & one[b].keys() & other[a].keys() & other[b].keys()
        if shared:
            product = (_total(one[a], shared) - _total(one[b], shared)) * (
                _total(other[a], shared) - _total(other[b], shared)
            )
            signs.append((product > 0) - (product < 0))
    return sum(signs) / max(len(signs), 1), len(signs)


def _total(found: Outcomes, experiments: Iterable[str]) -> float:
    return Score("", [found[name] for name in sorted(experiments)]).total


def _totals(found: Sequence[Outcomes]) -> list[float]:
    return [_total(one, one) for one in found]
