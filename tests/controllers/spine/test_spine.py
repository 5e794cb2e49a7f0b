"""SPINE's hierarchy: intervals by hand, machine code against numpy, and the shipped policy's gates."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from testbed_controllers.decc.observation import decades, delay
from testbed_controllers.spine import Spine
from testbed_controllers.spine.observation import RANGES, parameter, place, places
from testbed_controllers.spine.policy import Policy

from testbed.compiled.flows import CompiledFlows, build
from testbed.controller import Ack, Path
from testbed.engines.fluid.fluid import Fluid, Options
from testbed.engines.fluid.layout import incast
from testbed.engines.virtual.run import VirtualRun
from testbed.fidelity.verdict import judge
from testbed.results.record import RunRecord
from testbed.results.summary import summarise
from testbed.runs.overrides import resolve
from testbed.sdk.conformance.trial import Unwatched

T, LINE = 8.192e-6, 100e9
BDP = LINE * T / 8
PATH = Path(line_rate=LINE, base_rtt=T, longest_rtt=T, hops=1, payload=1000, wire_size=1078)


def told(now: float, packets: int = 1, rtt: float = T) -> Ack:
    return Ack(now, packets, packets * 1078, 0, 0, 0, rtt, 0, ())


def made(**options: Any) -> Spine:
    return Spine(Spine.Config.model_validate(options), PATH)


def test_an_interval_is_ten_base_rtts_and_the_first_triggers() -> None:
    one = made()
    one.on_ack(told(T))  # the first interval begins
    one.on_ack(told(6 * T, 300, 1.2 * T))
    one.on_loss(7 * T, 4)
    assert (one.intervals, one.alpha) == (0, 50 / 1024)
    one.on_ack(told(11.5 * T, 100, 1.6 * T))
    window = one.cwnd * 1078 / BDP  # what the executor made of it
    default = places(one.config)
    expected = [decades(400 * 1078 / BDP / 10.5), delay(1.3), 0.01, decades(window), default[2], default[0]]
    assert list(one.seen) == pytest.approx(expected)
    assert (one.intervals, one.triggers) == (1, 1)
    assert list(one.before) == list(one.seen)
    assert one.alpha == parameter(0, one.places[0]) != 50 / 1024
    assert (one.packets, one.lost, one.begun) == (0, 0, 11.5 * T)


def test_without_a_trigger_parameters_stay() -> None:
    one = made()
    one.on_ack(told(T))
    one.on_ack(told(11 * T, 900))
    held, weights = list(one.places), one.trigger.copy()
    for logit, triggers in ((-1.0, 1), (1.0, 2)):
        weights[:] = 0.0
        weights[0, -1] = logit
        one.trigger = weights
        one.on_ack(told(one.begun + 10.1 * T, 900, 2 * T))
        assert one.triggers == triggers
        assert (list(one.places) == held) == (triggers == 1)
    assert one.intervals == 3


def test_parameters_are_logarithmic_in_their_ranges() -> None:
    for which, (low, high) in enumerate(RANGES):
        assert [parameter(which, one) for one in (0.0, 0.5, 1.0)] == pytest.approx([low, np.sqrt(low * high), high])
        assert place(which, parameter(which, 0.3)) == pytest.approx(0.3)
        assert (place(which, low / 2), place(which, 2 * high)) == (0, 1)


def test_the_networks_are_those_of_the_file() -> None:
    one, policy, rng = made(), Policy.load(Spine.file(Spine.Config())), np.random.default_rng(1)
    state = np.zeros((1, 16))
    for seen, before in rng.normal(0, 0.7, (20, 2, 6)):
        one.seen, one.before = list(seen), list(before)
        assert one.watch() == pytest.approx(policy.watch(seen[None], before[None])[0], rel=1e-9)
        one.generate()
        given, state = policy.generate(seen[None], state)
        assert list(one.places) == pytest.approx(given[0].tolist(), rel=1e-9)
        assert list(one.state) == pytest.approx(state[0].tolist(), rel=1e-9)


@pytest.mark.parametrize("flows", [2, 8, 32])
def test_the_shipped_policy_passes_the_gates(flows: int) -> None:
    """In the fluid engine, not in the model that it was trained in."""
    layout = incast(flows)
    layout = dataclasses.replace(layout, start=np.random.default_rng(1).uniform(0, T, flows))
    fluid = Fluid(layout, build(Spine, Spine.Config(), layout.paths), Options(step=T / 16, probes=8))
    for _ in range(16 * 400):
        fluid.step()
    queues, controller = fluid.queues, fluid.controller
    assert isinstance(controller, CompiledFlows)
    left, area, dropped = queues.left[0], queues.area[0], queues.dropped[0]
    before = controller.records[["intervals", "triggers"]].copy()
    for _ in range(16 * 400):
        fluid.step()
    intervals, triggers = (controller.records[name].sum() - before[name].sum() for name in ("intervals", "triggers"))
    assert intervals >= 38 * flows
    assert triggers < 0.2 * intervals
    assert queues.left[0] - left > 0.95 * 400 * BDP
    assert (queues.area[0] - area) / 6400 < 0.39 * BDP  # the module's threshold
    assert queues.dropped[0] == dropped


def counted(flows: int, duration: str) -> tuple[RunRecord, NDArray[np.void]]:
    """What a run with packets showed and, of each flow, how it ended."""
    settings = ["engine=virtual", "record.decisions=0", f"traffic.senders={flows}"]
    settings += [f"time.duration={duration}", "time.warmup=3 ms"]
    resolved = resolve("incast-8", {"controller": "spine"}, {}, settings)
    run = VirtualRun(resolved, (), Unwatched())
    record = run.follow()
    assert isinstance(run.controller, CompiledFlows)
    return record, run.controller.records


@pytest.mark.parametrize("flows", [1, 8, 32])
def test_few_intervals_trigger_at_rest(flows: int) -> None:
    """In the second half of 6 ms. The module's parameters have SU of 99 % and a queue of 0.26 T."""
    (_, before), (record, after) = (counted(flows, duration) for duration in ("3.001 ms", "6 ms"))
    intervals, triggers = (after[name].sum() - before[name].sum() for name in ("intervals", "triggers"))
    assert intervals > 30 * flows
    assert triggers < 0.2 * intervals
    assert record.broken == []
    found = summarise(record, judge(record), experiment="incast-8", controller="spine")
    assert found.su > 93
    assert found.ql_mean < 0.26 / 2 * found.base_rtt
    assert found.drops == 0
