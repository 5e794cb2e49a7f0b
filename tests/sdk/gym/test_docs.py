"""docs/howto/gym.md: the script on the page runs as it stands, and PPO learns."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[3] / "docs/howto/gym.md"


def test_ppo_learns_on_the_page() -> None:
    """Doing nothing lets the queue grow all the time; what was learned must be rid of most of that."""
    found = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found
    seen: dict[str, Any] = {}
    exec(compile(found[1], str(PAGE), "exec"), seen)
    assert seen["before"] < -0.1
    assert seen["after"] > seen["before"] / 4
