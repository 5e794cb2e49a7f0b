"""ADPG in the fluid model: its training, its figures beside the oracle, and what disturbs it.

The targets are those of the issue; the oracle is ``T (beta - 1 + target sqrt(N))`` (facts sheet, controllers 4.4).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bench.measure import Row, spread
from controllers.adpg import AdpgInt8, AdpgNn
from controllers.adpg.controller import AdpgForm
from controllers.adpg.distilled import POLICIES, Adpg
from controllers.adpg.evaluate import BASE_RTT, STEP, Aim, Figures, many_to_one, ramp, settled
from controllers.adpg.int8 import Int8Network
from controllers.adpg.network import Network
from controllers.adpg.observation import AdpgConfig
from controllers.adpg.rollout import InC, Rollout
from controllers.adpg.training import Training
from controllers.adpg.training_settings import Settings
from testbed.base.arrays import Floats
from testbed.compiled.flows import build
from testbed.engines.fluid.fluid import Fluid, Options
from testbed.engines.fluid.layout import incast
from tests.support.fluid_trace import run

SEEDS = 10
RAMP = Adpg.presets["ramp"]["ramp"]
COMPILED_SECONDS = (20, 6)  # CPU: at least, aim
FLOWS = (2, 4, 8, 16, 64, 128, 256, 1024, 2048, 4096, 8192)
DELAYS = (0.0, 0.1, 0.5, 1.0, 2.0, 6.0, 12.0, 49.0)  # in base RTTs
RECIPE_SU = {  # facts sheet, recipe 5: one trained network
    2: (None, 100, 100, 99, 96, 92, 91, 89), 8: (None, 100, 100, 100, 100, 97, 94, 88), 64: (None,) * 7 + (79,)
}  # fmt: skip
TRUE_RTTS = (4e-6, 8.192e-6, 16e-6, 32e-6)
SPREADS = (0.05, 0.15, 0.5)
WIDEST = 0.15  # that the ramp must survive
FAIR, FAIR_FLOWS = 0.95, (64, 128)  # FR of every form, issue 21
MANY, LONG, PART = 8192, 2.0, 0.2  # flows; simulated seconds: asked for, measured


def of_training() -> Iterator[Row]:
    """Ten seeds."""
    outcomes = [Training(Settings(seed=seed), seed).run(lambda _progress: None) for seed in range(1, SEEDS + 1)]
    seconds = [one.history[-1].seconds for one in outcomes]
    yield Row(
        "ADPG, training with compiled rollouts, CPU", f"{spread(seconds, '.1f')} s",
        f"<= {COMPILED_SECONDS[0]} s, aim {COMPILED_SECONDS[1]} s", max(seconds) <= COMPILED_SECONDS[0],
        "600 updates and 24 checks, one core", {"seconds": seconds},
    )  # fmt: skip
    good = sum(not one.failure for one in outcomes)
    firsts = [one.best.update for one in outcomes]
    yield Row(
        "ADPG, seeds that converge", f"{good} of {SEEDS}", "8 of 10, aim 10", good >= 0.8 * SEEDS,
        f"SU > 95 %, FR > 0.85, queue within 20 % of the oracle for 2, 4 and 8 flows; best at update {spread(firsts)}",
        {"best_update": firsts, "score": [one.best.score for one in outcomes]},
    )  # fmt: skip


@dataclass(frozen=True)
class Form:
    """A form of the shipped policy, and what it must reach."""

    name: str
    controller: type[AdpgForm]
    policy: Callable[[], InC]
    off: float  # of the oracle
    fr: float
    su: float


FORMS = (
    Form("network", AdpgNn, lambda: Network.load(POLICIES / "network.json"), 0.15, 0.9, 97),
    Form("trees", Adpg, lambda: Adpg.load(AdpgConfig()), 0.25, 0.85, 99),
    Form("int8", AdpgInt8, lambda: Int8Network.load(POLICIES / "int8.json"), 0.25, 0.8, 97),
)


def of_fluid() -> Iterator[Row]:
    """Many to one, N = 2 ... 8192, and the ramp of one flow, of each form."""
    for form in FORMS:
        policy = form.policy()
        found = [settled(policy, flows) for flows in FLOWS]
        worst, fr, su = max(abs(one.error) for one in found), min(one.fr for one in found), min(one.su for one in found)
        lost = max(one.dropped for one in found)
        yield Row(
            f"ADPG, {form.name}, {FLOWS[0]} ... {FLOWS[-1]} flows: queue off the oracle",
            f"{worst:.1%}; FR {fr:.2f}, SU {su:.1f} %, loss {lost:.2%}",
            f"<= {form.off:.0%}; FR {form.fr}, SU {form.su} %, no loss",
            worst <= form.off and fr >= form.fr and su >= form.su and lost == 0, lines(found),
            {"figures": [one.as_dict() for one in found]},
        )  # fmt: skip
        fair = {one.flows: one.fr for one in found if one.flows in FAIR_FLOWS}
        yield Row(
            f"ADPG, {form.name}, {' and '.join(map(str, fair))} flows: FR",
            " and ".join(f"{one:.3f}" for one in fair.values()), f">= {FAIR}", min(fair.values()) >= FAIR,
        )  # fmt: skip
        rtts, published = ramp(policy, growth=RAMP), ramp(policy)
        yield Row(
            f"ADPG, {form.name}: one flow from 0.01 to 0.95, preset ramp", f"{rtts:.0f} RTTs", "<= 100 RTTs",
            rtts <= 100, f"{published:.0f} RTTs as published", {"rtts": rtts, "as_published": published},
        )  # fmt: skip


def of_ramp() -> Iterator[Row]:
    """What the preset `ramp` must leave as it was, of each form: rest, late decisions, unequal paths."""
    for form in FORMS:
        policy = form.policy()
        found = [settled(policy, flows, growth=RAMP) for flows in FLOWS]
        worst, fr = max(abs(one.error) for one in found), min(one.fr for one in found)
        yield Row(
            f"ADPG, {form.name}, preset ramp, {FLOWS[0]} ... {FLOWS[-1]} flows: queue off the oracle",
            f"{worst:.1%}; FR {fr:.2f}", f"<= 5%; FR {FAIR}", worst <= 0.05 and fr >= FAIR, lines(found),
            {"figures": [one.as_dict() for one in found]},
        )  # fmt: skip
        yield from _late(form.name, policy)
        for width in SPREADS:
            (rates, queue), (before, _) = (_unequal_paths(form, width, growth) for growth in (RAMP, 0))
            fr, old = (float(one.min() / one.max()) for one in (rates, before))
            yield Row(
                f"ADPG, {form.name}, preset ramp, 8 flows with base RTTs {width:.0%} apart either way: FR",
                f"{fr:.3f}", f">= {old:.3f}", fr >= old - 0.01 if width <= WIDEST else None,
                f"without: {old:.3f}; queue {queue * 1e6:.2f} us, oracle {Aim().queue(8) * 1e6:.2f}",
                {"rates": rates.tolist(), "queue": queue},
            )  # fmt: skip


def _late(name: str, policy: InC) -> Iterator[Row]:
    """SU with decisions that come late, with the ramp and without."""
    for flows in RECIPE_SU:
        both = [[at_rest(policy, flows, delay=one * BASE_RTT, growth=growth) for one in DELAYS] for growth in (RAMP, 0)]
        with_ramp, without = (" / ".join(f"{one.su:.0f}" for one in found) for found in both)
        worse = max(old.su - new.su for new, old in zip(*both, strict=True))
        yield Row(
            f"ADPG, {name}, preset ramp, {flows} flows: SU % with decisions 0 ... 49 T late", with_ramp, "1 point",
            worse <= 1, f"without: {without}",
            {"delay": DELAYS, "figures": [[one.as_dict() for one in found] for found in both]},
        )  # fmt: skip


def of_many() -> Iterator[Row]:
    """8192 flows for 2 simulated seconds: a tenth of it, from the start at line rate on."""
    policy = Adpg.load(AdpgConfig())
    rollout = Rollout(np.array([MANY]), step=STEP)
    rollout["start"][:] = np.random.default_rng(1).uniform(0, BASE_RTT, MANY)
    rollout.advance(policy, steps=round(PART / 2 / STEP))  # the queue comes down to its rest meanwhile
    began = time.perf_counter()
    rollout.advance(policy, steps=round(PART / 2 / STEP))
    seconds = (time.perf_counter() - began) * LONG / (PART / 2)
    yield Row(
        f"ADPG, {MANY} flows for {LONG:g} simulated seconds", f"{seconds:.0f} s", "<= 300 s, aim 60 s", seconds <= 300,
        f"extrapolated from {PART / 2:g} simulated seconds at rest; the paper: 20 min in C, 2 days in Python",
        {"decisions": int(rollout["decisions"].sum())},
    )  # fmt: skip


def of_delay() -> Iterator[Row]:
    """A slow processor: the same network and trees with their decisions late."""
    for form in FORMS[:2]:
        policy = form.policy()
        for flows, recipe in RECIPE_SU.items():
            found = [at_rest(policy, flows, delay=delay * BASE_RTT) for delay in DELAYS]
            beside = [f"{delay:g} T: {su}" for delay, su in zip(DELAYS, recipe, strict=True) if su is not None]
            su = " / ".join(f"{one.su:.0f}" for one in found)
            yield Row(
                f"ADPG, {form.name}, {flows} flows: SU % with decisions 0 ... 49 T late", su,
                note="; ".join(
                    f"{delay:g} T: FR {one.fr:.2f}, queue {one.queue * 1e6:.1f} us, std {one.deviation * 1e6:.1f}"
                    for delay, one in zip(DELAYS, found, strict=True)
                ) + f". The recipe's SU: {', '.join(beside)}",
                values={"delay": DELAYS, "figures": [one.as_dict() for one in found]},
            )  # fmt: skip


def of_paths() -> Iterator[Row]:
    """Other base RTTs: of all flows, and of each flow."""
    policy = FORMS[0].policy()
    for base_rtt in TRUE_RTTS:
        found = [at_rest(policy, flows, base_rtt=base_rtt) for flows in (2, 8, 64, 1024)]
        yield Row(
            f"ADPG, network, base RTT {base_rtt * 1e6:g} us: queue off the oracle",
            f"{max(abs(one.error) for one in found):.1%}; FR {min(one.fr for one in found):.2f}", note=lines(found),
            values={"figures": [one.as_dict() for one in found]},
        )  # fmt: skip
    for width in SPREADS:
        rates, queue = _unequal_paths(FORMS[1], width)
        yield Row(
            f"ADPG, trees, 8 flows with base RTTs {width:.0%} apart either way: FR", f"{rates.min() / rates.max():.3f}",
            note=f"difference form, in the fluid model; queue {queue * 1e6:.2f} us, oracle {Aim().queue(8) * 1e6:.2f}",
            values={"rates": rates.tolist(), "queue": queue},
        )  # fmt: skip


def at_rest(policy: InC, flows: int, *, delay: float = 0.0, base_rtt: float = BASE_RTT, growth: float = 0.0) -> Figures:
    """`settled` with a decision delay or another base RTT (s), which the policy knows; at least as many decisions."""
    step = base_rtt / 16
    half = (20e-3 if flows <= 256 else 50e-3) / min(step, STEP) * (1 + delay / base_rtt) * step
    return many_to_one(
        policy, flows, warmup=half, duration=2 * half, step=step, base_rtt=base_rtt, delay=delay, growth=growth
    )


def lines(found: Sequence[Figures]) -> str:
    """SU, FR and queue latency per number of flows."""
    return "; ".join(
        f"N={one.flows}: {one.su:.1f} %, {one.fr:.2f}, {one.queue * 1e6:.2f} us ({one.error:+.1%})" for one in found
    )


def _unequal_paths(form: Form, width: float, growth: float = 0.0) -> tuple[Floats, float]:
    """Rates of 8 flows, and the mean queue (s), where base RTTs lie evenly within ``width`` of the mean."""
    layout = replace(incast(8), base_rtt=BASE_RTT * (1 + width * np.linspace(-1, 1, 8)))
    config = AdpgConfig(window="none", ramp=growth)
    fluid = Fluid(layout, build(form.controller, config, layout.paths), Options(step=STEP))
    trace = run(fluid, 24e-3)
    return trace.growth("sent", 14e-3), float(trace.growth("area", 14e-3)[0]) * 8 / layout.line_rate


def of_adpg() -> Iterator[Row]:
    """All of it."""
    for part in (of_training, of_fluid, of_ramp, of_many, of_delay, of_paths):
        yield from part()
