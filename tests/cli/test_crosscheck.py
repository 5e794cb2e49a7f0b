"""`testbed crosscheck` as a user sees it."""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import command

SHORT = ("--duration", "1 ms", "--set", "time.warmup=300 us")
MODELS = ("--engines", "fluid,virtual")


def checked(tmp_path: Path, *arguments: str, code: int) -> dict[str, Any]:
    done = command("crosscheck", *arguments, "--format", "json", "--out", str(tmp_path / "out"))
    assert done.returncode == code, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_engines_that_agree(tmp_path: Path) -> None:
    """A flow at a fixed rate, below that of any link: nothing to differ in."""
    fixed = ("incast-2", "--controller", "fixed", "--set", "controller.rate='20 %'", "--set", "fluid.probes=8")
    found = checked(tmp_path, *fixed, *SHORT, *MODELS, code=0)
    assert found["agrees"]
    assert found["reference"] == "virtual"
    assert [found["runs"][engine]["verdict"]["word"] for engine in ("fluid", "virtual")] == ["clean", "clean"]
    figures = {one["name"]: one for one in found["figures"]}
    for engine in ("fluid", "virtual"):
        assert figures["su"]["values"][engine] == pytest.approx(40, abs=0.2)
        manifest = json.loads((tmp_path / "out" / engine / "manifest.json").read_text())
        assert manifest["engine"] == manifest["experiment"]["engine"] == engine


@pytest.mark.parametrize("dilation", [("--dilation", "2000"), ("--set", "time.dilation=2000")])
def test_what_is_the_kernels_alone_is_left_out_for_the_others(tmp_path: Path, dilation: tuple[str, ...]) -> None:
    """So that what they ran can be run again."""
    kernels = (*dilation, "--set", "rack.calibrate=off")
    checked(tmp_path, "leaf-spine", *SHORT, *MODELS, *kernels, code=0)
    done = command("rerun", str(tmp_path / "out" / "virtual"))
    assert done.returncode == 0, done.stderr


def test_a_mistake_is_told_once(tmp_path: Path) -> None:
    done = command("crosscheck", "incast-2", "--set", "traffic.sendrs=3", "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert done.stderr.count("traffic.sendrs") == done.stderr.count("--set traffic.sendrs=3") + 1
    assert not (tmp_path / "out").exists()


def test_what_is_out_of_bounds_is_said_and_ends_with_3(tmp_path: Path) -> None:
    """Where all send to all, ACKs use the links as well: 78 bytes per 1078, which a fluid does not have.

    The table has a column per engine with the difference to the reference below its value, and the bound.
    """
    load = ("all-to-all-4", "--controller", "fixed", "--set", "controller.rate='20 %'", *SHORT)
    done = command("crosscheck", *load, *MODELS, "--out", str(tmp_path / "out"))
    assert done.returncode == 3, done.stderr
    (said,) = [line for line in done.stdout.splitlines() if line.startswith("out of bounds: SU on the fluid engine: ")]
    assert float(said.split()[-2]) == pytest.approx(-60 * 78 / 1078, abs=0.2)
    lines = [line.split() for line in done.stdout.splitlines() if line.split()]
    at = lines.index(["fluid", "virtual", "bound", "chance"])
    assert lines[at + 1] == ["reference"]
    row = next(number for number, words in enumerate(lines) if words[0] == "SU" and number > at)
    assert re.fullmatch(r"SU \S+ % \S+ % 1\.\d+ % -", " ".join(lines[row]))
    assert lines[row + 1] == said.split()[-2:]


def test_what_an_engine_cannot_run_is_no_error(tmp_path: Path) -> None:
    found = checked(tmp_path, "leaf-spine", *SHORT, *MODELS, code=0)
    assert "the fluid model knows 'star' only" in found["runs"]["fluid"]["cannot"]
    assert found["runs"]["virtual"]["verdict"]["word"] == "clean"


@pytest.mark.root
@pytest.mark.parallel
def test_with_root_all_engines_run(tmp_path: Path) -> None:
    """How much they differ on a busy machine is another matter (tests/runs/test_crosscheck.py)."""
    slow = ("--duration", "0.5 ms", "--dilation", "2000", "--set", "rack.calibrate=off", "--set", "time.warmup=100 us")
    arguments = ("crosscheck", "incast-2", "--controller", "fixed", "--set", "controller.rate='20 %'", *slow)
    done = command(*arguments, "--format", "json", "--out", str(tmp_path / "out"))
    assert done.returncode in (0, 3), done.stderr
    found = json.loads(done.stdout)
    assert found["runs"].keys() == {"fluid", "virtual", "kernel"}
    assert all("verdict" in run for run in found["runs"].values())
    for figure in found["figures"]:
        assert figure["values"].keys() == {"fluid", "virtual", "kernel"}
    (su,) = [one for one in found["figures"] if one["name"] == "su"]
    assert su["values"].pop("kernel") > 0
    assert su["values"] == pytest.approx(dict.fromkeys(su["values"], 40), abs=0.2)
    assert su["bound"] == 1


@pytest.mark.root
@pytest.mark.parallel
def test_without_root_the_kernel_says_so_and_the_others_run() -> None:
    arguments = ("crosscheck", "leaf-spine", *SHORT, "--engines", "virtual,kernel", "--format", "json")
    with tempfile.TemporaryDirectory() as folder:  # pytest's own are root's alone
        os.chmod(folder, 0o777)  # noqa: PTH101
        done = command(*arguments, "--out", f"{folder}/out", user=65534)
    assert done.returncode == 0, done.stderr
    assert "root" in json.loads(done.stdout)["runs"]["kernel"]["cannot"]


def test_seeds_tell_what_chance_does(tmp_path: Path) -> None:
    found = checked(tmp_path, "leaf-spine", *SHORT, *MODELS, "--seeds", "2", code=0)
    assert found["seeds"] == 2
    assert any(one["chance"] > 0 for one in found["figures"])


@pytest.mark.parametrize(
    ("engines", "said"),
    [("virtual,fluit", "there is no such engine; did you mean 'fluid'?"), ("virtual", "name two or more")],
)
def test_bad_engines(engines: str, said: str) -> None:
    done = command("crosscheck", "incast-2", "--engines", engines)
    assert done.returncode == 2
    assert said in done.stderr
