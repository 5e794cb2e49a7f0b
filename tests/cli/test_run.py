"""`testbed run`, up to where a rack would be built."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
import yaml

from testbed.results.folder import load
from tests.support.commands import command


def test_dry_run_applies_overrides_and_builds_nothing(tmp_path: Path) -> None:
    arguments = ["--controller", "fixed", "--duration", "6 ms", "--dilation", "500", "--seed", "9", "--out", "here"]
    done = command("run", "incast-8", "--dry-run", *arguments, "--set", "traffic.senders=4", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = yaml.safe_load(done.stdout)
    assert shown["controller"]["name"] == "fixed"
    assert shown["traffic"]["senders"] == 4
    assert shown["time"] == {"duration": "6 ms", "warmup": "2 ms", "until_rest": "0 ns", "dilation": 500.0}
    assert shown["seed"] == 9
    assert list(tmp_path.iterdir()) == []


def test_auto_is_not_measured_before_a_run() -> None:
    done = command("run", "incast-8", "--dry-run", "--dilation", "auto")
    assert yaml.safe_load(done.stdout)["time"]["dilation"] == "auto"
    assert done.stderr == ""


def test_set_adds_to_the_chosen_controller() -> None:
    done = command("run", "incast-8", "--dry-run", "--controller", "dcqcn", "--set", "controller.preset=nic")
    assert yaml.safe_load(done.stdout)["controller"]["preset"] == "nic"


@pytest.mark.root
@pytest.mark.parallel
def test_run_without_root_says_how(tmp_path: Path) -> None:
    os.chmod(tmp_path, 0o755)  # noqa: PTH101
    done = command("run", "incast-8", user=65534)
    assert done.returncode == 1
    assert done.stderr == "testbed: real packets need root: sudo testbed run ...; or without it: --engine virtual\n"


FLUID = ("--engine", "fluid", "--duration", "1 ms", "--set", "time.warmup=0.2 ms", "--set", "record.report=off")
UNSEEN = ("--metrics-addr", "none")


def differing(said: str) -> list[str]:
    return [line.removeprefix("differs: ") for line in said.splitlines() if line.startswith("differs: ")]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a controller of one's own, made in another folder than the tests'."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "my_cc.py").write_text(FIXED)
    arguments = ["--controller", "./my_cc.py", "--seed", "7", "--out", "first", *FLUID, *UNSEEN]
    assert command("run", "incast-2", *arguments, cwd=folder).returncode == 0
    return folder / "first"


@pytest.fixture
def result(made: Path, tmp_path: Path) -> Path:
    """A copy, to be changed."""
    return shutil.copytree(made, tmp_path / "first")


FIXED = """
from testbed.controller import Ack, CompiledController, Path, Signal
from testbed.plugin import PluginConfig


class MyCc(CompiledController):
    name = "MyCc"
    signals = Signal.RTT

    def __init__(self, config: PluginConfig, path: Path) -> None:
        super().__init__(config, path)
        self.rate = 0.4 * path.line_rate

    def on_ack(self, ack: Ack) -> None: ...

    def on_loss(self, now: float, packets: int) -> None: ...
"""


def test_a_result_runs_again_with_its_seed_and_says_that_nothing_differs(result: Path) -> None:
    again = result.with_name("again")
    done = command("rerun", str(result), "--out", str(again), *UNSEEN)
    assert done.returncode == 0, done.stderr
    assert differing(done.stderr) == ["nothing: the same experiment, code, versions and machine"]
    first, second = load(result), load(again)
    assert second.manifest.controller.sha256 == first.manifest.controller.sha256
    assert (second.manifest.engine, second.manifest.seed) == ("fluid", 7)
    assert second.summary.goodput == first.summary.goodput
    sent = [one.tables["flow_series"]["acked_bytes"] for one in (first, second)]
    assert sent[0].equals(sent[1])


def test_what_differs_from_a_result_is_said(made: Path, result: Path) -> None:
    (result / "files" / "my_cc.py").write_text(FIXED.replace("0.4", "0.3"))
    told = json.loads((result / "manifest.json").read_text())
    told["versions"] |= {"numpy": "1.0", "commit": "0" * 40}
    (result / "manifest.json").write_text(json.dumps(told))
    done = command("rerun", str(result), "--set", "seed=8", "--trust", "--dry-run")
    assert done.returncode == 0
    said = "\n".join(differing(done.stderr))
    assert "code of MyCc" in said
    assert "my_cc.py): SHA-256 was " in said
    assert "numpy was 1.0 and is " in said
    assert f"commit was {'0' * 40} and is " in said
    assert "seed was 7 and is 8" in said
    assert f"{made.parent / 'my_cc.py'} has changed; not used here" in said
    assert len(differing(done.stderr)) == 5
    assert yaml.safe_load(done.stdout)["seed"] == 8


@pytest.mark.parametrize("name", ["{}", "{}/", "{}/manifest.json"])
def test_a_result_in_an_experiments_place_names_the_option(result: Path, name: str) -> None:
    done = command("run", name.format(result))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(f"is a result, not an experiment; run what it holds again: testbed rerun {result}\n")


def test_a_folder_that_is_called_like_an_experiment_does_not_hide_it(result: Path) -> None:
    result.rename(result.with_name("incast-2"))
    assert command("run", "incast-2", "--dry-run", cwd=result.parent).returncode == 0


def test_what_rerun_needs(result: Path, tmp_path: Path) -> None:
    def refused(*arguments: str) -> str:
        done = command("rerun", *arguments)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        return done.stderr

    assert "is not a results folder" in refused(str(tmp_path))
    assert f"no results at {tmp_path / 'report.html'}: No such file" in refused(str(tmp_path / "report.html"))
    told = json.loads((result / "manifest.json").read_text())
    (result / "manifest.json").write_text(json.dumps(told | {"engine": "lab"}))
    assert "name them with --inventory" in refused(str(result))
