"""Closed-loop figures of a policy in the fluid model, beside the oracle ``QL = T (beta - 1 + target sqrt(N))``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .observation import HIGHEST_X
from .rollout import InC, Rollout

BASE_RTT = 8.192e-6
STEP = 0.512e-6  # s: a sixteenth of it
DEAD_SU = 60.0  # %
CYCLE = 0.5  # of the mean queue: its standard deviation in a limit cycle
RAMP_FROM, RAMP_TO, LONGEST_RAMP = 0.01, 0.95, 5000  # shares of line rate; RTTs


@dataclass(frozen=True)
class Aim:
    """What x is made of, and so where the policy is to hold the queue."""

    beta: float = 1.5
    target: float = 0.064
    highest_x: float = HIGHEST_X

    def queue(self, flows: int, base_rtt: float = BASE_RTT) -> float:
        """The oracle: the wait (s) where x = 0 and every flow has its fair share (facts sheet 4.4)."""
        return base_rtt * (self.beta - 1.0 + self.target * math.sqrt(flows))


@dataclass(frozen=True)
class Figures:
    """One many-to-one run."""

    flows: int
    su: float  # %
    fr: float  # min / max of the flows' mean rates
    queue: float  # s, mean
    deviation: float  # s, of the queue
    oracle: float  # s
    dropped: float  # share of what arrived, after the warm-up

    @property
    def error(self) -> float:
        """Queue latency / oracle - 1."""
        return self.queue / self.oracle - 1.0

    def as_dict(self) -> dict[str, Any]:
        """For logs: times in us."""
        return {
            "flows": self.flows,
            "su_percent": round(self.su, 3),
            "fr": round(self.fr, 4),
            "queue_us": round(self.queue * 1e6, 3),
            "deviation_us": round(self.deviation * 1e6, 3),
            "oracle_us": round(self.oracle * 1e6, 3),
            "dropped": round(self.dropped, 6),
        }


def many_to_one(
    policy: InC,
    flows: int,
    *,
    aim: Aim = Aim(),
    warmup: float = 14e-3,
    duration: float = 24e-3,
    seed: int = 1,
    step: float = STEP,
    base_rtt: float = BASE_RTT,
    delay: float = 0.0,
    growth: float = 0.0,
) -> Figures:
    """From the start to the end of the run; figures are from the end of the warm-up on.

    ``delay``: until a decision takes effect, s; ``growth``: the controller's option `ramp`.
    """
    rollout = _rollout(flows, aim, step=step, base_rtt=base_rtt, decision_delay=delay, ramp=growth, seed=seed)
    rollout["start"][:] = np.random.default_rng(seed).uniform(0, base_rtt + delay, flows)
    rollout.advance(policy, steps=round(warmup / step))
    before = {name: rollout[name].copy() for name in ("sent", "area", "square", "dropped", "queue")}
    steps = round((duration - warmup) / step)
    rollout.advance(policy, steps=steps)
    grown = {name: rollout[name] - column for name, column in before.items()}
    sent, span = grown["sent"], steps * step
    through = sent.sum() - grown["dropped"][0] - grown["queue"][0]
    mean = grown["area"][0] / steps
    variance = max(grown["square"][0] / steps - mean**2, 0.0)
    return Figures(
        flows=flows,
        su=float(100 * min(through / span, 1.0)),
        fr=float(sent.min() / sent.max()),
        queue=float(mean),
        deviation=math.sqrt(variance),
        oracle=aim.queue(flows, base_rtt),
        dropped=float(grown["dropped"][0] / max(sent.sum(), 1e-30)),
    )


def settled(policy: InC, flows: int, aim: Aim = Aim(), growth: float = 0.0) -> Figures:
    """`many_to_one`, long enough for any number of flows (recipe, 4)."""
    many = flows > 256
    warmup, duration = (60e-3, 100e-3) if many else (20e-3, 40e-3)
    return many_to_one(policy, flows, aim=aim, warmup=warmup, duration=duration, growth=growth)


def ramp(policy: InC, aim: Aim = Aim(), growth: float = 0.0) -> float:
    """RTTs that one flow alone takes from 0.01 to 0.95 of line rate; inf if it does not get there.

    ``growth``: the controller's option `ramp`.
    """
    rollout = _rollout(1, aim, step=STEP, start_rate=RAMP_FROM, ramp=growth, reach=RAMP_TO)
    rollout.advance(policy, steps=round(LONGEST_RAMP * BASE_RTT / STEP))
    return rollout.now / BASE_RTT if rollout["rate"][0] >= RAMP_TO else math.inf


def _rollout(flows: int, aim: Aim, **how: Any) -> Rollout:
    return Rollout(np.array([flows]), beta=aim.beta, target=aim.target, highest_x=aim.highest_x, **how)


def score(figures: Sequence[Figures]) -> float:
    """What a checkpoint is chosen by; less is better (recipe, 2)."""
    return sum(
        abs(one.error) + 0.5 * one.deviation / one.oracle + (1 - one.fr) + 2 * (1 - one.su / 100) for one in figures
    )


def converged(figures: Sequence[Figures]) -> bool:
    """The recipe's criterion: SU > 95 %, FR > 0.85, queue within 20 % of the oracle, for all of them."""
    return all(one.su > 95 and one.fr > 0.85 and abs(one.error) < 0.2 for one in figures)


def failure(figures: Sequence[Figures]) -> str:
    """Which of the known ways to fail this is, or nothing (recipe, 3)."""
    if max(one.su for one in figures) < DEAD_SU:
        return "dead: the rates went to the floor"
    fewest = min(figures, key=lambda one: one.flows)
    if fewest.deviation > CYCLE * fewest.queue:
        return f"limit cycle: with {fewest.flows} flows the queue's standard deviation is over half of its mean"
    return "" if converged(figures) else "not converged: off the oracle, unfair or idle"
