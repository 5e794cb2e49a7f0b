"""However a run ends, nothing is left, and what it measured is kept; `conftest.leaves_nothing` counts what is left."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import time
from pathlib import Path

import pytest

from tests.support.census import Census
from tests.support.commands import command
from tests.support.outside import LONG, SHORT, children, run, start, summary_in
from tests.support.runs import UNCALIBRATED, UNDRAWN
from tests.support.waiting import PATIENCE

DRAWN = SHORT[: -len(UNDRAWN)]
CALIBRATED = LONG[: -len((*UNCALIBRATED, *UNDRAWN))]
# What a run says when a part of it begins, and one to be killed there: it does not end by itself, but for the last one.
PARTS = {"": CALIBRATED, "building": CALIBRATED, "running": LONG, "writing results": DRAWN}
# docs/explanation/fidelity.md records 100 kills, four times 25 with other seeds; every test run makes one in each part.
MOMENTS = int(os.environ.get("TESTBED_KILLS", "4"))
SEED = int(os.environ.get("TESTBED_KILLS_SEED", "1"))

pytestmark = [pytest.mark.root, pytest.mark.parallel]


# ---- SIGKILL --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_sigkill_at_any_moment_leaves_nothing_and_the_next_run_starts(tmp_path: Path) -> None:
    """In every part of a run, which begins when the run says so: a clock would miss some of them on a busy machine."""
    lengths = parts(tmp_path)
    chosen = random.Random(SEED)
    killed = 0
    for number in range(MOMENTS):
        part, experiment = list(PARTS.items())[number % len(PARTS)]
        folder = tmp_path / str(number)
        folder.mkdir()
        before = Census.take()
        process = start(folder, *experiment)
        process.read_until(part)
        time.sleep(chosen.random() * lengths[part])
        process.kill()
        process.wait()
        left = before.leftovers()
        assert not left, f"killed after '{part}': {left}"
        assert "Traceback" not in process.communicate()[1]
        killed += process.returncode == -signal.SIGKILL
        for incomplete in folder.glob("out/*"):
            assert process.returncode != -signal.SIGKILL or (folder / "out" / "summary.json").exists(), incomplete
    assert killed >= MOMENTS * 3 // 4  # those that write results may have been done already
    (tmp_path / "next").mkdir()
    assert run(tmp_path / "next", *SHORT).returncode in (0, 3)


def parts(folder: Path) -> dict[str, float]:
    """Seconds that each part of a run takes now."""
    began = {"": time.monotonic()}
    process = start(folder, *DRAWN)
    for part in list(PARTS)[1:]:
        process.read_until(part)
        began[part] = time.monotonic()
    process.communicate()
    assert process.returncode in (0, 3)
    ends = [*list(began.values())[1:], time.monotonic()]
    return {part: end - begin for (part, begin), end in zip(began.items(), ends, strict=True)}


def test_sigterm_leaves_nothing(tmp_path: Path) -> None:
    before = Census.take()
    process = start(tmp_path, *LONG)
    process.read_until("running")
    process.terminate()
    assert process.wait() == -signal.SIGTERM
    assert before.leftovers() == []
    assert "Traceback" not in process.communicate()[1]


def test_agent_that_is_killed_ends_the_run_and_the_data_is_kept(tmp_path: Path) -> None:
    process = start(tmp_path, *LONG)
    process.read_until("running")
    time.sleep(0.3)
    os.kill(children(children(children(process.pid)[0])[0])[0], signal.SIGKILL)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "ended with -9; what was measured until then is kept" in said
    assert summary_in(tmp_path)["packets_sent"] > 0


def test_sandbox_that_is_killed_is_one_message(tmp_path: Path) -> None:
    process = start(tmp_path, *LONG)
    process.read_until("running")
    os.kill(children(children(process.pid)[0])[0], signal.SIGKILL)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert said.splitlines()[-1] == "testbed: the run's process died (exit code 137); nothing of it is left"


# ---- Ctrl-C ---------------------------------------------------------------------------------------------------------


def test_ctrl_c_ends_early_and_keeps_the_data(tmp_path: Path) -> None:
    process = start(tmp_path, *LONG)
    process.read_until("running")
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: every process of the group hears it
    out, said = process.communicate(timeout=PATIENCE)  # the run would go on for longer
    assert process.returncode == 3, said
    assert "Traceback" not in said
    assert "ended early: Ctrl-C" in re.sub(r"\s+", " ", out)
    kept = summary_in(tmp_path)
    assert kept["verdict"]["word"] == "degraded"
    assert "Ctrl-C" in kept["verdict"]["reasons"][0]["how_much"]
    assert 0 < kept["duration"] < 100e-3  # of 300 ms
    assert kept["packets_delivered"] > 0


def test_ctrl_c_while_the_rack_is_built_ends_as_well(tmp_path: Path) -> None:
    process = start(tmp_path, *LONG)
    process.read_until("building")
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3, said
    assert "Traceback" not in said
    assert summary_in(tmp_path)["duration"] < 100e-3


def test_ctrl_c_while_results_are_written_does_not_lose_them(tmp_path: Path) -> None:
    process = start(tmp_path, *DRAWN)
    process.read_until("writing results")
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode in (0, 3), said
    assert summary_in(tmp_path)["packets_sent"] > 0


def test_second_ctrl_c_ends_at_once(tmp_path: Path) -> None:
    process = start(tmp_path, *LONG)
    process.read_until("running")
    # the sandbox stands still, so that the first one cannot be answered before the second comes
    os.kill(children(children(process.pid)[0])[0], signal.SIGSTOP)
    os.killpg(process.pid, signal.SIGINT)
    time.sleep(0.3)
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)  # it does not wait for the sandbox, which never answers
    assert process.returncode not in (0, 3)
    assert "Traceback" not in said
    assert not (tmp_path / "out").exists()


# ---- two at once ----------------------------------------------------------------------------------------------------


def test_two_runs_at_once_are_two_runs(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    shares = {"one": 0.1, "two": 0.3}
    runs = []
    for folder in folders:
        folder.mkdir()
        rate = f"controller.rate={100 * shares[folder.name]:g} %"
        options = ("--duration", "2 ms", "--controller", "fixed", "--set", rate, *UNCALIBRATED, *UNDRAWN)
        options = (*options, "--format", "json")
        runs.append(start(folder, "run", "incast-2", *options))
    out = [process.communicate(timeout=PATIENCE) for process in runs]
    for folder, process, (printed, said) in zip(folders, runs, out, strict=True):
        assert process.returncode in (0, 3), said
        kept = summary_in(folder)
        assert json.loads(printed) == kept
        assert kept["hosts"] == kept["flows"] == 2
        frame = 8 * (1000 + 78)
        asked = 2 * shares[folder.name] * 100e9 * 2e-3 / frame
        assert 0.5 * asked < kept["packets_sent"] < 1.01 * asked, said  # a busy machine sends late, never twice as much
        assert kept["packets_delivered"] == pytest.approx(kept["packets_sent"], abs=50)
        assert kept["drops_in_run"] == 0


# ---- results --------------------------------------------------------------------------------------------------------


def test_results_belong_to_the_user_who_called_sudo_and_stdout_is_one_document(tmp_path: Path) -> None:
    caller = {"SUDO_UID": "1234", "SUDO_GID": "2345"}
    done = run(tmp_path, *DRAWN, "--format", "json", **caller)
    assert done.returncode in (0, 3), done.stderr
    assert json.loads(done.stdout)["experiment"] == "incast-2"
    assert command("report", str(tmp_path / "out"), **caller).returncode == 0
    made = [tmp_path / "out", *(tmp_path / "out").rglob("*")]
    assert {"summary.json", "report.html", "topology.svg"} <= {path.name for path in made}
    assert {(path.stat().st_uid, path.stat().st_gid) for path in made} == {(1234, 2345)}
