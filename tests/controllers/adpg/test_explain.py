"""The explanation: importance by hand, what drives a decision, and a flow's decisions told again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from testbed_controllers.adpg import Adpg
from testbed_controllers.adpg.explain import REST, drives, explained, reached, surface
from testbed_controllers.adpg.explain_run import _Again, decisions_of
from testbed_controllers.adpg.observation import AdpgConfig
from testbed_controllers.adpg.tree import Trees

from testbed.base.arrays import Floats
from testbed.controller import Feedback, Paths
from testbed.errors import BadInput
from testbed.registry import find
from testbed.results.decisions import Recorded
from testbed.results.trace import FEEDBACK, START, TOLD
from tests.support.commands import command
from tests.support.runs import UNCALIBRATED, UNDRAWN

T = 8.192e-6


class Linear:
    """A policy whose multiplier is 1 + w f, f measured from rest."""

    def __init__(self, *weights: float) -> None:
        self.weights = np.array(weights)

    def decide(self, features: Floats) -> Floats:
        return np.asarray(1 + (features - REST) @ self.weights)


def test_what_drives_a_linear_policy_are_its_terms() -> None:
    policy = Linear(0.1, 0.02, -0.05, 0.01)
    states = np.array([[1.1, 0.5, 0.9, -0.8], [1.0, 0.0, 1.0, 0.0]])
    np.testing.assert_allclose(drives(policy, states), (states - REST) * policy.weights, atol=1e-15)


def test_the_surface_has_the_current_signal_upwards() -> None:
    before, now = np.array([0.0, 1.0]), np.array([0.0, 2.0, 4.0])
    np.testing.assert_allclose(surface(Linear(0, 0, 0, 0.01), before, now), [[1, 1], [1.02, 1.02], [1.04, 1.04]])


def test_the_questions_explain_the_variance_by_hand() -> None:
    # One tree: x(k) > 0 is worth 3, then m(k-1) > 1 is worth 4; both halve the states, independently of each other:
    # the variances are 3^2 / 4 and 4^2 / 4.
    trees = Trees(np.array([[3, 2]]), np.array([[0.0, 1.0]]), np.array([[0.0, 3.0, 4.0, 7.0]]), 0.0)
    states = np.array([[1, 0, m, x] for m in (0.9, 1.1) for x in (-0.5, 0.5)])
    np.testing.assert_allclose(explained(trees, states), [0, 0, 16 / 25, 9 / 25])
    np.testing.assert_allclose(reached(trees, states), [[0.25, 0.25, 0.25, 0.25]])


def recorded(controller: Adpg, rtts: Floats) -> Recorded:
    """What an agent would have recorded while these RTTs came back to flow 1, one packet each."""
    flow, names = np.array([1]), [name for name in TOLD if name != "hops"]
    controller.on_start(0.0, flow)
    rows = [{"kind": START, "time": 0.0, "rtt": 0.0, **dict.fromkeys(names, 0), "rate": controller.rate[1]}]
    for number, rtt in enumerate(rtts, 1):
        told = {**dict.fromkeys(names, 0), "acked_packets": 1, "acked_seq": number, "next_seq": number + 1}
        columns = {name: np.array([value]) for name, value in told.items()}
        controller.on_feedback(number * T, flow, Feedback(**columns, rtt=np.array([rtt]), timeouts=np.zeros(1, int)))
        rows.append({"kind": FEEDBACK, "time": number * T, "rtt": rtt, **told, "rate": controller.rate[1]})
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return Recorded(5, controller.paths, {**columns, "flow": np.ones(len(rows), int)}, np.full(len(rows), -1))


def test_a_flow_told_again_decides_the_same() -> None:
    n = 2
    paths = Paths(np.full(n, 100e9), np.full(n, T), np.ones(n, np.int64), payload=1000, wire_size=1122)
    rtts = T + np.abs(np.random.default_rng(3).normal(5e-6, 3e-6, 200))
    told = recorded(Adpg(AdpgConfig(), paths), rtts)
    found = _Again(find("controller", "adpg"), AdpgConfig(), paths).tell(told, 1, "h2-h9")
    assert found.equal == len(rtts) == len(found.time)
    np.testing.assert_array_equal(found.rtt, rtts)
    # x by its definition (facts sheet 4.2), with the rate that was in force when the RTT came
    share = told.columns["rate"][:-1] / 100e9
    x = 12.5 * (np.maximum(rtts / T - 1.5, 0) * np.sqrt(share) - 0.064)
    np.testing.assert_allclose(found.features[:, 3], np.minimum(x, 8), rtol=1e-9, atol=1e-12)


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is not a results folder"):
        decisions_of(tmp_path, "")


@pytest.mark.root
@pytest.mark.parallel
def test_a_run_is_explained(tmp_path: Path) -> None:
    run = tmp_path / "run"
    options = ("--controller", "adpg", "--duration", "1 ms", *UNCALIBRATED, *UNDRAWN)
    done = command("run", "incast-2", *options, "--out", str(run), cwd=tmp_path)
    assert (run / "decisions.parquet").is_file(), done.stderr
    out = tmp_path / "out"
    done = command("explain", "adpg", "--run", str(run), "--flow", "h2-h3", "--out", str(out), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = next(line for line in done.stdout.splitlines() if line.startswith("Flow h2-h3: "))
    count = told.split()[2]
    assert f"{count} rates come out as recorded" in told
    assert {"explained.html", "surface.svg", "trees.svg", "importance.svg", "flow.svg"} <= {
        one.name for one in out.iterdir()
    }
    assert len((out / "decisions-h2-h3.csv").read_text().splitlines()) == int(count) + 1
    assert "://" not in (out / "explained.html").read_text()  # it opens offline
    done = command("explain", "adpg", "--run", str(run), "--flow", "h9-h3", cwd=tmp_path)
    assert done.returncode == 2
    assert "no such flow" in done.stderr
