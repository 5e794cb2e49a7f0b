"""What PPO and REINFORCE learn from: ADPG's compiled rollouts, under a policy that explores (explore.c)."""

from __future__ import annotations

import ctypes
from ctypes import c_void_p
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.base.compiler import LIBRARY_FLAGS, Unit

from ..adpg.observation import DOWN, HIGHEST_X, SCALE, UP
from ..adpg.rollout import Recorded, Rollout
from ..learned.network import Layers
from .settings import Settings

LIBRARY = Unit("explore", (Path(__file__).with_name("explore.c"),), ".so", LIBRARY_FLAGS)
_library = cache(LIBRARY.library)
ENOUGH, MOST_STEPS = 16, 12_000  # decisions per flow, and steps, of one update: with a full buffer 800 steps are an RTT
MOST_RECORDED = 1000  # decisions of a flow
M, X = 2, 3  # features: the last multiplier, and x


class Exploring:
    """A network as `adpg.rollout.InC`: `choose` one of six factors, or `vary` around its own."""

    def __init__(self, how: Literal["choose", "vary"], seed: int, sigma: float = 0.0) -> None:
        self.how = how
        self.parameters: Floats = np.array([float(seed + 1), sigma])

    def deviate(self, sigma: float) -> None:
        """`vary` by this from now on."""
        self.parameters[1] = sigma

    def take(self, network: Layers) -> None:
        """Decide by this; the dice go on."""
        widths = network.widths
        pairs = zip(network.weights, network.biases, strict=True)
        rows = [np.column_stack(one).reshape(-1) for one in pairs]
        self.parameters = np.concatenate([self.parameters[:2], [len(widths) - 1], widths, *rows])

    def in_c(self) -> tuple[int, Floats]:
        """For `adpg.rollout.Rollout`."""
        return ctypes.cast(getattr(_library(), self.how), c_void_p).value or 0, self.parameters


class Played(NamedTuple):
    """Decisions, flow after flow, shapes (k, ...). Those of a flow in one episode are a sequence."""

    seen: Floats
    factors: Floats  # that were decided
    rewards: Floats  # that came of them
    place: Ints  # in the sequence, from 0 on
    left: Ints  # that follow in the sequence
    after: Floats  # what each led to

    def tails(self, last: Floats, gamma: float) -> Floats:
        """Discounted sums of the rewards, and of ``last`` behind the end of a sequence (a number per decision)."""
        found = np.zeros(len(self.left))
        for left in range(int(self.left.max()) + 1):
            here = np.flatnonzero(self.left == left)
            ahead = found[here + 1] if left else last[here]
            found[here] = self.rewards[here] + gamma * ahead
        return found


class Incasts:
    """Those of ADPG's training."""

    def __init__(self, settings: Settings) -> None:
        self.most = settings.rollout
        self.rollout = Rollout(
            np.repeat(settings.senders, settings.copies),
            restarts=(settings.start_window, settings.shortest_episode, settings.longest_episode),
            beta=settings.beta,
            highest_x=settings.highest_x,
            start_rate=settings.start_rate,
            seed=settings.seed,
        )
        self.flows = len(self.rollout.environment)

    def play(self, policy: Exploring) -> Played:
        """Go on until each flow has decided often enough; up to ``settings.rollout`` decisions of each sequence."""
        recorded = self.rollout.advance(policy, steps=MOST_STEPS, enough=ENOUGH, record=self.flows * MOST_RECORDED)
        return sequences(recorded, self.most)


def sequences(recorded: Recorded, most: int) -> Played:
    """Up to ``most`` decisions of each sequence, and what came of them."""
    order = np.argsort(recorded.sequence, kind="stable")
    features, sequence = recorded.features[order], recorded.sequence[order]
    first = np.flatnonzero(np.diff(sequence, prepend=-1))
    lengths = np.diff(first, append=len(order))
    place = np.arange(len(order)) - np.repeat(first, lengths)
    decided = np.minimum(lengths - 1, most)  # the last one of all has no consequence yet
    left = np.repeat(decided, lengths) - place - 1
    kept = np.flatnonzero(left >= 0)
    rewards = -((features[kept + 1, X] / SCALE) ** 2)
    features = np.minimum(features, HIGHEST_X)  # as explore.c
    after = features[kept + 1]
    return Played(features[kept], after[:, M], rewards, place[kept], left[kept], after)


def actions(factors: Floats) -> Floats:
    """The inverse of `adpg.observation.multiplier`."""
    return np.asarray(np.where(factors >= 1, (factors - 1) / UP, (1 - 1 / factors) / DOWN))
