"""``--to c``: the portable form compiles strictly, and decides as the library does."""

from __future__ import annotations

import ctypes
import subprocess
from ctypes import c_double, c_int64, c_void_p
from pathlib import Path

import numpy as np
import pytest
from testbed_controllers.adpg.catboost_form import predictor
from testbed_controllers.adpg.distillation import anywhere, visited
from testbed_controllers.adpg.network import Network
from testbed_controllers.adpg.observation import LEAST_RATE, AdpgConfig, History, limited, signal

from tests.controllers.adpg.export.conftest import STRICT, exported
from tests.controllers.adpg.loops import BASE_RTT, TREES, heard_in_incast
from tests.support.checkout import ROOT
from tests.support.exported import example_of

MILLION = 1_000_000


class _Config(ctypes.Structure):
    _fields_ = [(name, c_double) for name in ("beta", "target", "reference_rtt", "ramp")]


FLOW = np.dtype(
    [(name, float) for name in ("rate", "oldest", "newest", "signal")]
    + [(name, np.int32) for name in ("fresh", "idle")]
)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("source", ["adpg.c", "adpg_trees.c"])
def test_compiles_without_a_warning_and_needs_nothing_but_sqrt(
    portable_export: Path, tmp_path: Path, compiler: str, source: str
) -> None:
    command = [compiler, *STRICT, "-pedantic", "-c", portable_export / source, "-o", tmp_path / "one.o"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    listed = subprocess.run(["nm", "-u", tmp_path / "one.o"], capture_output=True, text=True, check=True).stdout
    assert set(listed.split()) - {"U"} <= {"sqrt", "adpg_trees"}


def test_the_example_runs_from_start_to_rate(tmp_path: Path) -> None:
    """As its README says; the rates are those of the controller in numpy."""
    folder = exported("c", tmp_path, start_rate=0.5, beta=1.4)
    said = np.array(example_of(folder))
    config = AdpgConfig(start_rate=0.5, beta=1.4)
    history, share, flow = History(1), np.array([0.5]), np.array([0])
    for rtt, rate in said:
        x = signal(np.array([rtt * 1e-6]), np.array([8e-6]), share, config)
        decided = limited(TREES.decide(history.features(flow, x)))
        history.remember(flow, x, decided)
        share = np.clip(share * decided, LEAST_RATE, 1.0)
        assert rate == pytest.approx(100 * share[0], abs=0.006)
    assert said[:, 1].min() < 0.6 * said[0, 1]  # congestion was met


def test_trees_equal_the_library_and_catboost(portable: ctypes.CDLL) -> None:
    """To 1e-5 on a million random inputs, and on the states that closed loops visit."""
    rng = np.random.default_rng(1)
    network = Network.load(ROOT / "controllers/adpg/policies/network.json")
    features = np.concatenate((anywhere(MILLION, rng), visited(network, 200_000, rng)))
    mine = np.empty(len(features))
    portable.multipliers(c_int64(len(mine)), c_void_p(features.ctypes.data), c_void_p(mine.ctypes.data))
    np.testing.assert_allclose(mine, TREES.decide(features), rtol=0, atol=1e-5)
    np.testing.assert_allclose(mine, predictor(TREES)(features), rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("flows", "start_rate", "ramp"), [(2, 1.0, 0.0), (8, 1.0, 0.0), (64, 0.02, 0.0), (2, 0.01, 0.006)]
)
def test_controller_equals_the_rack_s_in_closed_loop(
    portable: ctypes.CDLL, flows: int, start_rate: float, ramp: float
) -> None:
    """The same round-trip times give the same rates, from the first decision on."""
    heard = heard_in_incast(flows, 4e-3, start_rate, ramp)
    config = AdpgConfig(ramp=ramp)
    settings = _Config(config.beta, config.target, config.reference_rtt, config.ramp)
    state, rate = np.zeros(flows, FLOW), np.empty(len(heard.flow))
    base = np.full(len(heard.flow), BASE_RTT)
    columns = [c_void_p(one.ctypes.data) for one in (heard.flow, heard.rtt, base, state, rate)]
    portable.decisions(c_int64(len(rate)), ctypes.byref(settings), c_double(start_rate), *columns)
    np.testing.assert_allclose(rate, heard.rate, rtol=1e-9)
