"""A checkpoint of a training: with the same options it goes on from there, to the same policy as without a break."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from testbed.base.atomic import atomic_write
from testbed.errors import BadInput
from testbed.sdk.packages import versions

FORMAT = 2  # of what is saved; 1 was with the optimisers of torch


class Checkpoint:
    """One file, which belongs to one training: that of ``options``, with the packages as they are installed."""

    def __init__(self, file: Path, torch: Any, options: dict[str, Any]) -> None:
        self.file, self.torch = file, torch
        self.made_with = options | versions("numpy", "torch") | {"format": FORMAT}

    def save(self, state: dict[str, Any]) -> None:
        """Write it, whole or not at all: tensors, numbers and text."""
        content = io.BytesIO()
        self.torch.save({"made_with": self.made_with, "state": state}, content)
        self.file.parent.mkdir(exist_ok=True)
        atomic_write(self.file, content.getvalue())

    def load(self) -> dict[str, Any] | None:
        """What was saved, or None if nothing was. Raises BadInput if it is of another training, or damaged."""
        if not self.file.is_file():
            return None
        try:
            found = self.torch.load(self.file, weights_only=True)
            before, state = found["made_with"], found["state"]
        except Exception as error:  # torch raises many kinds of its own
            raise self._of_no_use(f"is damaged ({type(error).__name__})") from error
        others = [key for key in {**before, **self.made_with} if before.get(key) != self.made_with.get(key)]
        if others:
            said = ", ".join(f"{key}={before.get(key)} and not {self.made_with.get(key)}" for key in others)
            raise self._of_no_use(f"was made with {said}")
        return dict(state)

    def _of_no_use(self, why: str) -> BadInput:
        return BadInput(
            f"checkpoint {self.file} {why}; remove {self.file.parent} to begin anew, or choose another --out"
        )
