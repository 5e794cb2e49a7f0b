"""Tests that measure, while the host of this virtual machine gives its cores to others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.checkout import ROOT

TEST = """
from pathlib import Path
import pytest
from testbed.fidelity import processors

processors.STAT, processors.WINDOW_SECONDS = Path(__file__).with_name("stat"), 0
def tell(times):
    cores = [f"cpu{{core}} 0 0 0 {{9000 * times}} 0 0 0 {{{stolen} * times}} 0 0" for core in range(64)]
    processors.STAT.write_text("\\n".join(cores))
tell(0)
times = iter(range(1, 9))

@pytest.fixture
def left():
    yield
    pytest.fail("a link is left behind")

@pytest.mark.measures
def test_it(request):
    tell(next(times))
    {fails}
"""


@pytest.mark.parametrize(
    ("fails", "stolen", "outcome"),
    [
        ("assert False", 1000, "1 skipped, 2 rerun"),
        ("pytest.fail('no clean run')", 1000, "1 skipped"),
        ("assert False", 10, "1 failed, 2 rerun"),
        ("1 / 0", 1000, "1 failed"),
        ("request.getfixturevalue('left')", 1000, "1 passed, 1 error"),
        ("pass", 1000, "1 passed"),
    ],
)
def test_what_fails_then_is_skipped_once_it_was_tried_again(
    fails: str, stolen: int, outcome: str, tmp_path: Path
) -> None:
    file = tmp_path / "test_it.py"
    file.write_text(TEST.format(fails=fails, stolen=stolen))
    options = ["-p", "tests.conftest", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml"), str(file)]
    words = [sys.executable, "-m", "pytest", *options]
    done = subprocess.run(words, check=False, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert f"{outcome} in" in done.stdout, done.stdout
