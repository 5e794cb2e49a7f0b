"""`testbed model run` as a user meets it."""

from __future__ import annotations

import json
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import yaml

from testbed.engines.fluid.figures import Figures
from testbed.results.summary import Summary
from tests.support.commands import command

FINITE = """
traffic: {pattern: incast, senders: 4, flows_per_sender: 2, size: 250 kB}
time: {duration: 1 ms, warmup: 0 s}
controller: hpcc
"""
RISING = """
from testbed.controller import Ack, FlowController


class Rising(FlowController):
    name = "rising"

    def on_ack(self, ack: Ack) -> None:
        self.rate = {set_to}
"""
STEPPING = """
from testbed.tuner import PortSample, Thresholds, Tuner


class Stepping(Tuner):
    name = "stepping"

    def __init__(self, config, ports):
        super().__init__(config, ports)
        self.slot = 100e-6
        self.highest = 0.0

    def initial(self) -> Thresholds:
        return Thresholds.uniform(len(self.ports), 5e6, 5e6, 0.0)

    def on_slot(self, now: float, sample: PortSample) -> Thresholds:
        assert sample.mean_queue[-1] > 0
        assert sample.tx_rate[-1] > 0.9 * self.ports.rate[-1]
        assert not sample.tx_rate[:-1].any()
        return Thresholds.uniform(len(self.ports), 0.0, 0.0, 1.0)
"""


def model(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return command("model", "run", *arguments, cwd=cwd)


def as_json(*arguments: str, cwd: Path | None = None) -> dict[str, Any]:
    done = model(*arguments, "--format", "json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_figures_have_the_names_of_a_summary() -> None:
    own = {"model", "probes", "step"}
    assert set(Figures.model_fields) - own <= set(Summary.model_fields)


def test_table_says_that_it_is_the_model(tmp_path: Path) -> None:
    done = model(
        "incast-8", "--controller", "swift", "--duration", "1 ms", "--out", "run", "--plot", "a.svg", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "fluid model: no packets" in " ".join(done.stdout.split())
    for row in ("SU", "FR", "Jain", "QL", "RTT", "drops", "marks"):
        assert f"\n{row} " in done.stdout
    assert "FCT" not in done.stdout
    assert {file.name for file in (tmp_path / "run").iterdir()} == {"figures.json", "experiment.yaml", "model.svg"}
    assert yaml.safe_load((tmp_path / "run" / "experiment.yaml").read_text())["controller"]["name"] == "swift"
    assert ET.parse(tmp_path / "a.svg").getroot().tag.endswith("svg")


def test_same_seed_same_figures() -> None:
    one, two, other = (
        as_json("incast-2", "--duration", "1 ms", "--set", "tuner.preset=secn1", "--seed", seed) for seed in "112"
    )
    assert one | {"wall_seconds": 0} == two | {"wall_seconds": 0}
    assert one["ql_mean"] != other["ql_mean"]


def test_finite_flows_have_completion_times(tmp_path: Path) -> None:
    (tmp_path / "finite.yaml").write_text(FINITE)
    found = as_json("finite.yaml", cwd=tmp_path)
    wire = 250 * 1122 * 8 / 100e9  # s of a flow's packets at line rate, with headers and INT
    assert found["fct_finished"] == 8
    assert found["fct_unfinished"] == 0
    assert found["slowdown_p50"] >= 1
    assert wire < found["fct_p50"] < 1e-3
    assert found["fct_p99"] >= 8 * wire  # of eight, the last one waits for all


def test_thresholds_of_a_tuner_apply_and_change(tmp_path: Path) -> None:
    (tmp_path / "stepping.py").write_text(STEPPING)
    options = ("incast-8", "--controller", "fixed", "--duration", "1 ms", "--set", "time.warmup=0.2 ms")
    found = as_json(*options, "--tuner", "stepping.py", cwd=tmp_path)
    assert found["marked"] == pytest.approx(100)


def test_forms_of_one_flow_run_too(tmp_path: Path) -> None:
    (tmp_path / "rising.py").write_text(RISING.format(set_to="min(1.1 * self.rate, self.path.line_rate)"))
    assert as_json("incast-2", "--controller", "rising.py", "--duration", "0.2 ms", cwd=tmp_path)["su"] > 50


@pytest.mark.parametrize(("wrong", "message"), [("1 / 0", "ZeroDivisionError"), ("float('nan')", "set rate nan")])
def test_a_plugin_that_fails_is_named(tmp_path: Path, wrong: str, message: str) -> None:
    (tmp_path / "rising.py").write_text(RISING.format(set_to=wrong))
    done = model("incast-2", "--controller", "rising.py", "--duration", "0.2 ms", "--out", "run", cwd=tmp_path)
    assert done.returncode == 1
    assert "controller 'rising'" in done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nothing",), "no experiment is named 'nothing'"),
        (("incast-2", "--controller", "swft"), "did you mean 'swift'"),
        (("incast-2", "--probes", "0"), "expected a number from 1 to 64"),
        (("incast-2", "--step", "3 us"), "a quarter of the shortest base RTT"),
        (("incast-2", "--step", "1"), "--step 1: "),
        (("incast-2", "--set", "rack.switch.pfc=on"), "has no pause frames"),
        (("incast-2", "--set", "rack.link.loss=1 %"), "loses nothing at random"),
        (("incast-2", "--plot", "missing/a.svg"), "expected a file in a folder that exists"),
        (("incast-2", "--out", "/proc/x"), "cannot be written"),
    ],
)
def test_bad_input_is_one_message(arguments: tuple[str, ...], message: str) -> None:
    done = model(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""


def test_flows_are_told_only_to_a_tuner_that_asks(tmp_path: Path) -> None:
    """As in the rack: a tuner that forgets to ask must not work here alone."""
    text = STEPPING.replace("assert sample.mean_queue[-1] > 0", "assert bool(sample.incast_degree[-1] > 0) is {asked}")
    for asked, needs in ((False, ""), (True, "    needs = Need.FLOWS\n")):
        named = text.replace("{asked}", str(asked)).replace("import PortSample", "import Need, PortSample")
        (tmp_path / "stepping.py").write_text(named.replace('"stepping"\n', f'"stepping"\n{needs}', 1))
        settings = ("--controller", "fixed", "--duration", "1 ms", "--set", "time.warmup=0.2 ms")
        done = model("incast-8", *settings, "--tuner", "stepping.py", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
