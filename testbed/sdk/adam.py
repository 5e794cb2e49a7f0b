"""`torch.optim.Adam` (Kingma and Ba, ICLR 2015) by torch's function for its steps.

To make one of torch's objects imports torch's compiler, which takes longer than torch itself and than many a training.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

BETAS = (0.9, 0.999)


class Adam:
    """Of some parameters, all of which have a gradient at every step. ``rate`` may change between two steps."""

    def __init__(self, parameters: Iterable[Tensor], rate: float, epsilon: float = 1e-8) -> None:
        self.parameters, self.rate, self.epsilon = list(parameters), rate, epsilon
        self.forget()

    def forget(self) -> None:
        """No momentum, as at first."""
        self.means, self.squares = ([one.detach().clone().zero_() for one in self.parameters] for _ in BETAS)
        self.steps = [one.detach().new_zeros(()) for one in self.parameters]

    def zero_grad(self) -> None:
        """Gradients are summed up from here on."""
        for one in self.parameters:
            one.grad = None

    def step(self) -> None:
        """One step down the gradients."""
        import torch
        from torch.optim.adam import adam

        gradients = [one.grad for one in self.parameters if one.grad is not None]
        with torch.no_grad():
            adam(
                self.parameters, gradients, self.means, self.squares, [], self.steps, amsgrad=False,
                beta1=BETAS[0], beta2=BETAS[1], lr=self.rate, weight_decay=0.0, eps=self.epsilon, maximize=False,
            )  # fmt: skip

    def state_dict(self) -> dict[str, Any]:
        """For a checkpoint, which torch can save."""
        return {"steps": self.steps, "means": self.means, "squares": self.squares}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self.steps, self.means, self.squares = state["steps"], state["means"], state["squares"]
