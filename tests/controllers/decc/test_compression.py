"""Pruning by Laplace scales and quantisation: closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from testbed_controllers.decc import DeccNn, DeccQuantised
from testbed_controllers.decc.network import SHAPES, Network

from tests.support.lazily import Lazily

compression = Lazily("testbed_controllers.decc.compression")


def laplace(scales: tuple[float, ...]) -> Network:
    rng = np.random.default_rng(1)
    weights = tuple(rng.laplace(0, scale, shape) for scale, shape in zip(scales, SHAPES, strict=True))
    return Network(weights, tuple(np.zeros(shape[0]) for shape in SHAPES))


def test_one_layer_is_cut_at_105_scales() -> None:
    """exp(-t/tau) = .35."""
    assert compression.threshold([0.2], [1000], 0.65) == pytest.approx(0.2 * -math.log(0.35))
    assert compression.threshold([0.2], [1000], 0.65) == pytest.approx(1.05 * 0.2, rel=1e-3)


def test_layers_share_a_threshold_that_leaves_what_was_asked() -> None:
    scales, sizes = [0.1, 0.02, 0.5], [3000, 8000, 100]
    t = compression.threshold(scales, sizes, 0.65)
    left = sum(n * math.exp(-t / tau) for n, tau in zip(sizes, scales, strict=True)) / sum(sizes)
    assert left == pytest.approx(0.35, abs=1e-9)


def test_laplace_weights_are_pruned_to_65_percent() -> None:
    """Layers with small weights lose more of them."""
    kept = compression.masks(laplace((0.1, 0.05, 0.1, 0.1, 0.2, 0.2)), 0.65)
    assert 1 - np.concatenate([one.reshape(-1) for one in kept]).mean() == pytest.approx(0.65, abs=0.01)
    assert kept[1].mean() < kept[0].mean() < kept[4].mean()


def test_steps_give_channels_16_on_average_and_no_others_do_it_with_less_error() -> None:
    """The minimum of sum D^2 under that constraint: no exchange between two layers lowers it."""
    network = laplace((0.1, 0.05, 0.1, 0.1, 0.2, 0.2))
    mean_bits, worth = compression.mean_bits, compression.steps(network.weights, 4)
    assert mean_bits(network.weights, worth) == pytest.approx(4.0, abs=1e-9)
    error = sum(one**2 for one in worth)
    for first, second in ((0, 1), (1, 4), (3, 5)):
        for nudge in (0.97, 1.03):
            other = list(worth)
            other[first] *= nudge
            spread = 2 ** (mean_bits(network.weights, other)) - 16  # channels' ranges in steps, too many by so much
            part = 2 ** (mean_bits(network.weights, [*other[:second], other[second] / 2, *other[second + 1 :]]))
            share = part - (16 + spread)  # what the second layer gives to the mean
            other[second] *= share / (share - spread)
            assert mean_bits(network.weights, other) == pytest.approx(4.0, abs=1e-6)
            assert sum(one**2 for one in other) > error


def test_the_shipped_one_is_pruned_and_of_4_bits() -> None:
    network = DeccQuantised.load(DeccQuantised.Config())  # type: ignore[arg-type]
    worth = network.training["steps"]
    for weights, step in zip(network.weights, worth, strict=True):
        np.testing.assert_allclose(weights / step, np.rint(weights / step), atol=1e-3)
    zeros = np.mean(np.concatenate([one.reshape(-1) for one in network.weights]) == 0)
    assert 0.64 < zeros < 0.75
    assert compression.mean_bits(network.weights, worth) < 4.5
    whole = DeccNn.load(DeccNn.Config())  # type: ignore[arg-type]
    assert all((one != 0).mean() > 0.99 for one in whole.weights)
