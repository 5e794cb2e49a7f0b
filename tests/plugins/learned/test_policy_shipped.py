"""The shipped policies: how they were made, and that they are quick."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
from testbed_plugins.acc import Acc
from testbed_plugins.learned.tuner import LearnedTuner
from testbed_plugins.pet import Pet

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


def test_the_policy_for_completion_times_serves_users_better_than_secn1() -> None:
    log = json.loads((Pet.folder / "fct-training.json").read_text())
    assert log["command"].startswith("testbed train pet --preset fct --seed 1")
    assert (Pet.folder / "fct.onnx").is_file()
    assert np.mean([one["felt"] for one in log["figures"]]) < 0.97
