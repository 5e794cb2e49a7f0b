"""The arithmetic in whole numbers: C and Python give the same bits, and both stay close to the controller's."""

from __future__ import annotations

import ctypes
import dataclasses
import math
from ctypes import c_int64, c_void_p
from typing import Any

import numpy as np
import pytest
from testbed_controllers.adpg import observation
from testbed_controllers.adpg.export.fixed import LINE, ONE, FixedTrees, Parameters, root, signal
from testbed_controllers.adpg.observation import AdpgConfig
from testbed_controllers.adpg.rollout import Rollout

from testbed.base.arrays import Floats, Ints
from testbed.errors import BadInput
from tests.controllers.adpg.loops import BASE_RTT, FIXED, TREES, model

MILLION = 1_000_000
LEAST = 11 << 10  # the least rate, 30 bits of fraction
CONFIG = AdpgConfig()
PARAMETERS = Parameters.of(CONFIG, BASE_RTT)


def values(parameters: Parameters = PARAMETERS) -> np.ndarray[Any, np.dtype[np.uint32]]:
    return np.array(dataclasses.astuple(parameters), np.uint32)


def called(function: Any, *arguments: Any) -> None:
    function(*(c_void_p(one.ctypes.data) if isinstance(one, np.ndarray) else c_int64(one) for one in arguments))


def rates(rng: np.random.Generator, count: int) -> Ints:
    """From the least to line rate, ends included, alike in the logarithm."""
    chosen = np.exp(rng.uniform(math.log(LEAST), math.log(LINE), count)).astype(np.int64)
    chosen[:2] = LEAST, LINE
    return chosen


def test_square_roots(parts: ctypes.CDLL) -> None:
    rate = rates(np.random.default_rng(1), MILLION)
    mine = np.empty_like(rate)
    called(parts.roots, MILLION, rate, mine)
    np.testing.assert_array_equal(mine, root(rate))
    np.testing.assert_allclose(mine / 2**29, np.sqrt(rate / LINE), rtol=1e-5)


@pytest.mark.parametrize(
    "options", [{}, {"beta": 1.1, "target": 0.3, "reference_rtt": "20 us"}, {"beta": 4, "reference_rtt": "1 us"}]
)
def test_signals(parts: ctypes.CDLL, options: dict[str, Any]) -> None:
    config = AdpgConfig.model_validate(options)
    parameters = Parameters.of(config, BASE_RTT)
    rng = np.random.default_rng(2)
    base = rng.integers(1_000, 100_000, MILLION)
    rtt = base + np.exp(rng.uniform(0, math.log(1e6), MILLION)).astype(np.int64) - 1000
    rtt[:10_000] = rng.integers(0, 2**32, 10_000)  # what a wild clock may give
    rtt[:2] = 0, 2**32 - 1
    rate = rates(rng, MILLION)
    rtt[2], rate[2] = base[2] + parameters.threshold + 2**28, LINE  # times its root this is 0 in 64 bits
    mine = np.empty_like(rate)
    called(parts.signals, MILLION, values(parameters), rtt, base, rate, mine)
    np.testing.assert_array_equal(mine, signal(parameters, rtt, base, rate))
    exact = observation.signal(rtt / 1e9, base / 1e9, rate / LINE, config, config.reference_rtt)
    # 1e-5 of the root; and half a ns of the threshold, which has whole ones
    np.testing.assert_allclose(mine / ONE, exact, rtol=1e-4, atol=2e-4 + 12.5 * 0.5e-9 / config.reference_rtt)


def test_trees_on_a_million_random_inputs(parts: ctypes.CDLL) -> None:
    rng = np.random.default_rng(3)
    features = np.column_stack(
        [rng.integers(low, high, MILLION) for low, high in 2 * [(54613, 78644), (-52429, 8 * ONE + 1)]]
    )
    features[: len(FIXED.border.ravel()), 3] = FIXED.border.ravel()  # on the borders themselves
    mine = np.empty(MILLION, np.int64)
    called(parts.multipliers, MILLION, features, mine)
    np.testing.assert_array_equal(mine, FIXED.decide(features))
    # the same questions have the same answers; bias and 20 leaves are rounded to 24 bits, and their sum to 16
    rounding = 0.5 + 21 * 0.5 / 2**8
    np.testing.assert_allclose(mine / ONE, TREES.decide(features / ONE), rtol=0, atol=rounding / ONE)


@pytest.mark.parametrize(("base_rtt", "ramp"), [(BASE_RTT, 0.0), (0.0, 0.0), (BASE_RTT, 0.006)])
def test_a_million_decisions_on_random_round_trips(parts: ctypes.CDLL, base_rtt: float, ramp: float) -> None:
    """Half of the flows have an idle line, on which a ramp begins."""
    parameters = Parameters.of(AdpgConfig(start_rate=1e-3, ramp=ramp), base_rtt)
    rng = np.random.default_rng(4)
    flow = rng.integers(0, 2_000, MILLION)
    queueing = np.exp(rng.uniform(0, math.log(400_000), MILLION)) * rng.integers(0, 2, MILLION) * (flow % 2)
    rtt = 8_192 + queueing.astype(np.int64)
    contexts, rate = np.zeros((2_000, 8), np.uint32), np.empty(MILLION, np.int64)
    called(parts.decisions, MILLION, values(parameters), flow, rtt, contexts, rate)
    np.testing.assert_array_equal(rate, model(flow, rtt, parameters))


@pytest.mark.parametrize(("ramp", "least", "most"), [(0.0, 300, 400), (0.006, 80, 100)])
def test_from_1_to_95_percent_of_an_idle_line(parts: ctypes.CDLL, ramp: float, least: int, most: int) -> None:
    """The trees as published take 354 RTTs, those of preset `ramp` 88 (docs/explanation/adpg.md)."""
    parameters = Parameters.of(AdpgConfig(start_rate=0.01, ramp=ramp), BASE_RTT)
    flow, rtt = np.zeros(most, np.int64), np.full(most, round(BASE_RTT * 1e9))
    contexts, rate = np.zeros((1, 8), np.uint32), np.empty(most, np.int64)
    called(parts.decisions, most, values(parameters), flow, rtt, contexts, rate)
    assert least <= np.argmax(rate >= 0.95 * LINE) < most


class _Loop(ctypes.Structure):
    _fields_ = [
        ("parameters", c_void_p),
        ("flows", c_void_p),
        ("most", c_int64),
        ("length", c_int64),
        *((name, c_void_p) for name in ("flow", "rtt", "rate")),
    ]


class InLoop:
    """An incast of the fluid model under the exported C."""

    def __init__(self, parts: ctypes.CDLL, flows: int, most: int = 2_000_000) -> None:
        self.heard = np.empty((3, most), np.int64)  # flow, RTT in ns, rate
        self._keep = values(), np.zeros((flows, 8), np.uint32)
        pointers = [row.ctypes.data for row in self.heard]
        self.loop = _Loop(self._keep[0].ctypes.data, self._keep[1].ctypes.data, most, 0, *pointers)
        self.rollout = Rollout(np.array([flows]))
        address = ctypes.cast(parts.in_loop, c_void_p).value
        assert address is not None
        self.rollout.c.controller, self.rollout.c.state = address, ctypes.addressof(self.loop)
        self.rollout["start"][:] = np.random.default_rng(flows).uniform(0, BASE_RTT, flows)

    def advance(self, duration: float) -> tuple[Floats, float]:
        """Bytes of each flow and mean queue, both in s of line time."""
        sent, area = self.rollout["sent"].copy(), self.rollout["area"].copy()
        steps = round(duration / 0.512e-6)
        self.rollout.advance(TREES, steps=steps)
        return self.rollout["sent"] - sent, float((self.rollout["area"] - area)[0] / steps)


@pytest.mark.parametrize(("flows", "warm"), [(2, 8e-3), (8, 12e-3), (64, 20e-3), (1024, 32e-3)])
def test_closed_loop(parts: ctypes.CDLL, flows: int, warm: float) -> None:
    """From line rate. Queues are near T (0.5 + 0.064 sqrt(N)), where x is 0 and rates are fair (facts sheet 4.4)."""
    loop = InLoop(parts, flows)
    loop.advance(warm)
    sent, queue = loop.advance(4e-3)
    assert queue == pytest.approx(BASE_RTT * (0.5 + 0.064 * math.sqrt(flows)), rel=0.05)
    assert sent.min() / sent.max() > 0.95
    assert sent.sum() / 4e-3 > 0.99
    flow, rtt, rate = loop.heard[:, : loop.loop.length]
    assert loop.loop.length < loop.loop.most
    np.testing.assert_array_equal(rate, model(flow, rtt, PARAMETERS))


def test_leaves_that_do_not_fit_are_refused() -> None:
    with pytest.raises(BadInput, match="too large for fixed point"):
        FixedTrees.of(dataclasses.replace(TREES, leaves=TREES.leaves * 1000))
