"""The policy in torch, for training, and the critic (extra ``[train]``)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from .observation import PARAMETERS, SEEN
from .policy import CELL, SHAPES, WATCHER, Policy

FIRST_LOGIT = -1.0  # the watcher's at first: it triggers in 27 % of the intervals
GLOBAL = 4  # what the critic sees of the bottleneck: flows, throughput, queue, windows


class Hierarchy(nn.Module):
    """Watcher and generator; rows are flows. Its layers are those of `Policy`."""

    def __init__(self, first: Tensor) -> None:
        """``first``: the places that the generator's outputs are around at first, shape (4,)."""
        super().__init__()
        self.notice, self.trigger = nn.Linear(2 * SEEN, WATCHER), nn.Linear(WATCHER, 1)
        self.cell, self.head = nn.GRUCell(SEEN, CELL), nn.Linear(CELL, PARAMETERS)
        with torch.no_grad():
            self.trigger.weight.mul_(0.1)
            self.trigger.bias.fill_(FIRST_LOGIT)
            self.head.weight.mul_(0.1)
            self.head.bias.copy_(torch.logit(first))

    def watch(self, seen: Tensor, before: Tensor) -> Tensor:
        """Logits of triggering, shape (k,)."""
        return torch.as_tensor(self.trigger(torch.tanh(self.notice(torch.cat((seen, before), -1)))).squeeze(-1))

    def generate(self, seen: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """The generator's outputs before the sigmoid, shape (k, 4), and the cell's next state."""
        state = self.cell(seen, state)
        return self.head(state), state

    @torch.no_grad()
    def policy(self) -> Policy:
        """Its weights."""
        pairs = (
            (self.notice.weight, self.notice.bias),
            (self.trigger.weight, self.trigger.bias),
            (self.cell.weight_ih, self.cell.bias_ih),
            (self.cell.weight_hh, self.cell.bias_hh),
            (self.head.weight, self.head.bias),
        )
        joined = (torch.cat((weight, bias[:, None]), 1).numpy().astype(float) for weight, bias in pairs)
        return Policy(dict(zip(SHAPES, joined, strict=True)))


def critic() -> nn.Module:
    """The value of an interval's end for a flow: what it sees, its parameters, the bottleneck."""
    width = SEEN + PARAMETERS + GLOBAL
    return nn.Sequential(nn.Linear(width, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))


def density(output: Tensor, drawn: Tensor, spread: float) -> Tensor:
    """Logarithm of that of what was drawn around an output, but for a constant, shape (k,)."""
    return -0.5 * ((drawn - output) / spread).square().sum(-1)


def chance(logit: Tensor, triggered: Tensor) -> Tensor:
    """Logarithm of that of what a watcher did."""
    return -functional.binary_cross_entropy_with_logits(logit, triggered, reduction="none")
