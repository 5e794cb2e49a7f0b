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
