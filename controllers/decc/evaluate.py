"""What a policy does in closed loops, and whether that is good enough: the gates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from testbed.base.arrays import Floats

from ..learned.checks import Measured
from .bottlenecks import Bottlenecks
from .reward import rewards

Act = Callable[[Floats], Floats]  # actions for histories of shape (..., 25)

CHECKED = (2, 4, 8, 16, 32, 64)  # flows
COPIES, PERIODS = 4, 400  # bottlenecks of each number; the second half counts
SEED = 1_000_000  # none that is trained with
LEAST_REWARD, LEAST_SU, LEAST_FR, MOST_QUEUE = 0.092, 95.0, 0.85, 0.6
LOOSER_FR, LOOSER_QUEUE, LOOSER_SU = 0.05, 0.1, 1.0  # what a compressed form may lose: min / max, BDP, %


@dataclass(frozen=True)
class Figures(Measured):
    """The reward is the shared one."""

    su: float  # %
    fr: float  # min / max of the flows' mean rates
    queue: float  # BDP, mean
    lost: float  # share of what was delivered

    @property
    def gates(self) -> Iterable[tuple[str, float, float, bool]]:
        return (
            ("reward", self.reward, LEAST_REWARD, self.reward >= LEAST_REWARD),
            ("SU", self.su, LEAST_SU, self.su > LEAST_SU),
            ("FR", self.fr, LEAST_FR, self.fr > LEAST_FR),
            ("queue", self.queue, MOST_QUEUE, self.queue < MOST_QUEUE),
            ("loss", self.lost, 0.0, self.lost == 0.0),
        )

    @property
    def spare(self) -> bool:
        """Whether the gates leave room for what a compressed form may lose."""
        return (
            self.fr > LEAST_FR + LOOSER_FR and self.queue < MOST_QUEUE - LOOSER_QUEUE and self.su > LEAST_SU + LOOSER_SU
        )


def measure(act: Act, flows: Sequence[int] = CHECKED) -> list[Figures]:
    """Without noise, from windows drawn log-uniformly."""
    rng = np.random.default_rng(SEED)
    play = Bottlenecks(tuple(np.repeat(flows, COPIES).tolist()), rng, small_buffers=False)
    reward, through, queue, lost, sent = [], [], [], [], np.zeros(play.there.shape)
    for number in range(PERIODS):
        period = play.step(act(play.history))
        if number < PERIODS // 2:
            continue
        thr = period.thr[-1]
        sent += thr
        reward.append(rewards(period)[0])
        through.append((thr * play.there * play.each).sum(axis=1))
        queue.append((play.queued * play.each).sum(axis=1))
        lost.append(period.mean(period.loss))
    there = play.there > 0
    fr = np.where(there, sent, np.inf).min(axis=1) / np.maximum(np.where(there, sent, 0.0).max(axis=1), 1e-12)
    columns = [np.mean(one, axis=0) for one in (reward, through, fr[None], queue, lost)]
    columns[1] = np.minimum(100 * columns[1], 100.0)
    means = [one.reshape(-1, COPIES).mean(axis=1) for one in columns]
    return [Figures(n, *(float(one[i]) for one in means)) for i, n in enumerate(flows)]


def mean_fr(figures: Sequence[Figures]) -> float:
    """Over the numbers of flows."""
    return float(np.mean([one.fr for one in figures]))


def refused(student: Sequence[Figures], teacher: Sequence[Figures]) -> str:
    """Why a compressed form is not accepted for its teacher, or nothing."""
    for mine, theirs in zip(student, teacher, strict=True):
        if mine.fr < theirs.fr - LOOSER_FR:
            return f"with {mine.flows} flows FR is {mine.fr:.3f}, the teacher's {theirs.fr:.3f}"
        if abs(mine.queue - theirs.queue) > LOOSER_QUEUE:
            return f"with {mine.flows} flows the queue is {mine.queue:.2f} BDP, the teacher's {theirs.queue:.2f}"
        if mine.su < theirs.su - LOOSER_SU:
            return f"with {mine.flows} flows SU is {mine.su:.1f} %, the teacher's {theirs.su:.1f} %"
    return ""


def table(measured: Mapping[str, Sequence[Figures]]) -> list[str]:
    """As text."""
    lines = [f"{'form':12} {'flows':>5} {'reward':>7} {'SU %':>6} {'FR':>6} {'queue BDP':>9}"]
    lines += [
        f"{name:12} {one.flows:5} {one.reward:7.4f} {one.su:6.1f} {one.fr:6.3f} {one.queue:9.3f}"
        for name, figures in measured.items()
        for one in figures
    ]
    return lines
