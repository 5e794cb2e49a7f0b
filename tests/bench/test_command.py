"""``python -m bench``, where it refuses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.checkout import ROOT


@pytest.mark.root
@pytest.mark.parallel
def test_a_folder_that_is_no_checkout_is_refused(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench", "--only", "agents", "--other", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{tmp_path} is no checkout that can run: there is no .venv/bin/testbed; run scripts/setup" in done.stderr
    assert "Traceback" not in done.stderr
