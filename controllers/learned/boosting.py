"""Boosted trees from examples, by CatBoost (the extra ``[train]``)."""

from __future__ import annotations

from typing import Any

from testbed.base.arrays import Floats


def boosted(
    features: Floats,
    wanted: Floats,
    weights: Floats,
    *,
    trees: int,
    depth: int,
    learning_rate: float,
    l2: float,
    seed: int,
) -> Any:
    """A model of oblivious trees by weighted RMSE; features of shape (k, f). For `BoostedTrees.of`."""
    import catboost

    model = catboost.CatBoostRegressor(
        iterations=trees,
        depth=depth,
        learning_rate=learning_rate,
        l2_leaf_reg=l2,
        bootstrap_type="No",
        loss_function="RMSE",
        random_seed=seed,
        thread_count=1,
        allow_writing_files=False,
        verbose=False,
    )
    return model.fit(features, wanted, sample_weight=weights / weights.mean())
