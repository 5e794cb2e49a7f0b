"""PPO for the hierarchy: one policy for all flows, learnt from whole episodes (Schulman et al. 2017).

No library has a policy whose recurrent half runs only when its other half says so: sb3's policies act at every step.
Gradients go through the cell's states of an episode.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
from torch import Tensor, nn

from testbed.sdk.adam import Adam

from .networks import Hierarchy, chance, critic, density
from .policy import CELL

DISCOUNT, TRACE = 0.9, 0.9  # per interval: some ten count
CLIP = 0.2
EPOCHS, PARTS = 4, 4  # of the flows
LOUDEST = 0.5  # norm of a gradient


@dataclass(frozen=True)
class Episode:
    """Of k flows over t intervals; columns have shape (t, k) or (t, k, ...)."""

    seen: Tensor
    before: Tensor  # what was seen at the last trigger
    facts: Tensor  # for the critic; one more row, of the end
    due: Tensor  # whether a flow decided
    forced: Tensor  # the first decision of a flow is always a trigger
    triggered: Tensor
    drawn: Tensor  # the generator's outputs
    log_chance: Tensor
    reward: Tensor
    spread: float  # with which outputs were drawn

    def of(self, flows: Tensor) -> Episode:
        """Of some flows."""
        columns = {one.name: getattr(self, one.name) for one in fields(self)}
        return Episode(**{name: one if name == "spread" else one[:, flows] for name, one in columns.items()})


class Learner:
    """Hierarchy and critic, and how they learn."""

    def __init__(self, first: Tensor, rate: float) -> None:
        self.hierarchy, self.critic = Hierarchy(first), critic()
        self.parameters = [*self.hierarchy.parameters(), *self.critic.parameters()]
        self.steps = Adam(self.parameters, rate)

    def update(self, episode: Episode, rate: float) -> None:
        """Learn from an episode, at a learning rate."""
        self.steps.rate = rate
        with torch.no_grad():
            values = self.critic(episode.facts).squeeze(-1)
        gain = advantages(episode.reward, values)
        wanted = gain + values[:-1]
        there = gain[episode.due]
        gain = (gain - there.mean()) / (there.std() + 1e-8)
        for _ in range(EPOCHS):
            for some in torch.randperm(gain.shape[1]).chunk(PARTS):
                self._step(episode.of(some), gain[:, some], wanted[:, some])

    def _step(self, episode: Episode, gain: Tensor, wanted: Tensor) -> None:
        due = episode.due
        ratio = (self._log_chance(episode) - episode.log_chance)[due].exp()
        won = torch.minimum(ratio * gain[due], ratio.clamp(1 - CLIP, 1 + CLIP) * gain[due]).mean()
        error = (self.critic(episode.facts[:-1][due]).squeeze(-1) - wanted[due]).square().mean()
        self.steps.zero_grad()
        (error - won).backward()
        nn.utils.clip_grad_norm_(self.parameters, LOUDEST)
        self.steps.step()

    def _log_chance(self, episode: Episode) -> Tensor:
        """Of what was done, now."""
        hierarchy = self.hierarchy
        watched = chance(hierarchy.watch(episode.seen, episode.before), episode.triggered.float())
        state, states = torch.zeros(episode.seen.shape[1], CELL), []
        for seen, triggered in zip(episode.seen, episode.triggered[..., None], strict=True):
            state = torch.where(triggered, hierarchy.cell(seen, state), state)
            states.append(state)
        generated = density(hierarchy.head(torch.stack(states)), episode.drawn, episode.spread)
        return torch.where(episode.forced, 0.0, watched) + torch.where(episode.triggered, generated, 0.0)


def advantages(reward: Tensor, values: Tensor) -> Tensor:
    """Generalised advantage estimates (Schulman et al. 2016), shape (t, k), with values of shape (t + 1, k)."""
    gain, gains = torch.zeros_like(values[-1]), []
    for t in reversed(range(len(reward))):
        gain = reward[t] + DISCOUNT * values[t + 1] - values[t] + DISCOUNT * TRACE * gain
        gains.append(gain)
    return torch.stack(gains[::-1])
