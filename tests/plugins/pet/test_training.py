"""PET's training: what copies of the same traffic are for."""

from __future__ import annotations

import numpy as np
import pytest
from testbed_plugins.pet.settings import PRESETS, Settings
from testbed_plugins.pet.training import Training


def test_what_others_gained_from_the_same_traffic_is_taken_off() -> None:
    """Two traffics, two copies each, as ports 0 and 2, 1 and 3."""
    training = Training(Settings(ports=4, copies=2), "websearch")
    assert training._against_copies(np.array([0.5, 0.9, 0.7, 0.9])) == pytest.approx([-0.2, 0, 0.2, 0])


@pytest.mark.parametrize("preset", PRESETS)
def test_the_same_seed_trains_the_same_actor(preset: str) -> None:
    settings = Settings(**{"copies": 2} | PRESETS[preset], updates=2, trajectory=8, ports=4, batch=16)
    actors = [Training(settings, "websearch").run().actor for _ in range(2)]
    assert all(
        np.array_equal(a, b) for one, other in zip(*actors, strict=True) for a, b in zip(one, other, strict=True)
    )
