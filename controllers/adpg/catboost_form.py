"""Trees as a model of CatBoost, whose own predict then decides."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from testbed.base.arrays import Floats
from testbed.base.extras import need

from .observation import FEATURES
from .tree import Trees


def predictor(trees: Trees) -> Callable[[Floats], Floats]:
    """`Trees.decide`, by CatBoost. Raises BadInput without CatBoost."""
    need("catboost")
    import catboost

    model = catboost.CatBoostRegressor()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.json"
        file.write_text(json.dumps(_as_json(trees)), encoding="utf-8")
        model.load_model(str(file), format="json")
    return lambda features: np.asarray(model.predict(features, thread_count=1))


def _as_json(trees: Trees) -> dict[str, Any]:
    """CatBoost's JSON form; a split's index counts the borders of all features, in order."""
    borders = [sorted({float(border) for border in trees.border[trees.feature == f]}) for f in range(FEATURES)]
    before = np.concatenate(([0], np.cumsum([len(some) for some in borders]))).tolist()

    def split(feature: int, border: float) -> dict[str, Any]:
        index = before[feature] + borders[feature].index(border)
        return {
            "border": border,
            "float_feature_index": feature,
            "split_index": index,
            "split_type": "FloatFeature",
        }

    grown = [
        {
            "leaf_values": leaves.tolist(),
            "leaf_weights": [1] * len(leaves),
            "splits": [split(*question) for question in zip(features, asked, strict=True)],
        }
        for features, asked, leaves in zip(trees.feature.tolist(), trees.border.tolist(), trees.leaves, strict=True)
    ]
    known = [
        {
            "borders": some,
            "feature_index": f,
            "flat_feature_index": f,
            "feature_id": "",
            "has_nans": False,
            "nan_value_treatment": "AsIs",
        }
        for f, some in enumerate(borders)
    ]
    return {
        "features_info": {"float_features": known},
        "model_info": {},
        "oblivious_trees": grown,
        "scale_and_bias": [1, [trees.bias]],
    }
