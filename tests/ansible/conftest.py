"""The hosts' package is not installed anywhere: it is imported from where Ansible takes it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.checkout import ROOT

ANSIBLE = ROOT / "ansible"
sys.path.insert(0, str(ANSIBLE / "module_utils"))


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Make a command of this name, in Python, the only one that is found besides the shell's."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def make(name: str, source: str) -> Path:
        program = folder / name
        program.write_text(f"#!{sys.executable} -IS\n{source}")
        program.chmod(0o755)
        return program

    return make
