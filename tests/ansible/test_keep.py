"""What the controller keeps of a rollout: for its owner only, and never in place of something else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.ansible.conftest import ANSIBLE

# In a process of its own: what Ansible does to `sys.intern` when it is imported, PyTorch cannot stand.
KEEP = """
import os, sys
from pathlib import Path
from testbed_keep import keep
os.umask(0)
path, backup, *contents = sys.argv[1:]
for content in contents:
    keep(Path(path), content, backup == "backup")
"""


def keep(path: Path, *contents: str, backup: str = "") -> None:
    command = [sys.executable, "-c", KEEP, str(path), backup, *contents]
    subprocess.run(command, env={"PYTHONPATH": str(ANSIBLE / "action_plugins")}, check=True)


def test_it_is_the_owner_s_and_has_its_folders(tmp_path: Path) -> None:
    file = tmp_path / "state/rollouts/r1/rollout.json"
    keep(file, "{}\n")
    assert file.read_text() == "{}\n"
    assert [path.stat().st_mode & 0o777 for path in (file, *file.parents[:3])] == [0o600, 0o700, 0o700, 0o700]
    keep(file, "[]\n")
    assert [(one.name, one.read_text()) for one in file.parent.iterdir()] == [("rollout.json", "[]\n")]


def test_another_host_s_copy_of_that_name_stays(tmp_path: Path) -> None:
    file = tmp_path / "lab1.json"
    keep(file, "first", "first", "second", backup="backup")
    assert file.read_text() == "second"
    (older,) = set(tmp_path.iterdir()) - {file}
    assert older.name.startswith("lab1.json.")
    assert older.read_text() == "first"
