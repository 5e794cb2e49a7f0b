"""Counters grow as tests let them, never fall, and are read at most every 10 ms."""

from __future__ import annotations

from typing import Any

import pytest

from tests.emulated_lab import counters


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr("time.monotonic", lambda: 100.0)
    return {"counters": {}}


def at(state: dict[str, Any], name: str, moment: float) -> int:
    return counters.value(state, name, moment)


def test_nothing_was_counted(state: dict[str, Any]) -> None:
    assert at(state, "np_cnp_sent", 100.0) == 0


def test_jumps_add_up(state: dict[str, Any]) -> None:
    counters.tell(state, "np_cnp_sent", add=3)
    counters.tell(state, "np_cnp_sent", add=4)
    assert at(state, "np_cnp_sent", 100.0) == 7


def test_growth_is_seen_in_steps_of_the_lifespan(state: dict[str, Any]) -> None:
    counters.tell(state, "np_cnp_sent", rate=1000)
    assert [at(state, "np_cnp_sent", 100.0 + ms / 1000) for ms in (0, 9, 11, 19, 21)] == [0, 0, 10, 10, 20]


def test_it_never_falls(state: dict[str, Any]) -> None:
    counters.tell(state, "np_cnp_sent", rate=999)
    seen = [at(state, "np_cnp_sent", 99.99 + step * 0.0031) for step in range(100)]
    assert seen == sorted(seen)
    assert seen[-1] > 200
