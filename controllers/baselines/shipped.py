"""Which of the shipped policies decides: three seeds of each."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from testbed.plugin import PluginConfig

POLICIES = Path(__file__).with_name("policies")
SEEDS = (1, 2, 3)


class Shipped(PluginConfig):
    """Options of what has a policy for each seed."""

    seed: int = Field(default=SEEDS[0], ge=SEEDS[0], le=SEEDS[-1], description="Which of the shipped policies decides.")
    policy: str = Field(default="", description="File with another policy; by default a shipped one.")

    def file(self, name: str) -> Path:
        """Where the policy is."""
        return Path(self.policy) if self.policy else POLICIES / f"{name}-{self.seed}.json"
