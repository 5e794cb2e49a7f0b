"""PET's heads: thresholds that are always valid."""

from __future__ import annotations

import numpy as np
from testbed_plugins.pet import grid
from testbed_plugins.pet.decision import Heads


def test_kmin_is_always_below_kmax() -> None:
    buffers = np.array([12e6, 5e6, 50e3])
    heads = Heads(grid(20e3), buffers)
    rng = np.random.default_rng(1)
    for _ in range(200):
        kmin, kmax, _ = grid(20e3).values(heads.best(rng.normal(0, 100, (3, 40))))
        assert (kmin < kmax).all()
        assert (kmax <= buffers).all()
