"""The states that closed loops visit: what forms of a policy learn from, and are compared on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from testbed.base.arrays import Floats

from .bottlenecks import Bottlenecks

SENDERS = (2, 4, 8, 16, 32, 64, 256, 1024, 8192)
STATES, EPISODE, NOISE = 250, (60, 120), 0.02


def visited(act: Callable[[Floats], Floats], rng: np.random.Generator) -> Floats:
    """States of closed loops, shape (k, 25), half of them with noise."""
    states = []
    for noise in (0.0, NOISE):
        play = Bottlenecks(SENDERS * 3, rng, episode=EPISODE)
        for _ in range(STATES):
            states.append(play.history[play.due])
            action = act(play.history)
            play.step(action + rng.normal(0, noise, action.shape))
            play.restart_due()
    return np.concatenate(states)


def difference(student: Callable[[Floats], Floats], teacher: Callable[[Floats], Floats], states: Floats) -> float:
    """Mean distance of the student's actions from the teacher's, over the teacher's mean action, %."""
    theirs = teacher(states)
    return float(100 * np.abs(student(states) - theirs).mean() / np.abs(theirs).mean())
