"""However a run ends, nothing is left, and what it measured is kept; `conftest.leaves_nothing` counts what is left."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.census import Census
from tests.rack.runs import UNCALIBRATED

TESTBED = [sys.executable, "-c", "from testbed.cli import main; raise SystemExit(main())"]
SHORT = ("run", "incast-2", "--duration", "400 us", *UNCALIBRATED)
LONG = ("run", "incast-2", "--duration", "30 ms", *UNCALIBRATED)  # half a minute: it never gets there here
# docs/fidelity.md records 100 kills, four times 25 with other seeds; every test run makes 8.
MOMENTS = int(os.environ.get("TESTBED_KILLS", "8"))
SEED = int(os.environ.get("TESTBED_KILLS_SEED", "1"))

pytestmark = pytest.mark.root


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """``testbed ...`` to its end; the results are in ``folder / "out"``."""
    done = subprocess.run(
        [*TESTBED, *arguments, "--out", str(folder / "out")],
        capture_output=True, text=True, cwd=folder, env={**os.environ, **environment}, timeout=60, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return done


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*TESTBED, *arguments, "--out", str(folder / "out")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, start_new_session=True,
    )  # fmt: skip


def summary_in(folder: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((folder / "out" / "summary.json").read_text())
    manifest = json.loads((folder / "out" / "manifest.json").read_text())
    assert manifest["verdict"] == read["verdict"]
    return read


def read_until(process: subprocess.Popen[str], text: str) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if text in line:
            return
    raise AssertionError(f"it never said '{text}'")


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


# ---- SIGKILL --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_sigkill_at_any_moment_leaves_nothing_and_the_next_run_starts(tmp_path: Path) -> None:
    began = time.monotonic()
    assert run(tmp_path, *SHORT).returncode in (0, 3)
    whole = time.monotonic() - began
    chosen = random.Random(SEED)
    killed = 0
    seen = ""
    for number in range(MOMENTS):
        moment = (number + chosen.random()) / MOMENTS  # one in each part of the run, so that none is left out
        # One that would not end by itself, but for its end; and killed while it is calibrated as well.
        experiment = LONG[: -len(UNCALIBRATED)] if moment < 0.7 else SHORT
        folder = tmp_path / str(number)
        folder.mkdir()
        before = Census.take()
        process = start(folder, *experiment)
        time.sleep(0.1 + (whole - 0.1) * (moment if experiment is SHORT else moment * 1.5))
        process.kill()
        process.wait()
        left = before.leftovers()
        assert not left, f"killed at {moment:.0%}: {left}"
        said = process.communicate()[1]  # not before: it would wait for whoever still holds the pipe
        assert "Traceback" not in said
        killed += process.returncode == -signal.SIGKILL
        seen += said
        for incomplete in folder.glob("out/*"):
            assert process.returncode != -signal.SIGKILL or (folder / "out" / "summary.json").exists(), incomplete
    assert killed >= MOMENTS * 3 // 4  # the last ones may have been done already
    assert "building" in seen
    assert "running" in seen
    (tmp_path / "next").mkdir()
    assert run(tmp_path / "next", *SHORT).returncode in (0, 3)


def test_sigterm_leaves_nothing(tmp_path: Path) -> None:
    before = Census.take()
    process = start(tmp_path, *LONG)
    read_until(process, "running")
    process.terminate()
    assert process.wait() == -signal.SIGTERM
    assert before.leftovers() == []
    assert "Traceback" not in process.communicate()[1]


def test_agent_that_is_killed_ends_the_run_and_the_data_is_kept(tmp_path: Path) -> None:
    process = start(tmp_path, *LONG)
    read_until(process, "running")
    time.sleep(0.3)
    os.kill(children(children(children(process.pid)[0])[0])[0], signal.SIGKILL)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "ended with -9; what was measured until then is kept" in said
    assert summary_in(tmp_path)["packets_sent"] > 0


def test_sandbox_that_is_killed_is_one_message(tmp_path: Path) -> None:
    process = start(tmp_path, *LONG)
    read_until(process, "running")
    os.kill(children(children(process.pid)[0])[0], signal.SIGKILL)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 1
    assert said.splitlines()[-1] == "testbed: the run's process died (exit code 137); nothing of it is left"


# ---- Ctrl-C ---------------------------------------------------------------------------------------------------------


def test_ctrl_c_ends_early_and_keeps_the_data(tmp_path: Path) -> None:
    process = start(tmp_path, *LONG)
    read_until(process, "running")
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: every process of the group hears it
    began = time.monotonic()
    out, said = process.communicate(timeout=30)
    assert time.monotonic() - began < 5
    assert process.returncode == 3, said
    assert "Traceback" not in said
    assert "ended early: Ctrl-C" in re.sub(r"\s+", " ", out)
    kept = summary_in(tmp_path)
    assert kept["verdict"]["word"] == "degraded"
    assert "Ctrl-C" in kept["verdict"]["reasons"][0]["how_much"]
    assert 0.2e-3 < kept["duration"] < 5e-3
    assert kept["packets_delivered"] > 1000


def test_ctrl_c_while_the_rack_is_built_ends_as_well(tmp_path: Path) -> None:
    process = start(tmp_path, *LONG)
    read_until(process, "building")
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 3, said
    assert "Traceback" not in said
    assert summary_in(tmp_path)["duration"] < 1e-3


def test_ctrl_c_while_results_are_written_does_not_lose_them(tmp_path: Path) -> None:
    process = start(tmp_path, *SHORT)
    read_until(process, "writing results")
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode in (0, 3), said
    assert summary_in(tmp_path)["packets_sent"] > 0


def test_second_ctrl_c_ends_at_once(tmp_path: Path) -> None:
    process = start(tmp_path, *LONG)
    read_until(process, "running")
    # the sandbox stands still, so that the first one cannot be answered before the second comes
    os.kill(children(children(process.pid)[0])[0], signal.SIGSTOP)
    os.killpg(process.pid, signal.SIGINT)
    time.sleep(0.3)
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    began = time.monotonic()
    _, said = process.communicate(timeout=30)
    assert time.monotonic() - began < 1
    assert process.returncode not in (0, 3)
    assert "Traceback" not in said
    assert not (tmp_path / "out").exists()


# ---- plugins that fail ----------------------------------------------------------------------------------------------

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
from testbed.controller import FlowController

class Mine(FlowController):
    name = "mine"
    count = 0

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
    done = run(tmp_path, "run", "incast-2", "--duration", "2 ms", *UNCALIBRATED, "--tuner", str(file))
    assert done.returncode == 3, done.stderr
    assert "thresholds were refused" in {reason["what"] for reason in summary_in(tmp_path)["verdict"]["reasons"]}
    series = pq.read_table(tmp_path / "out" / "port_series.parquet").to_pydict()
    assert {*series["kmin"], *series["kmax"]} == {1e5, 4e5}
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert "breaks 0 <= Kmin <= Kmax" in json.dumps(manifest["tuners"])


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


def test_plugin_that_does_not_return_ends_the_run_as_well(tmp_path: Path) -> None:
    file, _ = plugin(tmp_path, CONTROLLER, feedback="__import__('time').sleep(60)")
    impatient = "from testbed import emulate; emulate.PATIENCE = 0.5; " + TESTBED[-1]
    done = subprocess.run(
        [*TESTBED[:-1], impatient, *SHORT, "--controller", str(file), "--out", str(tmp_path / "out")],
        capture_output=True, text=True, timeout=60, check=False,
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


# ---- two at once ----------------------------------------------------------------------------------------------------


def test_two_runs_at_once_are_two_runs(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    shares = {"one": 0.1, "two": 0.2}
    runs = []
    for folder in folders:
        folder.mkdir()
        rate = f"controller.rate={100 * shares[folder.name]:g} %"
        options = ("--duration", "2 ms", "--controller", "fixed", "--set", rate, *UNCALIBRATED, "--format", "json")
        runs.append(start(folder, "run", "incast-2", *options))
    out = [process.communicate(timeout=60) for process in runs]
    for folder, process, (printed, said) in zip(folders, runs, out, strict=True):
        assert process.returncode in (0, 3), said
        kept = summary_in(folder)
        assert json.loads(printed) == kept
        assert kept["hosts"] == kept["flows"] == 2
        frame = 8 * (1000 + 78)
        assert kept["packets_sent"] == pytest.approx(2 * shares[folder.name] * 100e9 * 2e-3 / frame, rel=0.1)
        assert kept["packets_delivered"] == pytest.approx(kept["packets_sent"], abs=50)
        assert kept["drops_in_run"] == 0


# ---- results --------------------------------------------------------------------------------------------------------


def test_results_belong_to_the_user_who_called_sudo_and_stdout_is_one_document(tmp_path: Path) -> None:
    done = run(tmp_path, *SHORT, "--format", "json", SUDO_UID="1234", SUDO_GID="2345")
    assert done.returncode in (0, 3), done.stderr
    assert json.loads(done.stdout)["experiment"] == "incast-2"
    made = [tmp_path / "out", *(tmp_path / "out").iterdir()]
    assert len(made) > 5
    assert {(path.stat().st_uid, path.stat().st_gid) for path in made} == {(1234, 2345)}


# ---- what is missing ------------------------------------------------------------------------------------------------


@pytest.fixture
def without_clang(tmp_path: Path) -> str:
    """A PATH on which everything is but clang."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for place in reversed(os.environ["PATH"].split(":")):
        for program in Path(place).glob("*"):
            if not program.name.startswith("clang"):
                (folder / program.name).unlink(missing_ok=True)
                (folder / program.name).symlink_to(program)
    return str(folder)


def test_without_clang_it_says_how_to_get_it(tmp_path: Path, without_clang: str) -> None:
    done = run(tmp_path, *SHORT, PATH=without_clang, TESTBED_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 1
    assert "clang: not installed; " in done.stderr
    assert "clang" in done.stderr.rpartition("install")[2]
    assert not (tmp_path / "out").exists()


def test_without_clang_what_was_compiled_before_will_do(tmp_path: Path, without_clang: str) -> None:
    cache = str(tmp_path / "cache")
    compile_all = "from testbed.dataplane.build import compile_all; compile_all()"
    subprocess.run([sys.executable, "-c", compile_all], env={**os.environ, "TESTBED_CACHE": cache}, check=True)
    assert run(tmp_path, *SHORT, PATH=without_clang, TESTBED_CACHE=cache).returncode in (0, 3)


def test_kernel_that_lacks_something_says_what_and_how_to_get_it(tmp_path: Path) -> None:
    code = (
        "import sys; from testbed import kernel; from testbed.cli import main; "
        "answers = {**kernel.ask(), 'TBF': 'this kernel has none'}; kernel.ask = lambda: answers; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *SHORT, "--out", str(tmp_path / "out")],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "TBF: this kernel has none; run: modprobe sch_tbf" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_netem_that_is_not_there_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    from testbed import kernel

    if not kernel.ask()["netem"]:
        pytest.skip("this kernel has netem")
    done = run(tmp_path, *SHORT, "--set", "rack.delay_by=netem")
    assert done.returncode == 1
    assert "netem was asked for, but this kernel has none; load sch_netem" in done.stderr
    assert not (tmp_path / "out").exists()


def test_open_vswitch_that_is_not_there_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    from testbed import kernel

    if not kernel.ask()["Open vSwitch"]:
        pytest.skip("this kernel has Open vSwitch")
    done = run(tmp_path, *SHORT, "--set", "rack.switch.forwarding=ovs")
    assert done.returncode == 1
    assert "ovs was asked for, but this kernel has none; load the module openvswitch" in done.stderr
    assert not (tmp_path / "out").exists()
