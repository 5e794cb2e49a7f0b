"""Trying seeds until one does well enough."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar


class Judged(Protocol):
    """What came of a seed."""

    @property
    def failure(self) -> str:
        """Why it is not accepted, or nothing."""
        ...


Attempt = TypeVar("Attempt", bound=Judged)


def attempts(
    most: int, attempt: Callable[[int], Attempt], told: Callable[[Attempt], None] = lambda _one: None
) -> list[Attempt]:
    """``attempt(0)`` and those after it, up to ``most`` or until one is accepted, which is then the last."""
    made: list[Attempt] = []
    while len(made) < most and (not made or made[-1].failure):
        made.append(attempt(len(made)))
        told(made[-1])
    return made
