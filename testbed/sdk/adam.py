"""Adam (Kingma and Ba, ICLR 2015) for torch's tensors: the steps of `torch.optim.Adam`, bit for bit.

Making one of torch's imports torch's compiler, which takes longer than torch itself and than many a training.
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
        self.steps = 0
        self.means, self.squares = ([one.detach().clone().zero_() for one in self.parameters] for _ in BETAS)

    def zero_grad(self) -> None:
        """Gradients are summed up from here on."""
        for one in self.parameters:
            one.grad = None

    def step(self) -> None:
        """One step down the gradients."""
        self.steps += 1
        of_mean, of_square = (1 - beta**self.steps for beta in BETAS)
        for one, mean, square in zip(self.parameters, self.means, self.squares, strict=True):
            assert one.grad is not None
            mean.lerp_(one.grad, 1 - BETAS[0])
            square.mul_(BETAS[1]).addcmul_(one.grad, one.grad, value=1 - BETAS[1])
            scale = (square.sqrt() / of_square**0.5).add_(self.epsilon)
            one.detach().addcdiv_(mean, scale, value=-self.rate / of_mean)

    def state_dict(self) -> dict[str, Any]:
        """For a checkpoint, which torch can save."""
        return {"steps": self.steps, "means": self.means, "squares": self.squares}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self.steps, self.means, self.squares = state["steps"], state["means"], state["squares"]
