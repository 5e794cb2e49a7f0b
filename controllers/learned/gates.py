"""What a policy must do in closed loops before it is kept."""

from __future__ import annotations

from collections.abc import Iterable


def missed(flows: int, gates: Iterable[tuple[str, float, float, bool]]) -> str:
    """The first of the gates (word, value, limit, whether it is good) that is missed with so many flows, or nothing."""
    for word, value, limit, good in gates:
        if not good:
            return f"with {flows} flows {word} is {value:.4g}, the gate is {limit:g}"
    return ""
