"""Which variants are dominated: another one is nowhere worse, and somewhere better.

The three figures are those of the ADPG paper's Definition 1 (Tessler et al., "Reinforcement Learning for Datacenter
Congestion Control", section 7): SU, FR and QL. There a difference of up to 5 counts as equal, in per cent and in
microseconds alike; here the repeats decide what is (`testbed.results.compare.clear`).

Equal is not transitive, and so dominance is not either: A may dominate B and B dominate C while C dominates A. In such
a ring all three are dominated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from testbed.results.compare.clear import Clear, compared
from testbed.results.compare.median import Estimate
from testbed.results.summary import COMPARED

RULE = tuple(metric for metric in COMPARED.values() if metric.of_dominance)

Estimates = Mapping[str, Estimate]  # of the figures of `RULE`, by name


def dominates(one: Estimates, other: Estimates) -> bool | None:
    """None if the repeats of any figure are too few, or it is not known."""
    words: list[Clear] = [compared(metric, one[metric.name], other[metric.name]) for metric in RULE]
    return None if "" in words else "better" in words and "worse" not in words


def dominated_by(results: Sequence[Estimates]) -> list[list[int] | None]:
    """For each result the indices of those that dominate it; None where none can be held against it."""
    found: list[list[int] | None] = []
    for one in results:
        held = {i: dominates(other, one) for i, other in enumerate(results) if other is not one}
        known = not held or any(word is not None for word in held.values())
        found.append([i for i, word in held.items() if word] if known else None)
    return found
