"""Flows of the training's environment under a policy: when it triggers, and what it then sets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats

from .bottlenecks import Bottlenecks, Interval
from .policy import CELL, Policy

Flags = NDArray[np.bool_]


class Flows:
    """The memory of each flow of the bottlenecks, shape (m, WIDTH, ...)."""

    def __init__(self, play: Bottlenecks) -> None:
        self.play = play
        self.before = np.zeros_like(play.seen)  # what was seen at the last trigger
        self.state = np.zeros((*play.due.shape, CELL))
        self.fresh: Flags = np.ones(play.due.shape, bool)  # there was none yet

    def decide(self, policy: Policy | None) -> Flags:
        """Without noise; returns who triggered. Without a policy parameters stay."""
        if policy is None:
            return np.zeros(self.fresh.shape, bool)
        play = self.play
        triggered = play.due & (self.fresh | (policy.watch(play.seen, self.before) > 0))
        places, state = policy.generate(play.seen, self.state)
        self.take(triggered, places, state)
        return triggered

    def take(self, triggered: Flags, places: Floats, state: Floats) -> None:
        """New parameters for those who triggered."""
        which = triggered[..., None]
        self.play.places = np.where(which, places, self.play.places)
        self.state = np.where(which, state, self.state)
        self.before = np.where(which, self.play.seen, self.before)
        self.fresh &= ~triggered

    def facts(self, interval: Interval) -> Floats:
        """For the critic: what flows see, their parameters, and the bottleneck, shape (m, WIDTH, 14)."""
        play = self.play
        here = play.there * play.each
        shared = np.column_stack((
            np.log2(np.maximum(here.sum(axis=1), 1.0)) / 8,
            interval.thr,
            np.sqrt(np.minimum((play.queued * play.each).sum(axis=1), 9.0)),
            np.minimum((play.window * here).sum(axis=1), 8.0),
        ))  # fmt: skip
        wide = np.broadcast_to(shared[:, None], (*play.due.shape, shared.shape[1]))
        return np.concatenate((play.seen, play.places, wide), axis=-1)
