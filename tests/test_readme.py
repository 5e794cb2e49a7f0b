"""The README's own steps, taken from the README, work."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from testbed.cli.main import commands
from tests.support.checkout import ROOT
from tests.support.understood import understood, words

README = (ROOT / "README.md").read_text()
BIN = Path(sys.executable).parent
SCREEN = 30  # lines


def walk_through() -> list[str]:
    """The shell lines below the marker."""
    block = re.search(r"<!-- walk-through.*?-->\n```sh\n(.*?)```", README, re.DOTALL)
    assert block
    return block[1].strip().splitlines()


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """As the user types it, with the command of this environment; we are root already, or the test needs none."""
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    return subprocess.run(
        ["sh", "-c", line.removeprefix("sudo ")],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def test_the_first_screen_shows_both_ways() -> None:
    """With root real packets; without, the virtual clock."""
    first = README.splitlines()[:SCREEN]
    for way in ("sudo testbed run .*real packets", "testbed run .*--engine virtual .*virtual clock"):
        assert [line for line in first if re.match(rf" *{way}", line)], way


def test_the_readme_walks_through_new_check_run() -> None:
    lines = walk_through()
    assert [line.removeprefix("sudo ").split()[:2] for line in lines] == [
        ["testbed", "new"],
        ["testbed", "check"],
        ["testbed", "run"],
    ]


def test_steps_without_root(tmp_path: Path) -> None:
    for line in walk_through():
        if not line.startswith("sudo"):
            done = shell(line, tmp_path)
            assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        else:
            done = shell(f"{line} --dry-run", tmp_path)
            assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    written = sorted(file.name for file in tmp_path.glob("*my_cc*"))
    assert written == ["my_cc.py", "test_my_cc.py"]
    assert len((tmp_path / "my_cc.py").read_text().splitlines()) <= 60
    tested = shell(f"{sys.executable} -m pytest -q -p no:cacheprovider test_my_cc.py", tmp_path)
    assert tested.returncode == 0, tested.stdout + tested.stderr


@pytest.mark.root
@pytest.mark.parallel
def test_step_with_root(tmp_path: Path) -> None:
    for line in walk_through():
        if line.startswith("sudo"):
            # 3: this machine may be busy with other tests; the README promises a result, not a fast machine
            short = '--duration "2 ms" --set traffic.senders=2 --set rack.calibrate=off --set record.report=off'
            done = shell(f"{line} {short} --out results", tmp_path)
            assert done.returncode in (0, 3), f"{line}\n{done.stdout}{done.stderr}"
            assert (tmp_path / "results" / "summary.json").is_file()
        elif " new " in line:
            assert shell(line, tmp_path).returncode == 0


def test_the_first_screen_tells_all_that_a_newcomer_needs() -> None:
    first = README[: README.index("\n## ")]
    assert first.count("\n") <= 40
    for needed in ("uvx --from", "make run", "testbed new controller", "testbed rerun", "testbed.run("):
        assert needed in first


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target


def commands_of_the_readme() -> list[list[str]]:
    """What comes after `testbed` in every command of the README, of a line of its own or in a sentence."""
    lines = re.findall(r"^(?:    )?((?:sudo |uvx .*)?testbed (?!emulates).*)$", README, re.MULTILINE)
    spans = re.findall(r"`((?:sudo )?testbed [^`]*)`", README)
    return [list(one) for one in sorted({tuple(words(line)) for line in lines + spans})]


def test_every_command_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is understood, options and all, and what has a dry run passes it."""
    monkeypatch.chdir(tmp_path)
    unable = {"...", "./my_cc.py", "--inventory"}  # need what a reader has, or has just made
    command, dry = understood(), []
    for one in commands_of_the_readme():
        command.main(one, standalone_mode=False)
        if one and one[0] in {"run", "sweep", "reproduce"} and len(one) > 1 and not unable & {*one}:
            dry.append(one)
    short = {"reproduce": ("--quick",)}  # all cells of all tables are resolved elsewhere
    for one in dry:
        code = commands().main([*one, *short.get(one[0], ()), "--dry-run"], standalone_mode=False)
        assert not code, one
    assert {one[0] for one in dry} == {"run", "sweep", "reproduce"}
    assert list(tmp_path.iterdir()) == []


def test_make_has_what_is_asked_of_it() -> None:
    asked = set(re.findall(r"(?:^    |`)make (\w+)", README, re.MULTILINE))
    assert asked <= set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {"run", "test", "setup", "lab"} <= asked
