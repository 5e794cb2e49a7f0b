"""What the controller keeps of a rollout: for its owner only, and never in place of something else."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.ansible.conftest import ANSIBLE

sys.path.insert(0, str(ANSIBLE / "action_plugins"))
from testbed_keep import keep


def test_it_is_the_owner_s_and_has_its_folders(tmp_path: Path) -> None:
    file = tmp_path / "state/rollouts/r1/rollout.json"
    before = os.umask(0)
    try:
        keep(file, "{}\n", backup=False)
    finally:
        os.umask(before)
    assert file.read_text() == "{}\n"
    assert [path.stat().st_mode & 0o777 for path in (file, *file.parents[:3])] == [0o600, 0o700, 0o700, 0o700]
    keep(file, "[]\n", backup=False)
    assert [(one.name, one.read_text()) for one in file.parent.iterdir()] == [("rollout.json", "[]\n")]


def test_another_host_s_copy_of_that_name_stays(tmp_path: Path) -> None:
    file = tmp_path / "lab1.json"
    for content in ("first", "first", "second"):
        keep(file, content, backup=True)
    assert file.read_text() == "second"
    (older,) = set(tmp_path.iterdir()) - {file}
    assert older.name.startswith("lab1.json.")
    assert older.read_text() == "first"
