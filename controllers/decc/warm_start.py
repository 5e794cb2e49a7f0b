"""The warm start: the actor first learns a law that is known to be stable (declared: not in the paper)."""

from __future__ import annotations

import numpy as np
import torch

from testbed.base.arrays import Floats
from testbed.sdk.adam import Adam

from .bottlenecks import Bottlenecks
from .networks import Actor
from .observation import FEATURES, MOST_ACTION
from .visited import SENDERS

DRIVE = 0.05  # the law's growth without a queue
NOISE = 0.05  # of every second run
STEPS, UPDATES, BATCH, RATE = 400, 2700, 512, 1e-3
NEAR = 0.05  # actions this close to 0 weigh most: an error there moves the operating point


def law(bottlenecks: Bottlenecks) -> Floats:
    """``a = 0.05 - (RTT/T - 1) sqrt(rate)``: at rest all rates are equal and the queue is 0.05 T sqrt(N)."""
    newest = bottlenecks.history[..., -5:]
    return np.clip(DRIVE - newest[..., 1] ** 2 * np.sqrt(bottlenecks.rate), -MOST_ACTION, MOST_ACTION)


def clone(actor: Actor, seed: int) -> None:
    """Make the actor do as `law` does."""
    rng = np.random.default_rng(seed)
    states, actions = [], []
    for noise in (0.0, NOISE):
        play = Bottlenecks(SENDERS, rng, episode=(60, 120))
        for _ in range(STEPS):
            wanted = law(play)
            states.append(play.history[play.due].astype(np.float32))
            actions.append(wanted[play.due].astype(np.float32))
            play.step(np.clip(wanted + rng.normal(0, noise, wanted.shape), -MOST_ACTION, MOST_ACTION))
            play.restart_due()
    imitate(actor, np.concatenate(states), np.concatenate(actions), rng, UPDATES)


def imitate(actor: Actor, states: Floats, actions: Floats, rng: np.random.Generator, updates: int) -> None:
    """Least squares; errors near 0 weigh most."""
    assert states.shape[1] == FEATURES
    steps = Adam(actor.parameters(), RATE)
    for _ in range(updates):
        picked = rng.integers(0, len(states), BATCH)
        seen, wanted = torch.from_numpy(states[picked]), torch.from_numpy(actions[picked])
        weight = 1 + 20 * torch.exp(-((wanted / NEAR) ** 2))
        loss = (weight * (actor(seen) - wanted) ** 2).mean()
        steps.zero_grad()
        loss.backward()
        steps.step()
