"""What a policy does in closed loops, and whether that is good enough: the gates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..learned import checks
from ..learned.checks import Measured, mean_reward
from .bottlenecks import Bottlenecks
from .flows import Flows
from .policy import Policy

CHECKED = (1, 2, 4, 8, 16, 32, 64)  # flows
COPIES = 4  # bottlenecks of each number
PHASE = 30  # intervals; then half of the flows leave, and as many follow
STEADY = PHASE // 2  # the last intervals of a phase
SEED = 1_000_000  # none that is trained with
LEAST_SU, MOST_QUEUE = 95.0, 0.39  # %, BDP: the module's threshold
MOST_TRIGGERS = 0.05  # per flow and interval: with packets, whose queues are not as quiet, 0.2 must hold


@dataclass(frozen=True)
class Figures(Measured):
    """Of the steady halves of the phases, but for two. The reward is per interval and flow, less what triggers cost."""

    su: float  # %
    queue: float  # BDP, mean RTT beyond the base
    fr: float  # min / max of the flows' windows at the end
    lost: float  # share of what was delivered
    triggers: float  # per flow and interval
    early: float  # the same in the first halves: after the start, and after half of the flows left

    @property
    def gates(self) -> Iterable[tuple[str, float, float, bool]]:
        return (
            ("SU", self.su, LEAST_SU, self.su > LEAST_SU),
            ("queue", self.queue, MOST_QUEUE, self.queue < MOST_QUEUE),
            ("triggers", self.triggers, MOST_TRIGGERS, self.triggers < MOST_TRIGGERS),
            ("loss", self.lost, 0.0, self.lost == 0.0),
        )


def measure(policy: Policy | None, cost: float, flows: Sequence[int] = CHECKED, seed: int = SEED) -> list[Figures]:
    """Without noise, from windows drawn log-uniformly; without a policy, of the module's parameters."""
    play = Bottlenecks(tuple(np.repeat(flows, COPIES).tolist()), np.random.default_rng(seed), small_buffers=False)
    player, every = Flows(play), np.ones(len(flows) * COPIES, bool)
    columns, steady = [], []
    play.step()
    for number in range(2 * PHASE):
        if number == PHASE:
            play.leave(every)
        triggered = player.decide(policy)
        interval = play.step()
        triggers = (triggered * play.there).sum(axis=1) / play.there.sum(axis=1)
        columns.append(
            (interval.value - cost * triggers, interval.thr, interval.inflation - 1, interval.loss, triggers)
        )
        steady.append(number % PHASE >= PHASE - STEADY)
    there = play.there > 0
    fr = np.where(there, play.window, np.inf).min(axis=1) / np.where(there, play.window, 0.0).max(axis=1)
    every_one = np.array(columns)  # shape (intervals, 5, m)
    rest, unrest = (every_one[which].mean(axis=0) for which in (np.array(steady), ~np.array(steady)))
    su = np.minimum(100 * rest[1], 100.0)
    figures = (every_one[:, 0].mean(axis=0), su, rest[2], fr, rest[3], rest[4], unrest[4])
    found = [one.reshape(-1, COPIES).mean(axis=1) for one in figures]
    return [Figures(n, *(float(one[i]) for one in found)) for i, n in enumerate(flows)]


def failure(figures: Sequence[Figures], least: float) -> str:
    """The first gate that is missed, or that the mean reward is not above ``least``, the module's; or nothing."""
    reward = mean_reward(figures)
    short = "" if reward > least else f"mean reward {reward:.4f} is not above the module's, {least:.4f}"
    return checks.failure(figures) or short


def table(measured: dict[str, Sequence[Figures]]) -> list[str]:
    """As text."""
    lines = [f"{'':10} {'flows':>5} {'reward':>7} {'SU %':>6} {'queue BDP':>9} {'FR':>5} {'triggers':>8} {'early':>5}"]
    for name, figures in measured.items():
        for one in figures:
            rest = f"{one.su:6.1f} {one.queue:9.3f} {one.fr:5.2f} {one.triggers:8.3f} {one.early:5.2f}"
            lines.append(f"{name:10} {one.flows:5} {one.reward:7.4f} {rest}")
    return lines
