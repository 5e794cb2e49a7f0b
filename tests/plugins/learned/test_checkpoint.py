from __future__ import annotations

import io
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from testbed_plugins.learned.checkpoint import Checkpoint

from testbed.errors import BadInput
from tests.support.lazily import Lazily, needs_torch

pytestmark, torch = needs_torch, Lazily("torch")


def checkpoint(folder: Path) -> Checkpoint:
    return Checkpoint(folder / "made" / "one.npz", torch, {"gamma": 0.9, "workloads": ("a", "b")})


def test_what_was_saved_comes_back_to_the_bit(tmp_path: Path) -> None:
    tensors = [
        torch.rand(3, 2),
        torch.tensor(7),
        torch.tensor([0.1], dtype=torch.float64),
        torch.tensor([], dtype=torch.int32),
    ]
    state = {"net": {"weight": tensors[0]}, "steps": tensors[1:], "drawn": "é", "mean": 0.1 + 0.2, "none": None}
    checkpoint(tmp_path).save(state)
    found = checkpoint(tmp_path).load()
    assert found is not None
    for one, other in zip([found["net"]["weight"], *found["steps"]], tensors, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert torch.equal(one, other)
    assert {key: found[key] for key in ("drawn", "mean", "none")} == {"drawn": "é", "mean": 0.1 + 0.2, "none": None}


class Harmful:
    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.file),)


def test_reading_one_runs_nothing(tmp_path: Path) -> None:
    """Neither a pickle in the place of the file, nor one as an array in it."""
    file, ran = checkpoint(tmp_path).file, tmp_path / "ran"
    file.parent.mkdir()
    held = io.BytesIO()
    np.savez(held, np.array([Harmful(ran)], object))  # numpy writes objects as a pickle
    of_torch = io.BytesIO()
    torch.save({"made_with": Harmful(ran)}, of_torch)
    for content in (pickle.dumps(Harmful(ran)), held.getvalue(), of_torch.getvalue()):
        file.write_bytes(content)
        with pytest.raises(BadInput, match="is damaged"):
            checkpoint(tmp_path).load()
    assert not ran.exists()
    with zipfile.ZipFile(held) as archive:  # it would have been one
        pickle.loads(archive.read("arr_0.npy").partition(b"\n")[2])
    assert ran.exists()
