"""Nothing begins when the time is used up, whatever a run takes."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

from testbed.advise.advice import Advice
from testbed.advise.budget import Budget, in_time
from testbed.advise.evidence import Ask
from testbed.advise.question import CHECK
from testbed.errors import BadInput
from tests.support.planted import planted

SECONDS, SLOW = 400.0, 30.0


class Clock:
    """Of a made-up machine."""

    def __init__(self) -> None:
        self.now = 0.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    for module in ("advice", "budget", "evidence"):
        monkeypatch.setattr(f"testbed.advise.{module}.time", SimpleNamespace(monotonic=lambda: made.now))
    return made


def valley(kmin: float, _kmax: float, _pmax: float, _chance: np.random.Generator) -> dict[str, float]:
    return {"ql_p99": 10e-6 * (1 + np.log(kmin / 30e3) ** 2), "goodput": 1e9}


def advised(clock: Clock, slow: Callable[[Ask], bool]) -> Advice:
    """A run takes a second, or, of those that are slow, many."""

    def ran(ask: Ask) -> None:
        clock.now += SLOW if slow(ask) else 1.0

    return planted(valley, budget=Budget(SECONDS, None, SECONDS), ran=ran)


def test_works_are_taken_until_the_moment(clock: Clock) -> None:
    taken = []
    for one in in_time(range(9), 3.0):
        taken.append(one)
        clock.now += 1.5
    assert taken == [0, 1]
    assert list(in_time(range(9), None)) == [*range(9)]


def test_what_the_change_is_compared_with_ends_with_the_budget_and_the_answer_stands(clock: Clock) -> None:
    found = advised(clock, lambda one: one.candidate[:1] == ("tuner={name: pet}",))
    assert found.verdict.word == "change"
    assert SECONDS <= clock.now <= SECONDS + SLOW
    missing = {one.contender.name for one in found.checked.contenders if "the time was used up" in one.standing.why}
    assert missing == {"PET", "ACC"}


def test_a_change_that_there_was_no_time_to_check_is_no_answer(clock: Clock) -> None:
    with pytest.raises(BadInput, match=r"the time was used up .* give a longer --budget"):
        advised(clock, lambda one: one.draw > CHECK)
    assert clock.now <= SECONDS + SLOW
