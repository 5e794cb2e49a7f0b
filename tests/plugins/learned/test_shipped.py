"""The shipped policies: PET ahead of the published static thresholds by the reward that it was trained for."""

from __future__ import annotations

import json
import time
from functools import partial

import numpy as np
import pytest
from testbed_plugins.acc import Acc
from testbed_plugins.learned.evaluation import ahead, compare, static
from testbed_plugins.learned.job import with_policy
from testbed_plugins.learned.tuner import LearnedTuner
from testbed_plugins.pet import Pet
from testbed_plugins.pet.reward import WEIGHTS, reward
from testbed_plugins.pet.settings import PRESETS, Settings
from testbed_plugins.pet.training import Training

from testbed.registry import find
from tests.support.slots import ports, slot


@pytest.mark.parametrize("form", [Acc, Pet])
def test_the_log_says_how_they_were_made(form: type[LearnedTuner]) -> None:
    log = json.loads((form.folder / "training.json").read_text())
    assert log["command"].startswith(f"testbed train {form.name}")
    assert log["settings"]["seed"] == 1
    assert sum(one["seconds_of_cpu"] for one in log["policies"].values()) < 20 * 60
    for workload in ("websearch", "datamining"):
        assert (form.folder / f"{workload}.onnx").is_file()
        assert log["policies"][workload]["ahead"]["secn2"][0] > 0


def test_pet_is_ahead_of_secn1_and_secn2_in_the_model() -> None:
    """Seeds that neither training nor its evaluation used; the interval of the differences is clear of 0."""
    makers = {"pet": with_policy("pet", "websearch", Pet.folder / "websearch.onnx")}
    makers |= {name: static(name) for name in ("secn1", "secn2")}
    gained = partial(reward, weights=WEIGHTS["websearch"])
    found = compare(makers, "websearch", range(201, 207), gained, slots=32)
    for other in ("secn1", "secn2"):
        mean, half = ahead(found["pet"], found[other])
        assert mean > half > 0, other


@pytest.mark.parametrize("name", ["acc", "pet"])
def test_one_decision_for_all_ports_is_quick(name: str) -> None:
    """The issue asks for 200 us on a quiet machine; here only that it is no matter of milliseconds."""
    form = find("tuner", name).form
    one = form(form.Config(), ports(17))
    sample = slot(one.initial(), queue=200e3, tx_rate=10e9)
    took = []
    for _ in range(200):
        began = time.thread_time()
        one.on_slot(0.0, sample)
        took.append(time.thread_time() - began)
    assert np.median(took) < 2e-3


@pytest.mark.parametrize("preset", PRESETS)
def test_the_same_seed_trains_the_same_actor(preset: str) -> None:
    settings = Settings(**{"copies": 2} | PRESETS[preset], updates=2, trajectory=8, ports=4, batch=16)
    actors = [Training(settings, "websearch").run().actor for _ in range(2)]
    assert all(
        np.array_equal(a, b) for one, other in zip(*actors, strict=True) for a, b in zip(one, other, strict=True)
    )
