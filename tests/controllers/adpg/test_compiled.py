"""The trees and the control loop around them, compiled: as in numpy and in CatBoost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from testbed_controllers.adpg import Adpg
from testbed_controllers.adpg.catboost_form import predictor
from testbed_controllers.adpg.compiled import CompiledTrees
from testbed_controllers.adpg.controller import AdpgController
from testbed_controllers.adpg.distillation import anywhere
from testbed_controllers.adpg.observation import AdpgConfig

from testbed.base.arrays import Ints
from testbed.controller import Feedback
from tests.controllers.adpg.loops import TREES
from tests.support.checkout import ROOT
from tests.support.rows import paths

COLUMNS = ("share", "rate", "decided_seq", "effect", "ready", "timer", "window")
SLOWER = """
import sys
sys.path.insert(0, {root!r})
if {hidden}:
    sys.modules["catboost"] = None
import numpy as np
from testbed_controllers.adpg.catboost_form import predictor
from testbed_controllers.adpg.compiled import CompiledTrees
from tests.controllers.adpg.loops import TREES
one, again = CompiledTrees(TREES), CompiledTrees(TREES)
features = np.ones((3, 4))
assert np.allclose(one.decide(features), TREES.decide(features), atol=1e-5)
print(one.form)
"""


def test_forms_agree_on_a_million_inputs() -> None:
    features = anywhere(1_000_000, np.random.default_rng(1))
    compiled = CompiledTrees(TREES)
    assert compiled.form == "compiled"
    np.testing.assert_allclose(compiled.decide(features), TREES.decide(features), rtol=0, atol=1e-12)
    np.testing.assert_allclose(compiled.decide(features), predictor(TREES)(features), rtol=0, atol=1e-5)


def heard(rng: np.random.Generator, sent: Ints, flows: Ints) -> Feedback:
    """Answers of any age, some without an RTT; more is sent meanwhile."""
    nothing = np.zeros(len(flows), np.int64)
    acked = (sent[flows] * rng.uniform(0.5, 1.0, len(flows))).astype(np.int64)
    sent[flows] += rng.integers(1, 5, len(flows))
    rtt = rng.uniform(7e-6, 60e-6, len(flows))
    rtt[rng.random(len(flows)) < 0.05] = np.nan
    return Feedback(
        nothing + 1, nothing + 1000, acked, sent[flows], nothing, rtt, nothing, nothing, nothing, nothing
    )  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"decision_delay": "3 us"}, {"beta": 1.2, "reference_rtt": "20 us"}])
def test_compiled_loop_decides_as_the_reference_does(options: dict[str, object]) -> None:
    """`AdpgController` in numpy, and `Adpg`, in which C does the same: every column, always."""
    config, on, rng = AdpgConfig.model_validate(options), paths(16), np.random.default_rng(3)
    mine, reference = Adpg(config, on), Adpg(config, on)
    sent, now = np.zeros(16, np.int64), 0.0
    for one in (mine, reference):
        one.on_start(now, np.arange(16))
    for number in range(1500):
        now += 1e-6 * (number % 3 > 0)  # some come at the same time
        flows = np.sort(rng.choice(16, rng.integers(1, 17), replace=False))
        told = heard(rng, sent, flows)
        mine.on_feedback(now, flows, told)
        AdpgController.on_feedback(reference, now, flows, told)
        for one in (mine, reference):
            if len(due := np.flatnonzero(one.timer <= now)):
                one.on_timer(now, due)
            if number == 701:
                one.on_start(now, np.array([2, 5]))
        for column in COLUMNS:
            np.testing.assert_array_equal(getattr(mine, column), getattr(reference, column), err_msg=column)
    assert len(set(mine.share)) > 10  # they did decide


@pytest.mark.parametrize(("hidden", "form"), [(False, "CatBoost"), (True, "numpy")])
def test_says_so_where_there_is_no_compiler(hidden: bool, form: str, tmp_path: Path) -> None:
    program = SLOWER.format(root=str(ROOT), hidden=hidden)
    environment = {"PATH": str(tmp_path), "TESTBED_CACHE": str(tmp_path / "cache"), "HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stdout) == (0, f"{form}\n"), done.stderr
    said = [line for line in done.stderr.splitlines() if line.startswith("adpg:")]
    assert said == [f"adpg: {form} decides, which is slow: clang is needed to compile the data plane and is not "
                    "installed; run: apt install clang"]  # fmt: skip
