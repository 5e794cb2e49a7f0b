"""Where compiled programs are kept."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.support.checkout import ROOT

PROGRAM = "from testbed.base.compiler import cache_folder; print(cache_folder())"


@pytest.fixture
def home() -> Iterator[Path]:
    """A home that its user cannot write to, beside a folder for temporary files; pytest's own are root's alone."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        (home := Path(folder) / "home").mkdir(mode=0o555)
        (temporary := Path(folder) / "tmp").mkdir()
        temporary.chmod(0o1777)
        yield home


def folder_of_nobody(home: Path) -> subprocess.CompletedProcess[str]:
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "TMPDIR": f"{home.parent}/tmp"}
    return subprocess.run(
        ["/usr/bin/python3", "-c", PROGRAM], capture_output=True, text=True, check=False, env=environment,
        user="nobody", cwd="/",
    )  # fmt: skip


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
def test_a_home_that_cannot_be_written_to_is_no_failure(home: Path) -> None:
    done = folder_of_nobody(home)
    assert done.stderr == ""
    (folder,) = (home.parent / "tmp").iterdir()
    assert done.stdout == f"{folder}\n"
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
def test_a_folder_that_somebody_else_has_made_is_not_used(home: Path) -> None:
    folder_of_nobody(home)
    (folder,) = (home.parent / "tmp").iterdir()
    os.chown(folder, 0, 0)
    done = folder_of_nobody(home)
    assert done.returncode != 0
    assert "must be a folder that only its owner may use" in done.stderr
