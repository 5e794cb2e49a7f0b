"""A plugin that fails or hangs in an agent or beside it; tests/engines/virtual has all the ways of failing."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.support.failing import (
    BAD_THRESHOLDS,
    CONTROLLER,
    FLOW_CONTROLLER,
    GOOD_THRESHOLDS,
    TUNER,
    assert_blamed,
    failed,
    plugin,
)
from tests.support.outside import LONG, SHORT, TESTBED, run, summary_in
from tests.support.runs import UNCALIBRATED, UNDRAWN

pytestmark = [pytest.mark.root, pytest.mark.parallel]


@pytest.mark.parametrize(
    ("template", "parts", "marker", "says"),
    [
        (CONTROLLER, {"feedback": "flows[0] / 0 + {}"}, "flows[0]", "TypeError"),
        (FLOW_CONTROLLER, {"ack": "self.rate = 1 / (self.count - 21)"}, "1 / (", "ZeroDivisionError"),
        (TUNER, {"initial": GOOD_THRESHOLDS, "slot": "sample.nothing"}, "sample.nothing", "AttributeError"),
    ],
    ids=lambda value: " ".join(value.values()) if isinstance(value, dict) else "",
)
def test_plugin_that_fails_ends_the_run_and_keeps_the_data(
    tmp_path: Path, template: str, parts: dict[str, str], marker: str, says: str
) -> None:
    done, blame = failed(tmp_path, LONG, template, parts, marker)
    assert_blamed(done, summary_in(tmp_path), blame, says, 10e-3)


def test_an_answer_that_cannot_be_put_in_force_leaves_the_last_good_thresholds(tmp_path: Path) -> None:
    file, _ = plugin(tmp_path, TUNER, initial=GOOD_THRESHOLDS, slot=BAD_THRESHOLDS)
    done = run(tmp_path, "run", "incast-2", "--duration", "1 ms", *UNCALIBRATED, *UNDRAWN, "--tuner", str(file))
    assert done.returncode == 3, done.stderr
    assert "rejected thresholds" in {reason["what"] for reason in summary_in(tmp_path)["verdict"]["reasons"]}
    series = pq.read_table(tmp_path / "out" / "port_series.parquet").to_pydict()
    assert {*series["kmin"], *series["kmax"]} == {1e5, 4e5}
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert "breaks 0 <= Kmin <= Kmax" in json.dumps(manifest["tuners"])


def test_a_rate_above_the_line_is_a_reason_not_to_trust_the_run(tmp_path: Path) -> None:
    file, _ = plugin(tmp_path, FLOW_CONTROLLER, ack="self.rate = 3 * self.path.line_rate")
    done = run(tmp_path, "run", "incast-2", "--duration", "1 ms", *UNCALIBRATED, *UNDRAWN, "--controller", str(file))
    assert done.returncode == 3, done.stderr
    (reason,) = [one for one in summary_in(tmp_path)["verdict"]["reasons"] if one["what"] == "rate above line rate"]
    assert re.fullmatch(r"[1-9]\d* decisions of the controller", reason["how_much"])
    assert "bound the controller's rate by its path's line_rate" in reason["remedy"]


def test_plugin_that_does_not_return_ends_the_run_as_well(tmp_path: Path) -> None:
    file, _ = plugin(tmp_path, CONTROLLER, feedback="__import__('time').sleep(60)")
    impatient = "from testbed.engines.kernel import emulation; emulation.PATIENCE = 0.5; " + TESTBED[-1]
    done = subprocess.run(
        [*TESTBED[:-1], impatient, *SHORT, "--controller", str(file), "--out", str(tmp_path / "out")],
        capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "testbed: controller 'mine' did not return from a callback for" in done.stderr
    assert summary_in(tmp_path)["packets_sent"] > 0
