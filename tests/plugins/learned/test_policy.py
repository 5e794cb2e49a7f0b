"""Policy files that cannot be used are refused before the run, in one sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from testbed_plugins.learned.policy import Kind, OnnxPolicy, layers_in, write

from testbed.errors import BadInput

KIND = Kind("pet", 2, 3)
WEIGHTS = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])


def test_a_policy_is_its_layers(tmp_path: Path) -> None:
    """Gemm, ReLU, Gemm by hand: hidden (1, 0) of features (1, -1), then the second layer's first column and bias."""
    first, second = (np.eye(2), np.zeros(2)), (WEIGHTS, np.array([0.5, 0.0, 0.0]))
    write([first, second], tmp_path / "p.onnx", {"plugin": "pet"})
    assert OnnxPolicy.load(tmp_path / "p.onnx", KIND).scores(np.array([[1.0, -1.0]])).tolist() == [[1.5, 0.0, 1.0]]
    again = layers_in((tmp_path / "p.onnx").read_bytes())
    assert [np.array_equal(a, b) for (a, _), (b, _) in zip(again, (first, second), strict=True)] == [True, True]


def test_each_call_has_its_own_scores(tmp_path: Path) -> None:
    """The network works in place: on what was given last, whoever it was given by and for however many queues."""
    write([(WEIGHTS, np.zeros(3))], tmp_path / "p.onnx", {"plugin": "pet"})
    policy = OnnxPolicy.load(tmp_path / "p.onnx", KIND)
    features = np.array([[1.0, 2.0], [3.0, 4.0]])
    for given in (features, features[:1], -features, features * 2.0):
        assert policy.scores(given).tolist() == (given @ WEIGHTS.T).tolist()


@pytest.mark.parametrize(
    ("layer", "about", "why"),
    [
        (None, {}, r"no policy file at .*p.onnx; 'testbed train pet' makes one"),
        ("text", {}, "is not an ONNX network"),
        ((WEIGHTS, np.zeros(3)), {"plugin": "acc"}, "was made for acc, expected a policy of 'pet'"),
        ((WEIGHTS[:2], np.zeros(2)), {"plugin": "pet"}, "maps .2. features to .2. scores, expected 2 to 3"),
        ((WEIGHTS, np.array([0, np.nan, 0])), {"plugin": "pet"}, "gives scores that are no numbers"),
        ((WEIGHTS * np.array([np.inf, 1]), np.zeros(3)), {"plugin": "pet"}, "gives scores that are no numbers"),
    ],
)
def test_what_is_no_policy_is_refused(layer: object, about: dict[str, str], why: str, tmp_path: Path) -> None:
    file = tmp_path / "p.onnx"
    if layer == "text":
        file.write_text("no network")
    elif isinstance(layer, tuple):
        write([layer], file, about)
    with pytest.raises(BadInput, match=why):
        OnnxPolicy.load(file, KIND)
