"""PET as a tuner: its policy decides, row by row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from testbed_plugins.pet import PMAX

from testbed.registry import find
from tests.support.slots import SECN2, ports, slot, tuner

KMAX, P = 10, 20  # where the heads begin in the scores


def test_the_highest_scores_decide(tmp_path: Path) -> None:
    one = tuner("pet", tmp_path, {1: 5.0, KMAX + 4: 5.0, P + 7: 5.0}, ports())
    decided = one.on_slot(1e-4, slot(one.initial(), queue=50e3))
    assert (decided.kmin[0], decided.kmax[0], decided.pmax[0]) == (40e3, 320e3, PMAX[7])
    assert one.report["reward"] == pytest.approx(0.7)


def test_multi_queue_ports_get_a_row_each(tmp_path: Path) -> None:
    one = tuner("pet", tmp_path, {}, ports(port=np.array([0, 0, 1])))
    assert one.on_slot(1e-4, slot(one.initial(), queue=[1e3, 1e6, 0.0])).kmin.shape == (3,)


def test_the_ablation_has_policies_of_its_own() -> None:
    form = find("tuner", "pet").form
    seeing, blind = (form(form.Config(flows=flows), ports()) for flows in (True, False))
    assert (seeing.file.name, blind.file.name) == ("websearch.onnx", "websearch-without-flows.onnx")
    assert blind.observation.append(slot(SECN2)).shape == (3, seeing.observation.append(slot(SECN2)).shape[1] - 3 * 2)


def test_trained_for_completion_times_it_scales_with_the_port(tmp_path: Path) -> None:
    """A queue of four BDPs is as long at 100 Gbit/s as at 25: what it sees and what it sets follow the rate."""
    both = ports(rate=np.array([25e9, 100e9, 25e9]))
    one = tuner("pet", tmp_path, {1: 5.0, KMAX + 3: 5.0, P + 19: 5.0}, both, goal="fct")
    sample = slot(one.initial(), queue=[50e3, 200e3, 0.0], mean_queue=[50e3, 200e3, 0.0])
    decided = one.on_slot(1e-4, sample)
    assert decided.kmin.tolist() == [40e3, 160e3, 40e3]
    assert decided.kmax.tolist() == [160e3, 640e3, 160e3]
    assert one.report == {}  # no switch sees what it was trained for
    slow, fast, _ = one.observation.append(sample)
    assert slow == pytest.approx(fast)
    printed = tuner("pet", tmp_path, {1: 5.0, KMAX + 3: 5.0, P + 19: 5.0}, both)
    assert printed.on_slot(1e-4, sample).kmin.tolist() == [40e3] * 3


def test_what_was_trained_for_completion_times_spares_elephants_an_incast_s_marks() -> None:
    form = find("tuner", "pet").form
    one = form(form.Config(goal="fct"), ports(rate=np.full(3, 25e9)))
    calm, high = {"incast_degree": [np.nan, 6.0, 9.0]}, {"incast_degree": [12.0, 12.0, 12.0]}
    shares = [1.0, 1.0, 0.3]  # many elephants at a port are no incast
    for more, kmin in ((calm, [20e3] * 3), (high, [1280e3, 1280e3, 20e3])):
        assert one.on_slot(0.0, slot(one.initial(), mice_share=shares, **more)).kmin.tolist() == kmin


def test_what_was_trained_for_completion_times_has_one_policy_for_all() -> None:
    form = find("tuner", "pet").form
    chosen = form.presets["fct"]
    assert {form(form.Config(**chosen, workload=one), ports()).file.name for one in ("websearch", "datamining")} == {
        "fct.onnx"
    }
    for more, why in (({"online": True}, "cannot be learned online"), ({"flows": False}, "leave out flows=false")):
        with pytest.raises(ValueError, match=why):
            form.Config(**chosen, **more)
