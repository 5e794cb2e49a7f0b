"""What a wheel is made of."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.support.checkout import ROOT

LEFT_BEHIND = {".git", ".venv", "build", "dist", "results", "tests"}


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def copy_of_source(folder: Path) -> Path:
    """What a wheel is built from: setuptools writes build/ next to it, and not into the checkout."""
    source = folder / "source"
    source.mkdir()
    for entry in ROOT.iterdir():
        if entry.name not in LEFT_BEHIND and not entry.name.endswith(".egg-info"):
            run("cp", "-r", entry, source, cwd=folder)
    return source
