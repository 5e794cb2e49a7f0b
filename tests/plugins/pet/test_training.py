"""PET's training: what copies of the same traffic are for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from testbed_plugins.pet.settings import PRESETS, Settings
from testbed_plugins.pet.training import Progress, Training

from testbed.errors import BadInput

IN_THE_MODEL = [name for name, preset in PRESETS.items() if "goal" not in preset]  # the other: test_fct.py


def test_what_others_gained_from_the_same_traffic_is_taken_off() -> None:
    """Two traffics, two copies each, as ports 0 and 2, 1 and 3."""
    training = Training(Settings(ports=4, copies=2), "websearch")
    assert training._against_copies(np.array([0.5, 0.9, 0.7, 0.9])) == pytest.approx([-0.2, 0, 0.2, 0])


@pytest.mark.parametrize("preset", IN_THE_MODEL)
def test_the_same_seed_trains_the_same_actor(preset: str) -> None:
    settings = Settings(**{"copies": 2} | PRESETS[preset], updates=2, trajectory=8, ports=4, batch=16)
    actors = [Training(settings, "websearch").run().actor for _ in range(2)]
    assert all(
        np.array_equal(a, b) for one, other in zip(*actors, strict=True) for a, b in zip(one, other, strict=True)
    )


SMALL = Settings(updates=7, trajectory=8, episode=16, ports=4, batch=16)


class Killed(Exception):
    """In the middle of a training."""


@pytest.mark.parametrize("preset", IN_THE_MODEL)
def test_a_training_that_goes_on_gives_the_actor_of_one_without_a_break(preset: str, tmp_path: Path) -> None:
    """Ended after update 5: the checkpoint is that of update 4, where the second episode of two trajectories ended."""
    settings, file = SMALL.model_copy(update=PRESETS[preset]), tmp_path / "made" / "websearch.npz"

    def kill(progress: Progress) -> None:
        if progress.update == 5:
            raise Killed

    with pytest.raises(Killed):
        Training(settings, "websearch").run(kill, file)
    told: list[int] = []
    resumed = Training(settings, "websearch").run(lambda progress: told.append(progress.update), file)
    unbroken = Training(settings, "websearch").run()
    assert told == [5, 6, 7]
    for one, other in zip(resumed.actor, unbroken.actor, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    assert [(one.reward, one.losses) for one in resumed.history] == [
        (one.reward, one.losses) for one in unbroken.history
    ]


def test_a_checkpoint_of_another_training_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "websearch.npz"
    Training(SMALL, "websearch").run(checkpoint=file)
    with pytest.raises(BadInput, match=r"made with gamma=0\.9 and not 0\.5; remove .* to begin anew"):
        Training(SMALL.model_copy(update={"gamma": 0.5}), "websearch").run(checkpoint=file)
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(BadInput, match="is damaged"):
        Training(SMALL, "websearch").run(checkpoint=file)
