"""The commit of a checkout."""

from __future__ import annotations

import subprocess
from pathlib import Path

from testbed.results.commit import commit


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    return subprocess.run(
        ["git", *identity, "-C", str(folder), *arguments], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_a_checkout_has_its_commit_and_says_what_is_not_in_it(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    file = tmp_path / "code.py"
    file.write_text("1")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "first")
    git(tmp_path, "tag", "v1")
    head = git(tmp_path, "rev-parse", "HEAD")
    assert commit(tmp_path) == head
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "new").write_text("is not the code")
    assert commit(tmp_path) == head
    file.write_text("2")
    assert commit(tmp_path) == f"{head}-dirty"


def test_what_is_no_checkout_has_none(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    installed = tmp_path / ".venv" / "lib"
    installed.mkdir(parents=True)
    assert commit(installed) == ""  # not the repository that it lies in
    (installed / ".git").write_text("gitdir: /nowhere")
    assert commit(installed) == ""
