"""Which of the shipped policies decides: three seeds of each."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from pydantic import Field

from testbed.plugin import PluginConfig

from ..learned.policy import ByPolicy

POLICIES = Path(__file__).with_name("policies")
SEEDS = (1, 2, 3)


class Shipped(PluginConfig):
    """Options of `BySeed`."""

    seed: int = Field(default=SEEDS[0], ge=SEEDS[0], le=SEEDS[-1], description="Which of the shipped policies decides.")
    policy: str = Field(default="", description="File with another policy.")


class BySeed(ByPolicy):
    """What has a policy for each seed."""

    name: ClassVar[str]

    @classmethod
    def file(cls, config: Shipped) -> Path:
        """The policy that the options name, or that of their seed."""
        return Path(config.policy) if config.policy else POLICIES / f"{cls.name}-{config.seed}.json"
