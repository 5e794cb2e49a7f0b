"""docs/howto/ppo.py, which gym.md shows: it runs as it stands, and PPO learns."""

from __future__ import annotations

import runpy

from tests.support.checkout import ROOT


def test_ppo_learns_on_the_page() -> None:
    """Doing nothing lets the queue grow all the time; what was learned must be rid of most of that."""
    seen = runpy.run_path(str(ROOT / "docs/howto/ppo.py"))
    assert seen["before"] < -0.1
    assert seen["after"] > seen["before"] / 4
