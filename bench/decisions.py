"""What one decision of ADPG costs in each form of its policy; `controllers` has the controllers around it.

All forms are measured side by side, in turns, on states that closed loops visit. The published factor of 500 is a
property of a NIC's core; here each baseline has its name.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterator
from ctypes import c_double, c_int64, c_void_p
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from bench.measure import Row, spread
from controllers.adpg.catboost_form import predictor
from controllers.adpg.compiled import CompiledTrees
from controllers.adpg.distillation import visited
from controllers.adpg.distilled import POLICIES
from controllers.adpg.int8 import Int8Network
from controllers.adpg.network import Network
from controllers.adpg.onnx_network import OnnxNetwork
from controllers.adpg.rollout import InC
from controllers.adpg.tree import Trees
from testbed.base.arrays import Floats
from testbed.base.compiler import LIBRARY_FLAGS, Unit
from testbed.errors import TestbedError

ROWS = 4096
TURNS = 9
LEAST_SECONDS = 0.02  # of one measurement
MOST_NS, AIM_NS = 150, 40
ONNX_LEAST, NETWORK_AIM = 50, 2
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
    predict, compiled = predictor(trees), CompiledTrees(trees)
    if compiled.form != "compiled":
        raise TestbedError("the trees cannot be compiled on this machine")
    yield Form("trees, CatBoost's predict", lambda: predict(states[:1]))
    yield Form(f"trees, CatBoost's predict, {ROWS} at once", lambda: predict(states), ROWS)
    yield Form("trees, numpy", lambda: trees.decide(states[:1]))
    yield Form(f"trees, numpy, {ROWS} at once", lambda: trees.decide(states), ROWS)
    yield Form(TREE, _in_c(compiled, states), ROWS)
    yield Form(f"trees, compiled, called from Python for {ROWS} at once", lambda: compiled.decide(states), ROWS)
    yield Form("trees, compiled, called from Python for one", lambda: compiled.decide(states[:1]))


def _in_c(policy: InC, states: Floats) -> Work:
    """A loop in C, which calls the policy once per decision."""
    function = ctypes.CDLL(str(LIBRARY.compiled())).decide_each
    function.restype, function.argtypes = c_double, [c_void_p, c_void_p, c_void_p, c_int64]
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
