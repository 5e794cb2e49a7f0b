"""Adam's steps are torch's to the bit, and so they stay across a checkpoint."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.sdk.adam import Adam

RATES = (0.01, 0.01, 0.002, 0.001)  # of the steps


def parameters(torch: Any) -> list[Any]:
    torch.manual_seed(1)
    return [torch.nn.Parameter(torch.randn(shape)) for shape in ((5, 3), (5,))]


def teach(torch: Any, taught: list[Any]) -> None:
    """Gradients that depend on where the parameters are."""
    weights, biases = taught
    ((torch.arange(6.0).reshape(2, 3) @ weights.T + biases) ** 2).mean().backward()


def test_its_steps_are_torchs() -> None:
    torch = pytest.importorskip("torch")
    mine, theirs = parameters(torch), parameters(torch)
    steps, of_torch = Adam(mine, RATES[0], epsilon=1e-5), torch.optim.Adam(theirs, eps=1e-5)
    for number, rate in enumerate(RATES):
        steps.rate = of_torch.param_groups[0]["lr"] = rate
        for each, taught in ((steps, mine), (of_torch, theirs)):
            each.zero_grad()
            teach(torch, taught)
            each.step()
        if number == 1:
            saved, steps = steps.state_dict(), Adam(mine, 0.5, epsilon=1e-5)
            steps.load_state_dict(saved)
        assert all(torch.equal(one, other) for one, other in zip(mine, theirs, strict=True))


def test_what_is_forgotten_is_no_momentum() -> None:
    """The first step is as long as the rate, whatever the gradient: so is the one after."""
    torch = pytest.importorskip("torch")
    (one,) = given = [torch.nn.Parameter(torch.tensor([1.0, -2.0]))]
    steps = Adam(given, 0.5)
    for slope in (3.0, -7.0):
        before = one.detach().clone()
        one.grad = torch.full((2,), slope)
        steps.step()
        assert (one.detach() - before).tolist() == pytest.approx([-0.5 if slope > 0 else 0.5] * 2)
        steps.forget()
