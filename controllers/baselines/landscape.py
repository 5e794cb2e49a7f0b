"""Why they fail, measured: `python -m testbed_controllers.baselines.landscape` (docs/findings/adpg.md).

What a reward says of loads that all flows share alike, what REINFORCE's estimate makes of that, and what a flow of
Aurora's gains by taking more than its share.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from testbed.base.arrays import Floats

from ..adpg.observation import FEATURES, HIGHEST_X, SCALE
from ..adpg.rollout import Rollout
from ..learned.network import Layers
from .aurora import LOSS, THROUGHPUT, TYPICAL_THROUGHPUT
from .aurora import SCALE as AURORA_SCALE
from .multipliers import HIDDEN
from .rollouts import Exploring, X, actions, sequences

LOADS = (0.01, 0.1, 0.5, 0.9, 1.1, 2.0)  # of all flows together, of line rate
FLOWS = (2, 8, 128, 1024)
STEP, HELD = 0.512e-6, 2000  # s; steps
SIGMA, GAMMA = 0.1, 0.99
COPIES, ROLLOUT, MOST, MOST_PUSHED = 64, 64, 3000, 128  # incasts, decisions, steps, flows
LINE, PACKET = 100e9 / 8, 1078  # bytes/s, bytes


def constant() -> Layers:
    """No decision, whatever it sees."""
    sizes = list(pairwise((FEATURES, *HIDDEN, 1)))
    return Layers(tuple(np.zeros((b, a)) for a, b in sizes), tuple(np.zeros(b) for _, b in sizes), "relu")


def rewards(flows: int, load: float) -> tuple[float, float]:
    """ADPG's reward where every flow keeps to its share of ``load``: with x limited at 8, and without."""
    policy = Exploring("vary", 1)
    policy.take(constant())
    rollout = _loaded(1, flows, load)
    rollout.advance(policy, steps=20 * HELD)  # the queue comes to rest
    x = rollout.advance(policy, steps=HELD, record=flows * HELD).features[:, X]
    return tuple(float(-((np.minimum(x, most) / SCALE) ** 2).mean()) for most in (HIGHEST_X, np.inf))  # type: ignore[return-value]


class Push(NamedTuple):
    """What a policy without an opinion is told to do with the rate: more (above 0) or less."""

    reinforce: float  # correlation of an action with the rewards after it
    error: float  # of that, if there were none
    adpg: float  # minus the mean x after it: ADPG's gradient


def pushed(flows: int, load: float) -> Push:
    """From the decisions of one rollout, at a load."""
    policy = Exploring("vary", 1, SIGMA)
    policy.take(constant())
    rollout = _loaded(COPIES, flows, load)
    played = sequences(rollout.advance(policy, steps=MOST, record=COPIES * flows * 1000), ROLLOUT)
    tails = played.tails(np.zeros(len(played.left)), GAMMA) * (1 - GAMMA) / (1 - GAMMA ** (played.left + 1))
    return Push(
        _correlation(actions(played.factors), tails), 1 / np.sqrt(len(tails)), float(-played.after[:, X].mean())
    )


def _correlation(one: Floats, other: Floats) -> float:
    spread = one.std() * other.std()
    return float(((one - one.mean()) * (other - other.mean())).mean() / spread) if spread > 1e-12 else 0.0


def _loaded(copies: int, flows: int, load: float) -> Rollout:
    rollout = Rollout(np.full(copies, flows), step=STEP, start_rate=min(load / flows, 1.0), highest_x=np.inf)
    rollout["start"][:] = np.random.default_rng(1).uniform(0, 8e-6, copies * flows)
    return rollout


def greed(flows: int, more: float = 0.1) -> tuple[float, float, float]:
    """What one of ``flows`` with equal rates gains of Aurora's reward by ``more``: published, rescaled; and in losses.

    The line is full, and a switch drops everybody's packets alike.
    """
    before, after = 1 / flows, (1 + more) / (flows + more)
    lost = LOSS * more / (flows + more)
    published, rescaled = (THROUGHPUT * (after - before) * unit for unit in (LINE / PACKET, TYPICAL_THROUGHPUT))
    return AURORA_SCALE * published, AURORA_SCALE * rescaled, AURORA_SCALE * lost


def main(flows: Sequence[int] = FLOWS, loads: Sequence[float] = LOADS) -> None:
    """The tables."""
    print("ADPG's reward of a decision, all flows at load / N: limited, and raw")
    print("flows  " + "".join(f"{load:>20g}" for load in loads))
    for n in flows:
        cells = [rewards(n, load) for load in loads if load / n <= 1]
        print(f"{n:5}  " + "".join(f"{f'{a:.4f} {b:.4g}':>20}" for a, b in cells))
    print("\nWhich way a policy without an opinion is pushed: REINFORCE's correlation (its error), ADPG's -x")
    for n in (one for one in flows if one <= MOST_PUSHED):
        cells_of = [pushed(n, load) for load in loads if load / n <= 1]
        shown = (f"{one.reinforce:+.3f} ({one.error:.3f}) {one.adpg:+.2f}" for one in cells_of)
        print(f"{n:5}  " + "".join(f"{one:>23}" for one in shown))
    print("\nAurora: 10 % more than one's share of a full line brings, published and rescaled; and costs in losses")
    for n in flows:
        published, rescaled, lost = greed(n)
        print(f"{n:5}  {published:12.1f} {rescaled:10.5f} {lost:10.5f}")


if __name__ == "__main__":
    main()
