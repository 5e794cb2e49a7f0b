"""Controllers by a policy: which file it is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from testbed.plugin import PluginConfig


class ByPolicy:
    """What decides by a policy; its options have ``policy``, the file of another one."""

    shipped: ClassVar[Path]

    @classmethod
    def file(cls, config: Any) -> Path:
        """The policy that the options name, or the shipped one."""
        return Path(config.policy) if config.policy else cls.shipped

    @classmethod
    def inputs(cls, config: PluginConfig) -> Mapping[str, Path]:
        return {"policy": cls.file(config)}
