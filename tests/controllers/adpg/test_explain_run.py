"""A run's decisions, told again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from testbed_controllers.adpg import Adpg
from testbed_controllers.adpg.explain_run import _Again, decisions_of
from testbed_controllers.adpg.observation import AdpgConfig

from testbed.base.arrays import Floats
from testbed.compiled.flows import build
from testbed.controller import Feedback, Paths, RateController
from testbed.errors import BadInput
from testbed.registry import find
from testbed.results.decisions import Recorded
from testbed.results.trace import FEEDBACK, START, TOLD
from tests.support.commands import command
from tests.support.runs import UNDRAWN, VIRTUAL

T = 8.192e-6


def recorded(controller: RateController, rtts: Floats) -> Recorded:
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
    told = recorded(build(Adpg, AdpgConfig(), paths), rtts)
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


def test_a_run_is_explained(tmp_path: Path) -> None:
    run = tmp_path / "run"
    options = ("--controller", "adpg", "--duration", "1 ms", *VIRTUAL, *UNDRAWN)
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
