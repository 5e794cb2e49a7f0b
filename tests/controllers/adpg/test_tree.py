"""Trees that CatBoost has trained, in numpy."""

from __future__ import annotations

import catboost
import numpy as np
import pytest
from testbed_controllers.adpg.catboost_form import predictor
from testbed_controllers.adpg.compiled import CompiledTrees
from testbed_controllers.adpg.distillation import anywhere
from testbed_controllers.adpg.tree import Trees


@pytest.mark.parametrize(("trees", "depth"), [(3, 2), (12, 6)])
def test_a_model_that_catboost_has_just_trained(trees: int, depth: int) -> None:
    rng = np.random.default_rng(trees)
    features = anywhere(20_000, rng).astype(np.float32).astype(float)
    model = catboost.CatBoostRegressor(
        iterations=trees, depth=depth, learning_rate=0.5, verbose=False, allow_writing_files=False, thread_count=1
    )
    model.fit(features, np.sin(features).sum(axis=1))
    mine = Trees.of(model, {})
    wanted = model.predict(features)
    for decide in (mine.decide, predictor(mine), CompiledTrees(mine).decide):
        np.testing.assert_allclose(decide(features), wanted, rtol=0, atol=1e-5)
