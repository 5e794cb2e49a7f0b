"""Which results are dominated, by the ADPG paper's rule.

Tessler et al., "Reinforcement Learning for Datacenter Congestion Control" (ADPG), section 7, Definition 1: A dominates
B if A is at least about as good in all metrics, and clearly better in one; a difference of up to 5 counts as equal,
in every metric. The metrics are the paper's three in the paper's units: SU in %, FR in %, QL in microseconds. (Text
copies of the paper lose the definition's signs; read as "equal in all and better in one", it could never hold.)

About equal is not transitive, and so dominance is not either: A may dominate B and B dominate C while C dominates A.
The definition is applied as it stands, to every pair: in such a ring all three are dominated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from testbed.results.summary import COMPARED

RULE = tuple(metric for metric in COMPARED.values() if metric.equal_within is not None)

Figures = Mapping[str, float]  # a metric's name to its value, SI


def dominates(a: Figures, b: Figures) -> bool:
    """Whether ``a`` dominates ``b``; never if one of the metrics is unknown."""
    gains = [(_gain(metric.name, a, b), metric.equal_within or 0.0) for metric in RULE]
    return all(gain >= -equal for gain, equal in gains) and any(gain > equal for gain, equal in gains)


def _gain(name: str, a: Figures, b: Figures) -> float:
    """By how much ``a`` is better, in the paper's unit; rounded, for 13 us - 8 us must be 5."""
    metric = COMPARED[name]
    better = (a[name] - b[name]) * metric.scale
    return round(better if metric.better == "higher" else -better, 9)


def dominated_by(results: Sequence[Figures]) -> list[list[int]]:
    """For each result the indices of those that dominate it."""
    return [[i for i, other in enumerate(results) if dominates(other, one)] for one in results]
