"""What one decision of ADPG costs in each form of its policy, and the controller around it when Python calls it.

All forms are measured side by side, in turns, on states that closed loops visit. The published factor of 500 is a
property of a NIC's core; here each baseline has its name.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from ctypes import c_double, c_int64, c_void_p
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from bench.exported import Exported
from bench.measure import Row, spread
from controllers.adpg.catboost_form import predictor
from controllers.adpg.controller import AdpgController
from controllers.adpg.distillation import visited
from controllers.adpg.distilled import POLICIES, Adpg
from controllers.adpg.int8 import Int8Network
from controllers.adpg.network import Network
from controllers.adpg.observation import AdpgConfig
from controllers.adpg.onnx_network import OnnxNetwork
from controllers.adpg.rollout import InC
from controllers.adpg.tree import Trees
from testbed.base.arrays import Floats
from testbed.base.compiler import LIBRARY_FLAGS, Unit
from testbed.compiled.flows import build
from testbed.controller import Feedback, Paths

ROWS = 4096
TURNS = 9
LEAST_SECONDS = 0.02  # of one measurement
MOST_NS, AIM_NS = 150, 40
ONNX_LEAST, NETWORK_AIM, LOOP_LEAST = 50, 2, 3
TREE, NETWORK, ONNX = "trees, compiled", "network, compiled", "network, onnxruntime"
LIBRARY = Unit("bench-decide", (Path(__file__).with_name("decide.c"),), ".so", LIBRARY_FLAGS)

Work = Callable[[], object]


@dataclass(frozen=True)
class Form:
    """A way to decide: what one measurement repeats, and how many decisions that makes."""

    name: str
    work: Work
    decisions: int = 1

    def seconds(self) -> float:
        """Of one decision."""
        began, done = time.perf_counter(), 0
        while (spent := time.perf_counter() - began) < LEAST_SECONDS:
            self.work()
            done += self.decisions
        return spent / done


def of_decisions() -> Iterator[Row]:
    """The table, then the targets."""
    network, trees = Network.load(POLICIES / "network.json"), Trees.load(POLICIES / "trees.json")
    states = visited(network, 2 * ROWS, np.random.default_rng(1))[:ROWS]
    costs = in_turns([*_networks(network, states), *_trees(trees, states)])
    own = costs[TREE]
    nanoseconds = [1e9 * cost for cost in own]
    yield Row(
        "ADPG, one decision of the compiled trees", f"{spread(nanoseconds, '.0f')} ns",
        f"<= {MOST_NS} ns, aim {AIM_NS}", median(nanoseconds) <= MOST_NS,
        f"{'reaches' if median(nanoseconds) <= AIM_NS else 'misses'} the aim", {"seconds": own},
    )  # fmt: skip
    for name, theirs in costs.items():
        if name == TREE:
            continue
        ratios = [other / one for one, other in zip(own, theirs, strict=True)]
        least = {ONNX: ONNX_LEAST}.get(name)
        aim = f"reaches the aim of {NETWORK_AIM}" if median(ratios) >= NETWORK_AIM else f"aim: {NETWORK_AIM}"
        yield Row(
            f"{name} / compiled trees", spread(ratios, ",.1f"), f">= {least}" if least else "",
            median(ratios) >= least if least else None,
            f"{spread([1e9 * cost for cost in theirs])} ns" + (f"; {aim}" if name == NETWORK else ""),
            {"seconds": theirs},
        )  # fmt: skip
    yield from _loops()


def in_turns(forms: list[Form]) -> dict[str, list[float]]:
    """Seconds per decision of each form, one measurement per turn, after one that does not count."""
    costs: dict[str, list[float]] = {form.name: [] for form in forms}
    for turn in range(TURNS + 1):
        for form in forms:
            cost = form.seconds()
            if turn:
                costs[form.name].append(cost)
    return costs


def _networks(network: Network, states: Floats) -> Iterator[Form]:
    yield Form("network, torch eager", _by_torch(network, states[:1]))
    session, single = OnnxNetwork.load(POLICIES / "network.onnx").session, states[:1].astype(np.float32)
    yield Form(ONNX, lambda: session.run(None, {"features": single}))
    several = states.astype(np.float32)
    yield Form(f"{ONNX}, {ROWS} at once", lambda: session.run(None, {"features": several}), ROWS)
    yield Form("network, numpy", lambda: network.decide(states[:1]))
    yield Form(NETWORK, _in_c(network, states), ROWS)
    yield Form("8 bit network, compiled", _in_c(Int8Network.load(POLICIES / "int8.json"), states), ROWS)


def _trees(trees: Trees, states: Floats) -> Iterator[Form]:
    predict = predictor(trees)
    yield Form("trees, CatBoost's predict", lambda: predict(states[:1]))
    yield Form(f"trees, CatBoost's predict, {ROWS} at once", lambda: predict(states), ROWS)
    yield Form("trees, numpy", lambda: trees.decide(states[:1]))
    yield Form(f"trees, numpy, {ROWS} at once", lambda: trees.decide(states), ROWS)
    yield Form(TREE, _in_c(Exported(trees), states), ROWS)
    yield Form("trees, a table that C walks, as in training", _in_c(trees, states), ROWS)


def _in_c(policy: InC, states: Floats) -> Work:
    """A loop in C, which calls the policy once per decision."""
    function = LIBRARY.library(decide_each=(c_double, [c_void_p, c_void_p, c_void_p, c_int64])).decide_each
    (address, parameters), rows = policy.in_c(), np.ascontiguousarray(states)
    return lambda: function(address, parameters.ctypes.data, rows.ctypes.data, len(rows))


def _by_torch(network: Network, state: Floats) -> Work:
    import torch

    torch.set_num_threads(1)
    layers = [torch.tensor(layer, dtype=torch.float32) for layer in network.layers]
    given = torch.tensor(state, dtype=torch.float32)

    def decide() -> Any:
        with torch.no_grad():
            hidden = given
            for layer in layers[:-1]:
                hidden = torch.relu(torch.nn.functional.linear(hidden, layer))
            return torch.tanh(torch.nn.functional.linear(hidden, layers[-1]))

    return decide


def _loops() -> Iterator[Row]:
    """The whole of on_feedback, for batches as the rack has them: machine code, and the reference in numpy."""
    for flows in (1, 8, 64):
        paths, told = _batch(flows)
        calls: dict[str, Callable[..., object]] = {}
        for name, form in (("compiled", Adpg), ("numpy", _InNumpy)):
            controller = build(form, AdpgConfig(), paths)
            controller.on_start(0.0, np.arange(flows))
            calls[name] = controller.on_feedback
        forms = [Form(name, partial(call, 1.0, np.arange(flows), told), flows) for name, call in calls.items()]
        costs = in_turns(forms)
        ratios = [slow / fast for fast, slow in zip(costs["compiled"], costs["numpy"], strict=True)]
        micro = {name: spread([1e6 * flows * cost for cost in values], ".1f") for name, values in costs.items()}
        yield Row(
            f"ADPG, on_feedback of {flows} flow{'s' * (flows > 1)}: numpy / compiled", spread(ratios, ".1f"),
            f">= {LOOP_LEAST}", median(ratios) >= LOOP_LEAST,
            f"per call: {micro['numpy']} us / {micro['compiled']} us", costs,
        )  # fmt: skip


class _InNumpy(AdpgController):
    """The loop for networks, with the trees as its policy."""

    name = "in-numpy"

    @classmethod
    def load(cls, config: AdpgConfig) -> Trees:
        return Adpg.load(config)


def _batch(flows: int) -> tuple[Paths, Feedback]:
    """Feedback on which all flows decide, each time it comes."""
    paths = Paths(np.full(flows, 100e9), np.full(flows, 8e-6), np.ones(flows, np.int64), 1000, 1122)
    none, rtt = np.zeros(flows, np.int64), np.full(flows, 13e-6)
    return paths, Feedback(none + 1, none + 1122, none + 5, none + 6, none, rtt, none, none, none, none)
