"""docs/howto/train.md: its commands work as they stand there, and what it says of them is so."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.checkout import ROOT
from tests.support.commands import command

PAGE = (ROOT / "docs/howto/train.md").read_text()
BIN = Path(sys.executable).parent
NEAR = 1.5  # of 100: how far the page may be from what the engine's next version makes of it


def commands(marker: str) -> list[str]:
    """All lines of the blocks below such a marker."""
    return [
        line
        for block in re.findall(rf"<!-- {marker} -->\n```sh\n(.*?)```", PAGE, re.DOTALL)
        for line in block.splitlines()
    ]


def typed(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """As the reader types it; what begins with `testbed` starts as fast as it can."""
    program, *arguments = shlex.split(line)
    return command(*arguments, cwd=folder) if program == "testbed" else shell(line, folder)


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """As a shell would start it, in the environment of the tests."""
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    return subprocess.run(
        shlex.split(line), cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def score(done: subprocess.CompletedProcess[str]) -> float:
    found = re.match(r"score ([\d.]+) of 100, suite quick, seed 1\n", done.stdout)
    assert found, done.stdout + done.stderr
    return float(found[1])


def said(state: str) -> float:
    """The score that the page's table has."""
    found = re.search(rf"^\| {state} \| ([\d.]+) \|", PAGE, re.MULTILINE)
    assert found
    return float(found[1])


@pytest.mark.slow
def test_from_new_to_a_policy_that_scores_higher(tmp_path: Path) -> None:
    new, *lines = commands("without root")
    done = [(new, shell(new, tmp_path)), *((line, typed(line, tmp_path)) for line in lines)]
    codes = {line: one.returncode for line, one in done}
    verbs = [" ".join(line.split()[:2]) for line, _ in done]
    assert verbs == [
        "testbed new",
        *(before := ["testbed check", "testbed score"]),
        "python train_my_cc.py",
        *before,
        "testbed run",
    ]
    (check, checked), (_, untrained), _, (_, again), (scored, trained) = done[1:6]
    assert checked.returncode == 1
    assert "failed  reacts to congestion" in checked.stdout
    assert {line: code for line, code in codes.items() if code and line != check} == {}
    assert "failed" not in again.stdout
    assert score(untrained) == pytest.approx(said("untrained"), abs=NEAR)
    assert score(trained) > score(untrained) + 5
    # Its conformance test asks what `testbed check` has just answered.
    tested = shell("python -m pytest -q -p no:cacheprovider -k 'not conformance' test_my_cc.py", tmp_path)
    assert (tested.returncode, "1 passed, 1 deselected" in tested.stdout) == (0, True), tested.stdout

    learned = (file := tmp_path / "my_cc.py").read_text()
    file.write_text(with_weights_of_the_page(learned))
    of_page = trained if file.read_text() == learned else typed(scored, tmp_path)  # other processors learn others
    assert score(of_page) == pytest.approx(said("trained"), abs=NEAR)


def with_weights_of_the_page(text: str) -> str:
    (weights,) = re.findall(r"my_cc\.py: (WEIGHTS = \(.*\))", PAGE)
    text, changed = re.subn(r"^WEIGHTS = \(.*?\)", weights, text, flags=re.MULTILINE)
    assert changed == 1
    return text


@pytest.mark.root
@pytest.mark.parallel
def test_it_decides_in_the_rack(tmp_path: Path) -> None:
    typed(commands("without root")[0], tmp_path)
    file = tmp_path / "my_cc.py"
    file.write_text(with_weights_of_the_page(file.read_text()))
    (line,) = commands("with root")
    short = '--duration "2 ms" --set traffic.senders=2 --set rack.calibrate=off --set record.report=off --out results'
    done = typed(f"{line.removeprefix('sudo ')} {short}", tmp_path)
    assert done.returncode in (0, 3), done.stderr  # 3: this machine may be busy with other tests
    assert (tmp_path / "results" / "summary.json").is_file()
