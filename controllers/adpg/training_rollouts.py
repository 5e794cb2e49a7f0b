"""The environments that a network is trained in (rollout.c)."""

from __future__ import annotations

import numpy as np

from .loss import LONGEST
from .network import Network
from .rollout import Recorded, Rollout
from .training_settings import Settings

ENOUGH, MOST_STEPS = 15, 1500  # decisions per flow, and steps, of one update


class Environments:
    """Many incasts that go on from one update to the next."""

    def __init__(self, settings: Settings, seed: int) -> None:
        self.rollout = Rollout(
            np.repeat(settings.senders, settings.copies),
            step=settings.step,
            beta=settings.beta,
            target=settings.target,
            highest_x=settings.highest_x,
            restarts=(settings.start_window, settings.shortest_episode, settings.longest_episode),
            seed=seed,
        )
        self.most = len(self.rollout.environment) * 4 * LONGEST

    def collect(self, network: Network) -> Recorded:
        """What each flow decides next, at least `ENOUGH` times if that takes no more than `MOST_STEPS`."""
        return self.rollout.advance(network, steps=MOST_STEPS, enough=ENOUGH, record=self.most)
