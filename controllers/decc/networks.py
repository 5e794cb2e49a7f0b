"""The networks in torch, for training: DECC's actor, and twin critics (extra ``[train]``).

Actor: 25 -> 128 -> 64 -> 32, an LSTM cell of 32, 16, 1. The text prints 132 and 11 where 32 and 1 fit (register 30).
The cell's state is zero at each decision, for the last five periods are in the input: then replay needs no sequences,
and trees, which have no memory, can do the same. So its forget gate and recurrent weights have nothing to do.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from testbed.base.arrays import Floats

from .network import CELL, WIDTHS, Network
from .observation import FEATURES, MOST_ACTION

SHARED = 12  # numbers of the global state
FIRST_OUTPUT = 3e-3  # the last layer begins this small: no decision at first


class Actor(nn.Module):
    """Actions in (-0.5, 0.5), shape (k,), for histories of shape (k, 25)."""

    def __init__(self) -> None:
        super().__init__()
        sizes = (FEATURES, *WIDTHS)
        self.into = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(sizes))
        self.gates = nn.Linear(WIDTHS[-1], 3 * CELL[0])  # input, candidate, output
        self.hidden, self.last = nn.Linear(*CELL), nn.Linear(CELL[1], 1)
        nn.init.uniform_(self.last.weight, -FIRST_OUTPUT, FIRST_OUTPUT)
        nn.init.zeros_(self.last.bias)

    def forward(self, seen: Tensor) -> Tensor:
        for layer in self.into:
            seen = torch.relu(layer(seen))
        admit, candidate, emit = self.gates(seen).chunk(3, dim=-1)
        cell = torch.sigmoid(emit) * torch.tanh(torch.sigmoid(admit) * torch.tanh(candidate))
        return MOST_ACTION * torch.tanh(self.last(torch.relu(self.hidden(cell)))).squeeze(-1)

    @property
    def layers(self) -> list[nn.Linear]:
        """In the order of `Network`."""
        return [*(one for one in self.into if isinstance(one, nn.Linear)), self.gates, self.hidden, self.last]

    @torch.no_grad()
    def act(self, seen: Floats) -> Floats:
        """For numpy, any leading shape."""
        flat = torch.from_numpy(np.ascontiguousarray(seen.reshape(-1, FEATURES), np.float32))
        return np.asarray(self(flat).numpy().reshape(seen.shape[:-1]), float)

    def network(self) -> Network:
        """Its weights."""
        arrays = [(one.weight.detach().numpy(), one.bias.detach().numpy()) for one in self.layers]
        return Network(
            tuple(weight.astype(float) for weight, _ in arrays), tuple(bias.astype(float) for _, bias in arrays)
        )

    @torch.no_grad()
    def take(self, network: Network) -> None:
        """Have these weights."""
        for layer, weight, bias in zip(self.layers, network.weights, network.biases, strict=True):
            layer.weight.copy_(torch.from_numpy(weight))
            layer.bias.copy_(torch.from_numpy(bias))


class Critics(nn.Module):
    """Two estimates Q(g, H, a), shape (2, k): the bottleneck's state, and one flow's history and action."""

    def __init__(self) -> None:
        super().__init__()
        self.twins = nn.ModuleList(
            nn.Sequential(
                nn.Linear(SHARED + FEATURES + 1, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1)
            )
            for _ in range(2)
        )

    def forward(self, shared: Tensor, seen: Tensor, action: Tensor) -> Tensor:
        given = torch.cat((shared, seen, action[:, None] / MOST_ACTION), dim=-1)
        return torch.stack([twin(given).squeeze(-1) for twin in self.twins])
