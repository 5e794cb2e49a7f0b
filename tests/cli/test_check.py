"""`testbed check`: published algorithms that work pass, those that collapse do not, and options decide which it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.checkout import ROOT
from tests.support.commands import command

PLUGINS = ROOT / "tests" / "sdk" / "conformance"


def failures(name: str, *options: str) -> tuple[int, dict[str, str]]:
    """Exit code; the questions that the test plugin failed, with what was said."""
    done = command("check", str(PLUGINS / f"{name}.py"), *options, "--format", "json")
    assert done.stderr == ""  # what trials do to their links is theirs
    return done.returncode, {one["name"]: one["why"] for one in json.loads(done.stdout) if one["outcome"] == "failed"}


@pytest.mark.parametrize(
    ("name", "options"), [("dctcp", ()), ("timely", ("--set", "segment=16 kB", "--set", "least=0.5"))]
)
def test_what_shares_a_port_passes(name: str, options: tuple[str, ...]) -> None:
    assert failures(name, *options) == (0, {})


def test_a_collapse_fails() -> None:
    code, failed = failures("timely")
    assert (code, set(failed)) == (1, {"reacts to congestion"})
    assert "they ask for 0.0 % of its rate (50.0 % to 150.0 % is expected)" in failed["reacts to congestion"]


def test_a_file_that_cannot_be_loaded_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("class Mine(:\n")
    done = command("check", "./mine.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("testbed: plugin file './mine.py', line 1: SyntaxError: invalid syntax")


def test_options_are_the_plugins_own() -> None:
    done = command("check", str(PLUGINS / "timely.py"), "--set", "segmnt=16 kB")
    assert (done.returncode, done.stdout) == (2, "")
    assert "controller 'timely' has no option 'segmnt'; did you mean 'segment'?" in done.stderr


def test_without_a_compiler_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And does not blame the controller."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("TESTBED_CACHE", str(tmp_path / "cache"))
    done = command("check", "fixed")
    assert (done.returncode, done.stdout) == (1, "")
    assert "apt install" in done.stderr
    assert command("check", "static").returncode == 0  # a tuner needs none
