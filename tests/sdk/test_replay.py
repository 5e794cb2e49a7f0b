"""A recorded run into its controller again: identical, or the first difference with all that led there."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest

from testbed.base.inputs import Input
from testbed.errors import BadInput, PluginFailed
from testbed.experiment.choice import PluginChoice
from testbed.registry import find
from testbed.results import decisions, folder, manifest
from testbed.sdk import new
from testbed.sdk.replay import _same, replay
from tests.support.commands import command
from tests.support.recorded import STEADY, mine, written
from tests.support.runs import UNDRAWN, VIRTUAL
from tests.support.runs import run as run_for_real

HIDDEN = f"{STEADY} + (flows == 1) * (now > 5e-6) * random.random()"


@pytest.mark.parametrize("name", ["mine", "hpcc", "swift", "fixed"])
def test_the_same_code_decides_the_same(tmp_path: Path, name: str) -> None:
    run = written(tmp_path / "run", mine(tmp_path) if name == "mine" else name)
    done = replay(run)
    (agent,) = done.agents
    assert done.identical
    assert done.notes == []
    assert agent.compared_calls == agent.calls > 8
    assert agent.compared_rows == agent.rows > 16


def test_the_form_for_newcomers(tmp_path: Path) -> None:
    (file,) = [one for one in new.new("controller", "my_cc", tmp_path) if not one.name.startswith("test_")]
    assert "(CompiledController)" in file.read_text()
    done = replay(written(tmp_path / "run", str(file)))
    assert done.identical
    assert done.agents[0].rows > 16


def test_two_replays_print_the_same_bytes(tmp_path: Path) -> None:
    run = str(written(tmp_path / "run", mine(tmp_path)))
    for format in ("text", "json"):
        one, two = (command("replay", run, "--format", format) for _ in range(2))
        assert (one.returncode, one.stderr) == (0, "")
        assert one.stdout == two.stdout
    assert command("replay", run).stdout.endswith("rows compared: identical\n")


def test_hidden_randomness_is_found(tmp_path: Path) -> None:
    run = written(tmp_path / "run", mine(tmp_path, HIDDEN))
    (agent,) = replay(run).agents
    first = agent.difference
    assert first is not None
    columns = decisions.read(run)[0].columns
    chosen = (columns["kind"] == 1) & (columns["flow"] == 1) & (columns["time"] > 5e-6)
    row = int(chosen.argmax())
    assert (first.call, first.kind, first.time) == (columns["call"][row], "on_feedback", columns["time"][row])
    assert first.flow == "3 (h4-h99)"
    assert first.recorded["rate"] == columns["rate"][row] != first.now["rate"]
    assert first.recorded["timer"] == first.now["timer"]
    assert first.told["acked_seq"] == columns["acked_seq"][row]
    assert agent.compared_calls == first.call + 1

    done = command("replay", str(run))
    assert done.returncode == 1
    assert f"call {first.call}, on_feedback at " in done.stdout
    assert "flow 3 (h4-h99)" in done.stdout
    assert "<--" in next(line for line in done.stdout.splitlines() if line.startswith("  rate"))
    answer = json.loads(command("replay", str(run), "--format", "json").stdout)
    assert answer["identical"] is False
    assert answer["agents"][0]["difference"]["flow"] == "3 (h4-h99)"


def test_not_even_the_sign_of_nothing_may_differ(tmp_path: Path) -> None:
    """Byte for byte: -0.0 == 0.0, and yet it is another decision."""
    spec = mine(tmp_path)
    text = Path(spec).read_text()
    Path(spec).write_text(text.replace("now + 1e-6", "0.0"))
    run = written(tmp_path / "run", spec)
    Path(spec).write_text(text.replace("now + 1e-6", "-0.0"))
    first = replay(run, trust=True).agents[0].difference
    assert first is not None
    assert [math.copysign(1, one["timer"]) for one in (first.recorded, first.now)] == [1, -1]


def test_a_changed_file_is_named(tmp_path: Path) -> None:
    run = written(tmp_path / "run", mine(tmp_path))
    mine(tmp_path, STEADY + " + 0")
    done = replay(run, trust=True)
    assert done.identical
    (note,) = done.notes
    assert str(tmp_path / "mine.py") in note
    assert "has changed since the run" in note


def test_a_changed_policy_is_named(tmp_path: Path) -> None:
    shipped = find("controller", "adpg")
    policy = Path(shutil.copy(shipped.file.with_name("policies") / "trees.json", tmp_path / "mine.json"))
    inputs = [Input.of("controller.policy", policy)]
    about = manifest.describe(
        engine="kernel", experiment={}, command_line=[], seed=1, controller=shipped, kernel_features={}, inputs=inputs
    )
    choice = PluginChoice(name="adpg", policy=str(policy))
    assert _same(choice, about)[2] == []
    policy.write_text(policy.read_text() + "\n")
    assert _same(choice, about)[2] == [f"{policy} has another content than in the run"]


def test_another_controller_on_the_same_feedback(tmp_path: Path) -> None:
    run = written(tmp_path / "run", mine(tmp_path))
    other = tmp_path / "other"
    other.mkdir()
    done = replay(run, mine(other, STEADY + " * 2"))
    first = done.agents[0].difference
    assert first is not None
    assert (first.kind, first.told["acked_seq"]) == ("on_feedback", 1)  # twice 0 / 3 is the same
    assert replay(run, mine(other)).identical


def test_a_controller_without_its_signals_is_refused(tmp_path: Path) -> None:
    run = written(tmp_path / "run", mine(tmp_path))
    with pytest.raises(BadInput, match="controller 'hpcc' needs INT"):
        replay(run, "hpcc")


def test_a_controller_that_fails_is_named(tmp_path: Path) -> None:
    run = written(tmp_path / "run", mine(tmp_path))
    mine(tmp_path, "1 / 0")
    with pytest.raises(PluginFailed, match=r"controller 'mine' \(.*mine.py, line 10\): ZeroDivisionError"):
        replay(run, trust=True)


def test_a_record_that_was_cut_says_so(tmp_path: Path) -> None:
    run = written(tmp_path / "run", mine(tmp_path), rows=10)
    assert folder.load(run).manifest.decisions["cut"].startswith("cut for agent 0 after ")
    done = replay(run)
    assert done.identical
    assert "raise record.decisions" in done.notes[0]


def _no_trace(run: Path) -> None:
    (run / "decisions.parquet").unlink()


def _truncated(run: Path) -> None:
    file = run / "decisions.parquet"
    file.write_bytes(file.read_bytes()[:-100])


def _version(run: Path) -> None:
    file = run / "manifest.json"
    file.write_text(file.read_text().replace('"schema_version": 4', '"schema_version": 99'))


def _manifest(run: Path) -> None:
    (run / "manifest.json").unlink()


def _foreign(run: Path) -> None:
    (run / "decisions.parquet").write_bytes((run / "flows.parquet").read_bytes())


def _controller(run: Path) -> None:
    (run.parent / "mine.py").unlink()


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (_no_trace, "record.decisions=0"),
        (_truncated, "decisions.parquet is cut short or damaged"),
        (_foreign, "decisions.parquet is damaged"),
        (_version, "schema version 99"),
        (_manifest, "is not a results folder: it has no manifest.json"),
        (_controller, "does not exist"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_bad_input_is_one_message(tmp_path: Path, harm: Any, says: str) -> None:
    run = written(tmp_path / "run", mine(tmp_path))
    harm(run)
    done = command("replay", str(run))
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("controller", ["dcqcn", "hpcc"])
def test_a_real_run_is_replayed(tmp_path: Path, controller: str) -> None:
    run_for_real(tmp_path / "run", "incast-2", "--controller", controller, "--duration", "1 ms", *VIRTUAL)
    about = folder.load(tmp_path / "run").manifest.decisions
    done = command("replay", str(tmp_path / "run"), "--format", "json")
    answer = json.loads(done.stdout)
    assert done.returncode == 0
    assert answer["notes"] == []
    assert sum(one["compared_calls"] for one in answer["agents"]) == about["calls"] > 1000
    assert sum(one["compared_rows"] for one in answer["agents"]) == about["rows"]
    assert about["cut"] == ""


def test_a_run_that_failed_is_replayed_until_then(tmp_path: Path) -> None:
    spec = mine(tmp_path, f"{STEADY} if now < 5e-4 else 1 / 0")
    arguments = ["--controller", spec, "--duration", "2 ms", "--set", "traffic.senders=2", *VIRTUAL, *UNDRAWN]
    failed = command("run", "incast-2", *arguments, "--out", str(tmp_path / "run"))
    assert failed.returncode == 1
    assert "ZeroDivisionError" in failed.stderr
    done = json.loads(command("replay", str(tmp_path / "run"), "--format", "json").stdout)
    assert done["identical"]
    assert min(one["compared_calls"] for one in done["agents"]) > 20
