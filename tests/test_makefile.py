"""`make run`, with what it installs left out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.checkout import ROOT
from tests.support.waiting import PATIENCE

REFUSED = """
from testbed.plugin import PluginConfig
from testbed.tuner import Ports, PortSample, Thresholds, Tuner


class Upside(Tuner):
    def __init__(self, config: PluginConfig, ports: Ports) -> None:
        super().__init__(config, ports)
        self.slot = 1e-4

    def initial(self) -> Thresholds:
        return Thresholds.uniform(len(self.ports), 1e3, 2e3, 0.1)

    def on_slot(self, now: float, sample: PortSample) -> Thresholds:
        return Thresholds.uniform(len(self.ports), 2e3, 1e3, 0.1)
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The Makefile in a folder where nothing is missing."""
    (tmp_path / "Makefile").write_text((ROOT / "Makefile").read_text())
    setup = tmp_path / "scripts" / "setup"
    setup.parent.mkdir()
    setup.write_text("#!/bin/sh\n")
    setup.chmod(0o755)
    testbed = tmp_path / ".venv" / "bin" / "testbed"
    testbed.parent.mkdir(parents=True)
    testbed.write_text(f'#!/bin/sh\nexec {sys.executable} -m testbed "$@"\n')
    testbed.chmod(0o755)
    return tmp_path


def make_run(folder: Path, experiment: str) -> subprocess.CompletedProcess[str]:
    arguments = f"{experiment} --engine fluid --duration '1 ms' --set time.warmup='0.2 ms' --metrics-addr none"
    command = ["make", "run", "SUDO=", f"EXPERIMENT={arguments} --set record.report=off --out out"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)


def test_a_degraded_run_is_no_crash(checkout: Path) -> None:
    (checkout / "upside.py").write_text(REFUSED)
    done = make_run(checkout, "incast-2 --tuner ./upside.py")
    assert (done.returncode, "verdict: degraded" in done.stdout) == (0, True), done.stderr
    assert "***" not in done.stderr
    assert "Error 3" not in done.stderr
    *_, last = done.stderr.splitlines()
    assert last.startswith(
        "make run: the run is complete, its verdict is 'degraded'; the table says why and what to do"
    )


def test_an_error_stays_one(checkout: Path) -> None:
    done = make_run(checkout, "incast-none")
    assert done.returncode != 0
    assert "no experiment is named 'incast-none'" in done.stderr
    assert "make run:" not in done.stderr
