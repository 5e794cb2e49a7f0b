"""A checkpoint of a training: with the same options it goes on from there, to the same policy as without a break.

The file holds arrays and JSON. Whatever is in it, reading it runs nothing: torch's own form is a pickle.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from testbed.base.atomic import atomic_write
from testbed.errors import BadInput
from testbed.sdk.packages import versions

FORMAT = 3  # of what is saved
_ARRAY = "array"  # key of an object that stands for a tensor, by its number


class Checkpoint:
    """One file, which belongs to one training: that of ``options``, with the packages as they are installed."""

    def __init__(self, file: Path, torch: Any, options: dict[str, Any]) -> None:
        self.file, self.torch = file, torch
        self.made_with = json.loads(json.dumps(options | versions("numpy", "torch") | {"format": FORMAT}))

    def save(self, state: dict[str, Any]) -> None:
        """Write it, whole or not at all: tensors, numbers and text, in dicts and lists."""
        content, tensors = io.BytesIO(), []

        def number(tensor: Any) -> dict[str, int]:
            tensors.append(tensor.detach().numpy())
            return {_ARRAY: len(tensors) - 1}

        told = json.dumps({"made_with": self.made_with, "state": state}, default=number)
        np.savez(content, np.frombuffer(told.encode(), np.uint8), *tensors)
        self.file.parent.mkdir(exist_ok=True)
        atomic_write(self.file, content.getvalue())

    def load(self) -> dict[str, Any] | None:
        """What was saved, or None if nothing was. Raises BadInput if it is of another training, or damaged."""
        if not self.file.is_file():
            return None
        try:
            with np.load(self.file, allow_pickle=False) as held:
                told, *arrays = (held[f"arr_{number}"] for number in range(len(held.files)))
            found = json.loads(told.tobytes(), object_hook=lambda one: self._tensor(one, arrays))
            before, state = found["made_with"], found["state"]
        except Exception as error:  # numpy raises many kinds
            raise self._of_no_use(f"is damaged ({type(error).__name__})") from error
        others = [key for key in {**before, **self.made_with} if before.get(key) != self.made_with.get(key)]
        if others:
            said = ", ".join(f"{key}={before.get(key)} and not {self.made_with.get(key)}" for key in others)
            raise self._of_no_use(f"was made with {said}")
        return dict(state)

    def _tensor(self, told: dict[str, Any], arrays: list[Any]) -> Any:
        return self.torch.from_numpy(arrays[told[_ARRAY]].copy()) if told.keys() == {_ARRAY} else told

    def _of_no_use(self, why: str) -> BadInput:
        return BadInput(
            f"checkpoint {self.file} {why}; remove {self.file.parent} to begin anew, or choose another --out"
        )
