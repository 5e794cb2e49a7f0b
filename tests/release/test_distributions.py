"""Where a wheel is tried: releases by name. `make where` needs their archives, and minutes."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

import pytest

from release import distributions
from release.distributions import DISTRIBUTIONS, main


def test_an_unknown_release_is_refused_before_anything_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributions, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["distributions", "noble", "hoary"])
    with pytest.raises(SystemExit, match="no wheel for this machine in dist/: make dist"):
        main()
    (tmp_path / "dist").mkdir()
    (tmp_path / f"dist/cc_testbed-1-py3-none-x_{platform.machine()}.whl").touch()
    with pytest.raises(SystemExit, match="no such release: hoary; expected trixie, bookworm, noble, resolute"):
        main()


def test_the_system_that_has_the_keys_comes_first() -> None:
    assert not DISTRIBUTIONS[0].keys
    assert DISTRIBUTIONS[0].suite == "trixie"
