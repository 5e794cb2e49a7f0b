"""Whether scores in virtual time put controllers in the order that the kernel's rack puts them in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from bench.measure import Row
from testbed.registry import names as installed
from testbed.results.record import EngineName
from testbed.sdk.score.score import Score, score
from testbed.sdk.score.suite import SUITES

SEED = 1
TAU = 0.8


def of_rank() -> Iterator[Row]:
    """Kendall's tau between the scores of all controllers; needs root, and about three minutes for each."""
    names = sorted(installed("controller"))
    virtual, rack = ([_scored(name, engine).total for name in names] for engine in ("virtual", "kernel"))
    found = kendall(virtual, rack)
    yield Row(
        f"Kendall's tau of {len(names)} controllers' scores, virtual and kernel", f"{found:.2f}", f">= {TAU}",
        found >= TAU, values={"controllers": names, "virtual": virtual, "kernel": rack},
    )  # fmt: skip


def _scored(name: str, engine: EngineName) -> Score:
    return score(name, SUITES["quick"], SEED, 1, engine)


def kendall(one: Sequence[float], other: Sequence[float]) -> float:
    """Tau-a: the share of pairs in the same order, less that of those in the opposite one.

    >>> kendall([1, 2, 3], [1, 3, 2])
    0.3333333333333333
    """
    pairs = list(combinations(range(len(one)), 2))
    same = [(one[a] - one[b]) * (other[a] - other[b]) for a, b in pairs]
    return sum((product > 0) - (product < 0) for product in same) / len(pairs)
