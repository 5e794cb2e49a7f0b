"""`testbed export decc`: C that compiles strictly and decides as the controller does, and a check that sees it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from testbed_controllers.decc import Decc
from testbed_controllers.decc.export import check
from testbed_controllers.decc.export.job import ExportConfig, export

from testbed.sdk.jobs import JobContext
from tests.support.commands import command
from tests.support.exported import example_of


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trees")
    assert not export(ExportConfig(), JobContext(folder)).refused
    return folder


@pytest.mark.parametrize("form", ["quantised", "network"])
def test_networks_decide_as_the_controller(form: str, tmp_path: Path) -> None:
    """The job itself compares, and refuses what differs."""
    result = export(ExportConfig.model_validate({"form": form}), JobContext(tmp_path))
    assert not result.refused
    assert result.data["decisions"] > 300


def test_the_check_sees_another_law(trees: Path, tmp_path: Path) -> None:
    """Trees pass; with a step of 0.84 instead of the paper's 0.85 they do not."""
    assert check.wrong(trees, Decc, "")[0] == 0
    for file in trees.iterdir():
        text = file.read_text().replace("#define DECC_ALPHA 0.85", "#define DECC_ALPHA 0.84")
        (tmp_path / file.name).write_text(text)
    assert check.wrong(tmp_path, Decc, "")[0] > 100


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("source", ["decc.c", "decc_policy.c"])
def test_compiles_without_a_warning(trees: Path, tmp_path: Path, compiler: str, source: str) -> None:
    arguments = [compiler, *check.FLAGS[:-2], "-pedantic", "-c", trees / source, "-o", tmp_path / "one.o"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_example_runs_as_its_readme_says(trees: Path) -> None:
    """Alone a flow has the line; a queue of more than a base RTT takes at most 30 % per decision (1 / 1.425)."""
    said = example_of(trees)
    assert said[1] == (8.0, 100.0)
    assert said[4][0] == 20.0
    assert said[4][1] < 50


def test_other_targets_are_refused(tmp_path: Path) -> None:
    done = command("export", "decc", "--to", "doca-pcc", cwd=tmp_path)
    assert done.returncode == 2
    assert "decc cannot be exported to 'doca-pcc'" in done.stderr
    assert "Traceback" not in done.stderr
