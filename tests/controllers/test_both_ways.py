"""Controllers per flow decide the same as machine code and as plain Python, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from testbed.compiled.flows import CompiledFlows, build
from testbed.compiled.layout import DECIDED, PLACE, values
from testbed.controller import MOST_HOPS, Feedback, IntStack, Paths
from testbed.registry import find

FLOWS = 4
EVENTS, ENOUGH = 3000, 500  # all but these have gone every way from line to line by the 445th, these by the 2,959th:
LATE = ("dcqcn", "nscc", "vivace")
LOOK = (
    8  # events between two looks at the whole state, which would take most of the time; decisions are looked at always
)
MORE: dict[str, list[dict[str, Any]]] = {  # branches that no preset takes
    "adpg": [{"decision_delay": "3 us"}, {"beta": 1.1, "start_rate": 0.1}],
    "aurora": [{"start_rate": 0.01, "seed": 2}],
    "bolt": [{"target_queue": 3, "max_window": 40, "min_window": 2}],
    "dcqcn": [
        {"window": "bdp", "byte_counter": "50 kB", "order": "alpha_first", "cut_period": "10 us"},
        {"clamp_target": "byte_increase", "recovery_steps": 1, "byte_counter": "100 kB", "min_decrease": "80 %"},
    ],
    "decc": [{"decision_delay": "3 us"}],
    "dctcp": [{"max_window": 50, "additive": 3}],
    "fixed": [{"rate": "40 Gbit/s"}, {"rate": "30 %"}],
    "hpcc": [{"base_rtt": "10 us", "flows": 3, "max_stage": 1}],
    "nscc": [{"paced": False, "additive": 0, "adapt_gate": 1, "adapt_delay": 0.5}],
    "powertcp": [{"floor": 0, "eta": 0.95, "flows": 3}],
    "ppo": [{"drawn": False}, {"decision_delay": "3 us", "seed": 3}],
    "reinforce": [{"decision_delay": "3 us"}, {"seed": 2}],
    "rtt-template": [{"start_rate": 0.1, "max_delay": "20 us"}],
    "spine": [{"law": "linear", "beta": 1, "rtt_gain": 0.5}, {"min_window": 2, "slow_start": True}],
    "swift": [{"pacing": "always"}, {"reference_rtt": 0, "initial_window": 2, "retransmit_reset": 1}],
    "theta-powertcp": [{"gamma": 1, "flows": 3}],
    "timely": [{"segment": 0, "low": 0.1, "high": 0.5, "start_rate": "10 %"}, {"law": "original", "max_cut": 0.1}],
    "vivace": [{"least_growth": 0, "start_rate": 1}],
}


def cases() -> Iterator[tuple[str, str | None, dict[str, Any]]]:
    for name, options in MORE.items():
        for preset in find("controller", name).form.presets or (None,):
            yield name, preset, {}
        for some in options:
            yield name, None, some


class Network:
    """What may come back, likely or not."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.paths = Paths(
            np.array([100e9, 25e9, 100e9, 10e9]), np.array([8e-6, 8e-6, 24e-6, 13e-6]), np.array([1, 2, 5, 3]),
            payload=1000, wire_size=1086,
        )  # fmt: skip
        self.now = 0.0
        self.next_seq = np.full(FLOWS, 10)
        self.acked = np.full(FLOWS, -1)
        self.tx_bytes = np.zeros((FLOWS, MOST_HOPS))

    def flows(self) -> np.ndarray:
        return np.flatnonzero(self.rng.random(FLOWS) < 0.6)

    def feedback(self, flows: np.ndarray) -> Feedback:
        rng, n = self.rng, len(flows)
        acked = rng.integers(0, 6, n)
        self.acked[flows] += acked
        self.next_seq[flows] = np.maximum(self.next_seq[flows], self.acked[flows] + rng.integers(1, 20, n))
        rtt = self.paths.base_rtt[flows] * (1 + rng.exponential(1.0, n))
        increased = rng.binomial(acked, 0.3)
        counts = [rng.binomial(acked, 0.3), rng.binomial(3, 0.1, n), rng.binomial(4, 0.05, n), rng.binomial(1, 0.05, n)]
        return Feedback(
            acked, acked * 1086, self.acked[flows], self.next_seq[flows], rng.integers(0, 200_000, n),
            np.where(acked > 0, rtt, np.nan), *counts, self.stack(flows), increased,
        )  # fmt: skip

    def stack(self, flows: np.ndarray) -> IntStack:
        """Mostly of the path, and newer than the last; else of another path, or with clocks that run backwards."""
        rng, shape = self.rng, (len(flows), MOST_HOPS)
        self.tx_bytes[flows] += rng.uniform(0, 30_000, shape)
        hops, node = self.paths.hops[flows], np.broadcast_to(np.arange(MOST_HOPS), shape).copy()
        strange = rng.random(len(flows)) < 0.1
        hops = np.where(strange, rng.integers(0, MOST_HOPS + 1, len(flows)), hops)
        node[rng.random(shape) < 0.01] = 99
        ts = self.now - rng.uniform(0, 1e-6, shape) - 1e-3 * (rng.random(shape) < 0.01)
        tx_bytes = self.tx_bytes[flows] * (rng.random(shape) >= 0.01)
        rate = np.broadcast_to(self.paths.line_rate[flows, None], shape)
        return IntStack(hops, node, ts, tx_bytes, rng.exponential(40_000, shape), rate.copy())


class Event(NamedTuple):
    """What happens at a moment; ``kind`` decides which of the last three is told."""

    now: float
    restarted: np.ndarray
    kind: float
    flows: np.ndarray
    told: Feedback
    sent: np.ndarray
    notice: tuple[np.ndarray, ...]


@pytest.fixture(scope="module")
def network() -> Network:
    return Network(seed=7)


@pytest.fixture(scope="module")
def events(network: Network) -> list[Event]:
    """The same for every controller: drawing them takes longer than deciding."""
    return list(drawn(network))


def drawn(network: Network) -> Iterator[Event]:
    rng = network.rng
    for _ in range(EVENTS):
        network.now += rng.exponential(2e-6)
        flows, restarted, kind = network.flows(), np.flatnonzero(rng.random(FLOWS) < 0.002), rng.random()
        sent = rng.integers(1, 20_000, len(flows))
        told = network.feedback(flows)
        notice = (
            rng.exponential(4e-6, len(flows)),
            rng.exponential(9e3, len(flows)),
            rng.choice([25e9, 1e11], len(flows)),
        )
        yield Event(network.now, restarted, kind, flows, told, sent, notice)


def assert_same_state(machine: CompiledFlows, plain: CompiledFlows) -> None:
    """All that they keep."""
    layout, objects = machine.records.dtype, plain.objects
    assert objects
    state = np.array([values(one, layout) for one in objects.flows if one], layout)
    kept = {name for name in layout.names or () if not name.startswith(PLACE)}  # Python need not know where it was
    for name in kept - {"path", "config"}:
        assert machine.records[name].tobytes() == state[name].tobytes(), (name, machine.records[name], state[name])


def assert_same_decisions(machine: CompiledFlows, plain: CompiledFlows) -> None:
    for name in DECIDED:
        assert machine.records[name].tobytes() == plain.records[name].tobytes()


@pytest.mark.parametrize(("name", "preset", "options"), list(cases()), ids=str)
def test_machine_code_and_python_decide_the_same(
    network: Network, events: list[Event], name: str, preset: str | None, options: dict[str, Any]
) -> None:
    plugin = find("controller", name)
    config = plugin.configure(preset, options)
    both = [build(plugin.form, config, network.paths, compiled) for compiled in (True, False)]
    machine, plain = both
    assert isinstance(machine, CompiledFlows)
    assert isinstance(plain, CompiledFlows)
    assert (machine.runs_as, plain.runs_as) == ("machine code", "Python")
    for one in both:
        one.on_start(0.0, np.arange(FLOWS))
    seen = set()
    told_of = events if name in LATE else events[:ENOUGH]
    for number, (now, restarted, kind, flows, told, sent, notice) in enumerate(told_of, 1):
        due = np.flatnonzero(machine.timer <= now)
        for one in both:
            if len(due):
                one.on_timer(now, due)
            if len(restarted):
                one.on_start(now, restarted)
            if kind < 0.7:
                one.on_feedback(now, flows, told)
            elif kind < 0.85:
                one.on_sent(now, flows, sent)
            else:
                one.on_src(now, flows, *notice)
        assert_same_decisions(machine, plain)
        if number % LOOK == 0:
            assert_same_state(machine, plain)
        seen.update(zip(machine.rate.tolist(), machine.window.tolist(), strict=True))
    assert (len(seen) > 100) == plugin.form.adaptive  # it did decide
