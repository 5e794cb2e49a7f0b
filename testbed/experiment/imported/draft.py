"""An experiment file that is being written: blocks of keys, each with comments above it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import yaml

WIDTH = 110


@dataclass
class Draft:
    """Top-level blocks in their order."""

    title: str
    blocks: dict[str, Any] = field(default_factory=dict)
    comments: dict[str, list[str]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def put(self, path: str, value: Any, *comments: str) -> None:
        """A value under a dotted path, and what is to be said above its block."""
        block, *rest = path.split(".")
        at: Any = self.blocks
        for key in [block, *rest][:-1]:
            at = at.setdefault(key, {})
        at[path.rpartition(".")[2]] = value
        self.comments.setdefault(block, []).extend(comments)

    def text(self) -> str:
        """YAML."""
        lines = [f"# {self.title}"]
        for block, value in self.blocks.items():
            lines += ["", *(f"# {comment}" for comment in self.comments.get(block, []))]
            lines.append(
                yaml.safe_dump({block: value}, sort_keys=False, width=WIDTH, default_flow_style=False).rstrip()
            )
        if self.left_out:
            lines += ["", "# Left out:", *(f"# * {one}" for one in self.left_out)]
        return "\n".join(lines) + "\n"
