"""The guard's falls and returns."""

from __future__ import annotations

from testbed_plugins.pet.guard import WINDOW, Guard


def test_guard_measures_static_first_falls_back_and_comes_back() -> None:
    guard = Guard(bound=0.2)

    def spent(reward: float, windows: int = 1) -> bool:
        for _ in range(windows * WINDOW):
            guard.look(reward)
        return guard.static

    assert guard.static
    assert not spent(0.8)  # the static thresholds' reward: the reference
    assert not spent(0.65)  # above 80 % of it
    assert spent(0.6)
    assert not spent(0.5)  # under static thresholds it is even worse: the traffic is harder, not the policy
    assert not spent(0.45)
    assert spent(0.3)
    assert guard.falls == 2
    assert spent(0.5)  # the second fall lasts for two windows
    assert not spent(0.5)
