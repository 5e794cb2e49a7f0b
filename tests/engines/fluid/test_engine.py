"""`testbed run --engine fluid` as a user meets it."""

from __future__ import annotations

import json
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from testbed.engines.fluid.engine import FluidEngine
from testbed.errors import BadInput
from testbed.experiment.load import load, resolve
from testbed.live.observers import Observer
from testbed.live.scene import Scene
from testbed.live.snapshot import Snapshot
from testbed.live.updates import Update
from testbed.results import folder
from tests.support.commands import command

FINITE = """
traffic: {pattern: incast, senders: 4, flows_per_sender: 2, size: 250 kB}
time: {duration: 1 ms, warmup: 0 s}
controller: hpcc
"""
RISING = """
from testbed.controller import Ack, CompiledController


class Rising(CompiledController):
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
    return command("run", *arguments, "--engine", "fluid", "--metrics-addr", "none", cwd=cwd)


def as_json(*arguments: str, cwd: Path) -> dict[str, Any]:
    out = cwd / f"run{len(list(cwd.iterdir()))}"
    done = model(*arguments, "--set", "record.report=false", "--out", str(out), "--format", "json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == (out / "summary.json").read_text().strip()
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_table_folder_and_page_say_that_it_is_the_model(tmp_path: Path) -> None:
    done = model("incast-8", "--controller", "swift", "--duration", "1 ms", "--out", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "fluid model: rates, no packets" in " ".join(done.stdout.split())
    for row in ("SU", "FR", "Jain", "QL", "RTT", "drops", "marks"):
        assert f"\n{row} " in done.stdout
    assert "FCT" not in done.stdout
    kept = folder.load(tmp_path / "run")
    assert kept.manifest.engine == kept.summary.engine == "fluid"
    assert kept.manifest.experiment["controller"]["name"] == "swift"
    assert kept.manifest.loaded_plugins[0]["sha256"] == kept.manifest.controller.sha256
    assert "fluid model: rates, no packets" in (tmp_path / "run" / "report.html").read_text()
    assert command("report", "run", cwd=tmp_path).returncode == 0
    assert ET.parse(tmp_path / "run" / "plots" / "queue.svg").getroot().tag.endswith("svg")


def test_what_was_decided_can_be_replayed(tmp_path: Path) -> None:
    """HPCC hears INT, DCQCN has timers and counts bytes, `Rising` is one object per flow."""
    (tmp_path / "rising.py").write_text(RISING.format(set_to="min(1.1 * self.rate, self.path.line_rate)"))
    for name in ("hpcc", "dcqcn", "rising.py"):
        options = ("--controller", name, "--duration", "0.5 ms", "--set", "record.report=false", "--out", f"of-{name}")
        assert model("incast-8", *options, cwd=tmp_path).returncode == 0
        done = command("replay", f"of-{name}", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "identical" in done.stdout


def test_what_the_model_cannot_know_is_null(tmp_path: Path) -> None:
    found = as_json("incast-2", "--duration", "0.3 ms", cwd=tmp_path)
    for name in ("pacing_lag_p99", "pacing_lag_max", "feedback_lag_p99", "feedback_lag_max", "paused_port_in_run"):
        assert found[name] is None
    assert found["counters"] == {"rates_above_line": 0}
    assert found["decision_per_call"] > 0
    assert found["packets_delivered"] > 0
    assert found["wall_seconds"] > 0.01


def test_same_seed_same_figures(tmp_path: Path) -> None:
    options = ("incast-2", "--duration", "1 ms", "--set", "tuner.preset=secn1", "--seed")
    one, two, other = (as_json(*options, seed, cwd=tmp_path) for seed in "112")
    of_wall_time = {"wall_seconds", "decision_per_call", "decision_per_row", "packets_per_wall_second"}
    assert one | dict.fromkeys(of_wall_time) == two | dict.fromkeys(of_wall_time)
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


def test_a_rate_above_the_line_is_a_reason_not_to_trust_the_run(tmp_path: Path) -> None:
    (tmp_path / "rising.py").write_text(RISING.format(set_to="3 * self.path.line_rate"))
    done = model("incast-2", "--controller", "rising.py", "--duration", "0.2 ms", "--out", "run", cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    (reason,) = folder.load(tmp_path / "run").summary.verdict.reasons
    assert reason.what == "rate above line rate"
    assert "bound the controller's rate by its path's line_rate" in reason.remedy


@pytest.mark.parametrize(("wrong", "message"), [("1 / 0", "ZeroDivisionError"), ("float('nan')", "set rate nan")])
def test_a_plugin_that_fails_is_named(tmp_path: Path, wrong: str, message: str) -> None:
    (tmp_path / "rising.py").write_text(RISING.format(set_to=wrong))
    options = ("--duration", "0.2 ms", "--out", "run", "--set", "record.report=false")
    done = model("incast-2", "--controller", "rising.py", *options, cwd=tmp_path)
    assert done.returncode == 1
    assert "controller 'rising'" in done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert "what was measured until then is kept" in done.stderr
    kept = folder.load(tmp_path / "run").summary
    assert "controller 'rising'" in kept.verdict.reasons[0].how_much


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nothing",), "no experiment is named 'nothing'"),
        (("incast-2", "--controller", "swft"), "did you mean 'swift'"),
        (("incast-2", "--set", "fluid.probes=0"), "fluid.probes: must be at least 1"),
        (("incast-2", "--set", "fluid.probes=65"), "fluid.probes: must be at most 64"),
        (("incast-2", "--set", "fluid.step=3 us"), "a quarter of the shortest base RTT"),
        (("incast-2", "--set", "fluid.step=0"), "fluid.step: 0 ns was asked for; expected a positive time"),
        (("incast-2", "--set", "fluid.step=1"), "fluid.step: "),
        (("incast-2", "--dilation", "100"), "does not run in wall time"),
        (("incast-2", "--pcap", "nic:h1"), "the fluid model has no packets"),
        (("osu-all-to-all",), "no flows that wait for others"),
        (("incast-2", "--set", "rack.switch.pfc=on"), "has no pause frames"),
        (("incast-2", "--set", "rack.link.loss=1 %"), "loses nothing at random"),
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
        assert as_json("incast-8", *settings, "--tuner", "stepping.py", cwd=tmp_path)["verdict"]["word"] == "clean"


class Impatient(Observer):
    """Presses Ctrl-C as soon as it sees something."""

    def __init__(self) -> None:
        self.running: list[Any] = []
        self.heard: list[str] = []

    def on_begin(self, scene: Scene) -> None:
        self.heard.append(scene.run)

    def on_progress(self, now: Snapshot, changes: Update) -> None:
        assert now.time == changes["time"] > 0
        assert changes["ports"]["utilisation"][-1] > 0.5
        self.heard.append("goes on")
        self.running[0].ask_to_stop("Ctrl-C")

    def on_stop(self) -> None:
        self.heard.append("stops")


def test_a_run_can_be_followed_and_ended_early() -> None:
    resolved = resolve(load("incast-8").apply(["time.dilation=auto", "time.duration=1 s", "record.interval=1 ms"]))
    engine, observer = FluidEngine(), Impatient()
    record = engine.follow(engine.prepare(resolved, observer), observer, observer.running, "run-1", [])
    assert observer.heard == ["run-1", "goes on", "stops"]
    assert observer.running == []
    assert record.interrupted == "Ctrl-C"
    assert 0 < record.duration < 1
    assert record.flow_series.time[-1] == record.port_series.time[-1] == record.duration


def test_refusals_come_before_anything_is_made() -> None:
    with pytest.raises(BadInput, match="no flows that wait for others"):
        FluidEngine().check(resolve(load("osu-all-to-all")))


def test_an_inventory_is_another_engine(tmp_path: Path) -> None:
    (tmp_path / "lab.yml").write_text("")
    done = model("incast-2", "--inventory", "lab.yml", cwd=tmp_path)
    assert done.returncode == 2
    assert "--inventory runs over real hosts, --engine fluid does not" in done.stderr


@pytest.mark.parametrize(("compiled", "runs_as"), [("true", "machine code"), ("false", "Python")])
def test_python_or_machine_code_decides_and_the_manifest_says_which(
    compiled: str, runs_as: str, tmp_path: Path
) -> None:
    settings = ("--set", "time.duration=1 ms", "--set", f"controller.compiled={compiled}", "--out", "made")
    done = command("run", "incast-2", "--engine", "fluid", "--controller", "swift", *settings, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    manifest = json.loads((tmp_path / "made" / "manifest.json").read_text())
    assert [one["runs_as"] for one in manifest["loaded_plugins"]] == [runs_as]
    assert manifest["experiment"]["controller"]["compiled"] == (compiled == "true")
