"""How tuners compare in the model: the same traffic under each of them, several seeds, confidence intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from testbed.base.arrays import Floats
from testbed.registry import find
from testbed.tuner import ELEPHANT, Ports, PortSample, Tuner

from .environment import RATES, Environment

Make = Callable[[Ports], Tuner]
Reward = Callable[[PortSample, Ports], Floats]

SLOTS = 64  # with each of the rates

# Student's t, two-sided 95 %, for 1, 2, .. degrees of freedom.
STUDENT_95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)


@dataclass(frozen=True)
class Figures:
    """One tuner, one seed. Slowdowns are of messages that ended, without those of incasts."""

    reward: float
    queue: float  # bytes, mean of all slots and ports
    used: float  # share of the ports' rate
    mice_mean: float
    mice_p99: float
    elephants_mean: float


def play(make: Make, workload: str, seed: int, reward: Reward, *, slots: int = SLOTS) -> Figures:
    """One episode with each of the rates under a tuner."""
    environment = Environment(workload, seed)
    gained, queue, used = [], [], []
    for rate in RATES:
        environment.rates = (rate,)
        ports = environment.reset()
        tuner = make(ports)
        environment.set(tuner.initial())
        for _ in range(slots):
            sample = environment.advance()
            gained.append(reward(sample, ports).mean())
            queue.append(sample.mean_queue.mean())
            used.append((sample.tx_rate / ports.rate).mean())
            decided = tuner.on_slot(environment.fluid.now, sample)
            if decided is not None:
                environment.set(decided)
    size, slowdown = (np.concatenate(one) for one in (environment.finished.size, environment.finished.slowdown))
    mice, elephants = slowdown[size <= ELEPHANT], slowdown[size > ELEPHANT]
    return Figures(
        reward=float(np.mean(gained)),
        queue=float(np.mean(queue)),
        used=float(np.mean(used)),
        mice_mean=_mean(mice),
        mice_p99=float(np.quantile(mice, 0.99)) if len(mice) else float("nan"),
        elephants_mean=_mean(elephants),
    )


def compare(
    makers: Mapping[str, Make],
    workload: str,
    seeds: range,
    reward: Reward,
    *,
    slots: int = SLOTS,
    told: Callable[[str], None] = lambda _name: None,
) -> dict[str, list[Figures]]:
    """Every tuner on every seed; ``told`` is called with the name of each after each."""
    found: dict[str, list[Figures]] = {name: [] for name in makers}
    for name, make in makers.items():
        for seed in seeds:
            found[name].append(play(make, workload, seed, reward, slots=slots))
            told(name)
    return found


def static(preset: str | None = None, **options: Any) -> Make:
    """The static tuner."""
    plugin = find("tuner", "static")
    config = plugin.configure(preset, options)
    return lambda ports: plugin.form(config, ports)


def ahead(one: list[Figures], other: list[Figures]) -> tuple[float, float]:
    """By how much one's reward is above the other's, seed by seed: mean, and half the 95 % confidence interval."""
    return interval(np.array([a.reward - b.reward for a, b in zip(one, other, strict=True)]))


def interval(values: Floats) -> tuple[float, float]:
    """Mean, and half its 95 % confidence interval, of what seeds gave."""
    n = len(values)
    if n < 2:
        return float(values.mean()), float("inf")
    t = STUDENT_95[min(n - 1, len(STUDENT_95)) - 1]  # of more seeds: a little too wide
    return float(values.mean()), float(t * values.std(ddof=1) / np.sqrt(n))


def means(figures: list[Figures]) -> dict[str, float]:
    """Over seeds."""
    rows = [asdict(one) for one in figures]
    return {name: round(float(np.nanmean([row[name] for row in rows])), 4) for name in rows[0]}


def table(found: Mapping[str, list[Figures]], mine: str) -> list[str]:
    """As text: a line per tuner, and how far ``mine`` is ahead of the others."""
    lines = [f"{'tuner':10} {'reward':>8} {'queue kB':>9} {'used %':>7} {'mice':>6} {'p99':>7} {'eleph.':>7}"]
    for name, figures in found.items():
        row = means(figures)
        lines.append(
            f"{name:10} {row['reward']:8.4f} {row['queue'] / 1e3:9.1f} {100 * row['used']:7.1f} "
            f"{row['mice_mean']:6.2f} {row['mice_p99']:7.2f} {row['elephants_mean']:7.2f}"
        )
    for name, figures in found.items():
        if name != mine:
            mean, half = ahead(found[mine], figures)
            lines.append(f"{mine} - {name}: reward {mean:+.4f} +- {half:.4f} (95 %, {len(figures)} seeds)")
    return lines


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else float("nan")
