"""The shipped policy of PET, ahead of the published static thresholds by the reward that it was trained for."""

from __future__ import annotations

from functools import partial

from testbed_plugins.learned.evaluation import ahead, compare, static
from testbed_plugins.learned.job import with_policy
from testbed_plugins.learned.tuner import WEIGHTS
from testbed_plugins.pet import Pet
from testbed_plugins.pet.reward import reward


def test_pet_is_ahead_of_secn1_and_secn2_in_the_model() -> None:
    """Seeds that neither training nor its evaluation used; the interval of the differences is clear of 0."""
    makers = {"pet": with_policy("pet", "websearch", Pet.folder / "websearch.onnx")}
    makers |= {name: static(name) for name in ("secn1", "secn2")}
    gained = partial(reward, weights=WEIGHTS["websearch"])
    found = compare(makers, "websearch", range(201, 207), gained, slots=16)
    for other in ("secn1", "secn2"):
        mean, half = ahead(found["pet"], found[other])
        assert mean > half > 0, other
