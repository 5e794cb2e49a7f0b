"""Trees that CatBoost has trained, in numpy and in C."""

from __future__ import annotations

import ctypes
from ctypes import c_double, c_void_p

import numpy as np
import pytest
from testbed_controllers.adpg.catboost_form import predictor
from testbed_controllers.adpg.distillation import anywhere
from testbed_controllers.adpg.observation import limited
from testbed_controllers.adpg.tree import Trees

from testbed.base.arrays import Floats
from tests.controllers.adpg.loops import TREES


def decided_in_c(trees: Trees, features: Floats) -> Floats:
    """As the training's rollouts call it, one after the other."""
    address, parameters = trees.in_c()
    policy = ctypes.CFUNCTYPE(c_double, c_void_p, c_void_p)(address)
    at = features.ctypes.data
    return np.array([policy(parameters.ctypes.data, at + row * features.strides[0]) for row in range(len(features))])


def test_forms_agree_on_many_inputs() -> None:
    """CatBoost on a million is in export/test_c.py."""
    features = anywhere(100_000, np.random.default_rng(1))
    np.testing.assert_allclose(TREES.decide(features), predictor(TREES)(features), rtol=0, atol=1e-5)
    np.testing.assert_array_equal(decided_in_c(TREES, features), limited(TREES.decide(features)))


@pytest.mark.parametrize(("trees", "depth"), [(3, 2), (12, 6)])
def test_a_model_that_catboost_has_just_trained(trees: int, depth: int) -> None:
    catboost = pytest.importorskip("catboost")
    rng = np.random.default_rng(trees)
    features = anywhere(20_000, rng).astype(np.float32).astype(float)
    model = catboost.CatBoostRegressor(
        iterations=trees, depth=depth, learning_rate=0.5, verbose=False, allow_writing_files=False, thread_count=1
    )
    model.fit(features, np.sin(features).sum(axis=1))
    mine = Trees.of(model, {})
    wanted = model.predict(features)
    for decide in (mine.decide, predictor(mine)):
        np.testing.assert_allclose(decide(features), wanted, rtol=0, atol=1e-5)
    np.testing.assert_array_equal(decided_in_c(mine, features), limited(mine.decide(features)))
