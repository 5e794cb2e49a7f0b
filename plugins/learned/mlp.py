"""Networks for training (torch; the extra ``[train]``): layers with ReLU between them, made from a seed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from testbed.base.extras import need

from .policy import Layer

HIDDEN = (64, 64)


def torch_of(seed: int) -> Any:
    """The module torch, seeded, with one thread: the same sums in the same order, every time."""
    need("torch")
    import torch

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    return torch


def mlp(torch: Any, inputs: int, outputs: int, gain: float, hidden: Sequence[int] = HIDDEN) -> Any:
    """A network with orthogonal weights; ``gain`` is that of the last layer: a small one begins near indifference."""
    sizes = (inputs, *hidden, outputs)
    parts: list[Any] = []
    for number, (into, out) in enumerate(pairwise(sizes)):
        layer = torch.nn.Linear(into, out)
        last = number == len(sizes) - 2
        torch.nn.init.orthogonal_(layer.weight, gain if last else 2**0.5)
        torch.nn.init.zeros_(layer.bias)
        parts += [layer] if last else [layer, torch.nn.ReLU()]
    return torch.nn.Sequential(*parts)


def layers_of(network: Any) -> list[Layer]:
    """Its weights and biases, as `policy.write` takes them."""
    linear = [one for one in network if hasattr(one, "weight")]
    return [(one.weight.detach().numpy().copy(), one.bias.detach().numpy().copy()) for one in linear]


def of_layers(torch: Any, layers: Sequence[Layer]) -> Any:
    """A network with these weights and biases."""
    widths = [weights.shape[0] for weights, _ in layers]
    network = mlp(torch, layers[0][0].shape[1], widths[-1], 1.0, widths[:-1])
    put_layers(torch, network, layers)
    return network


def put_layers(torch: Any, network: Any, layers: Sequence[Layer]) -> None:
    """Replace its weights and biases."""
    linear = [one for one in network if hasattr(one, "weight")]
    with torch.no_grad():
        for one, (weights, bias) in zip(linear, layers, strict=True):
            one.weight.copy_(torch.from_numpy(np.array(weights)))
            one.bias.copy_(torch.from_numpy(np.array(bias)))
