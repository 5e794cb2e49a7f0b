"""A plugin that fails, hangs or prints: the run says who and where, and what it measured until then is kept."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.support.outside import LONG, SHORT, TESTBED, run, summary_in
from tests.support.runs import UNCALIBRATED, UNDRAWN

pytestmark = [pytest.mark.root, pytest.mark.parallel]

CONTROLLER = """
from testbed.controller import RateController

class Mine(RateController):
    name = "mine"
    count = 0

    def __init__(self, config, paths):
        super().__init__(config, paths)
        self.rate /= 4
        {init}

    def on_start(self, now, flows):
        self.timer[flows] = now + 100e-6

    def on_feedback(self, now, flows, feedback):
        self.count += 1
        if self.count > 20:
            {feedback}

    def on_timer(self, now, flows):
        self.timer[flows] = float("inf")
        {timer}
"""
FLOW_CONTROLLER = """
from testbed.controller import CompiledController

class Mine(CompiledController):
    name = "mine"
    count: int

    def on_ack(self, ack):
        self.count += 1
        if self.count > 20:
            {ack}
"""
TUNER = """
import numpy as np
from testbed.tuner import Thresholds, Tuner

class Mine(Tuner):
    name = "mine"

    def __init__(self, config, ports):
        super().__init__(config, ports)
        self.slot = 100e-6

    def initial(self):
        return {initial}

    def on_slot(self, now, sample):
        return {slot}
"""
GOOD_THRESHOLDS = "Thresholds.uniform(len(self.ports), 1e5, 4e5, 0.2)"
BAD_THRESHOLDS = "Thresholds.uniform(len(self.ports), 4e5, 1e5, 0.2)"


def plugin(folder: Path, template: str, **parts: str) -> tuple[Path, str]:
    """A plugin file; every part that is not given does nothing."""
    names = re.findall(r"\{(\w+)\}", template)
    file = folder / "mine.py"
    file.write_text(template.format(**{**dict.fromkeys(names, "pass"), **parts}))
    return file, file.read_text()


def line_of(source: str, text: str) -> int:
    return next(number for number, line in enumerate(source.splitlines(), 1) if text in line)


@pytest.mark.parametrize(
    ("template", "parts", "marker", "says"),
    [
        (CONTROLLER, {"feedback": "flows[0] / 0 + {}"}, "flows[0]", "TypeError"),
        (CONTROLLER, {"feedback": "self.rate[flows] = float('nan')"}, "def on_feedback", "set rate nan bit/s"),
        (CONTROLLER, {"timer": "self.rate = 1e9"}, "def on_timer", "must stay arrays, one number per flow"),
        (FLOW_CONTROLLER, {"ack": "self.rate = float('nan')"}, "def on_ack", "set rate nan bit/s"),
        (FLOW_CONTROLLER, {"ack": "raise ValueError('no')"}, "raise", "ValueError: no"),
        (FLOW_CONTROLLER, {"ack": "self.rate = 1 / (self.count - 21)"}, "1 / (", "ZeroDivisionError"),
        (TUNER, {"initial": GOOD_THRESHOLDS, "slot": "sample.nothing"}, "sample.nothing", "AttributeError"),
    ],
    ids=lambda value: " ".join(value.values()) if isinstance(value, dict) else "",
)
def test_plugin_that_fails_ends_the_run_and_keeps_the_data(
    tmp_path: Path, template: str, parts: dict[str, str], marker: str, says: str
) -> None:
    file, source = plugin(tmp_path, template, **parts)
    kind = "tuner" if template is TUNER else "controller"
    done = run(tmp_path, *LONG, f"--{kind}", str(file))
    assert done.returncode == 1, done.stderr
    blame = f"{kind} 'mine' ({file}, line {line_of(source, marker)}): "
    (message,) = [line for line in done.stderr.splitlines() if line.startswith("testbed: ")]
    assert message.startswith(f"testbed: {blame}")
    assert says in message
    assert message.endswith("; what was measured until then is kept")
    kept = summary_in(tmp_path)
    assert kept["verdict"]["word"] == "degraded"
    assert kept["verdict"]["reasons"][0]["how_much"].startswith(blame)
    assert 0 < kept["duration"] < 10e-3
    assert kept["packets_sent"] > 0


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


@pytest.mark.parametrize(
    ("template", "parts", "marker", "says"),
    [
        (CONTROLLER, {"init": "open('/nonesuch')"}, "open(", "FileNotFoundError"),
        (TUNER, {"initial": "1 / 0", "slot": "None"}, "1 / 0", "ZeroDivisionError"),
        (TUNER, {"initial": "None", "slot": "None"}, "def initial", "expected Thresholds"),
    ],
    ids=lambda value: " ".join(value.values()) if isinstance(value, dict) else "",
)
def test_plugin_that_fails_before_the_first_packet_leaves_no_results(
    tmp_path: Path, template: str, parts: dict[str, str], marker: str, says: str
) -> None:
    file, source = plugin(tmp_path, template, **parts)
    kind = "tuner" if template is TUNER else "controller"
    done = run(tmp_path, *LONG, f"--{kind}", str(file))
    assert done.returncode == 1, done.stderr
    message = done.stderr.splitlines()[-1]
    assert message.startswith(f"testbed: {kind} 'mine' ({file}, line {line_of(source, marker)}): ")
    assert says in message
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_compiled_is_bad_input(tmp_path: Path) -> None:
    file, source = plugin(tmp_path, FLOW_CONTROLLER, ack="self.windw = 4")
    done = run(tmp_path, *LONG, "--controller", str(file))
    assert done.returncode == 2
    where = f"{file}, line {line_of(source, 'self.windw')}: "
    assert f"{where}cannot be compiled: Mine declares no 'windw'; did you mean 'window'?" in done.stderr
    assert not (tmp_path / "out").exists()


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


def test_plugin_that_prints_does_not_disturb_the_results(tmp_path: Path) -> None:
    file, source = plugin(tmp_path, CONTROLLER, timer="print('here I am')")
    file.write_text(source + "print('loaded')")
    done = run(tmp_path, *SHORT, "--controller", str(file), "--format", "json")
    assert done.returncode in (0, 3)
    assert "loaded" in done.stderr
    assert "here I am" in done.stderr
    json.loads(done.stdout)
