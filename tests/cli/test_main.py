"""The command line from outside: exit codes, what goes to stdout and what to stderr."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.checkout import ROOT
from tests.support.children import cpu_of_children
from tests.support.commands import command
from tests.support.outside import TESTBED
from tests.support.waiting import PATIENCE


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ([], 2, "Usage"),
        (["--help"], 0, "Exit codes"),
        (["fly"], 2, "No such command 'fly'"),
        (["run"], 2, "EXPERIMENT"),
        (["run", "incast-8", "--fast"], 2, "--fast"),
        (["run", "incst-8", "--dry-run"], 2, "did you mean 'incast-8'?"),
        (["run", "./nowhere.yaml"], 2, "does not exist"),
        (["run", "incast-8", "--controller", "dcqn"], 2, "--controller dcqn: controller.name"),
        (["run", "incast-8", "--controller", "./no.py"], 2, "does not exist"),
        (["run", "incast-8", "--tuner", "stat"], 2, "did you mean 'static'?"),
        (["run", "incast-8", "--duration", "10"], 2, "10 has no unit"),
        (["run", "incast-8", "--duration", "soon"], 2, "'soon' is not a time"),
        (["run", "incast-8", "--dilation", "fast"], 2, "expected a number or 'auto', got 'fast'"),
        (["run", "incast-8", "--seed", "x"], 2, "--seed: expected a whole number"),
        (["run", "incast-8", "--set", "traffic.sender=2"], 2, "did you mean 'senders'?"),
        (["show", "incast-8", "--set", "nothing"], 2, "expected key=value"),
        (["validate", "./nowhere.yaml"], 2, "does not exist"),
        (["validate", "incast-8"], 0, "incast-8 is valid: 9 hosts, 8 flows"),
        (["list", "--format", "xml"], 2, "--format xml: there is no such choice; allowed: json, text"),
        (["check", "nothing"], 2, "no plugin 'nothing' is installed"),
        (["new"], 2, "controller"),
        (["version"], 0, "0."),
    ],
)
def test_exit_code_and_message(arguments: list[str], code: int, says: str, tmp_path: Path) -> None:
    done = command(*arguments, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert says in done.stdout + done.stderr
    if code:
        assert says in done.stderr or arguments in ([], ["new"])
        assert done.stdout == "" or arguments in ([], ["new"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["list"],
        ["show", "incast-64"],
        ["validate", "incast-64"],
        ["doctor"],
        ["check", "fixed"],
        ["run", "incast-8", "--dry-run"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_format_json_is_all_there_is_on_stdout(arguments: list[str]) -> None:
    done = command(*arguments, "--format", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)


def test_completion_of_a_verb() -> None:
    """What the script that --install-completion installs asks for at a tab."""
    environment = {**os.environ, "_TESTBED_COMPLETE": "complete_bash", "COMP_WORDS": "testbed\nva", "COMP_CWORD": "1"}
    command = [Path(sys.executable).parent / "testbed"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.stdout.split() == ["validate"]


def test_help_is_quick() -> None:
    """DESIGN section 10: heavy imports happen where they are used. Its limit of 0.3 s of CPU is in the bench.

    The library's own import, beside it on the same machine, is a third to a quarter of it.
    """
    ratios = [float("inf")]
    while min(ratios) >= 5 and len(ratios) <= 5:
        ratios.append(cpu_of(*TESTBED, "--help") / cpu_of(sys.executable, "-c", "import typer.main"))
    assert min(ratios) < 5


def cpu_of(*command: str) -> float:
    """Seconds of the CPU that it takes."""
    before = cpu_of_children()
    assert subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == 0
    return cpu_of_children() - before


def test_numpy_starts_no_thread() -> None:
    """OpenBLAS's spin for a while on a core that somebody else needs, each time that a process begins."""
    code = (
        "import contextlib, os, sys; from testbed.cli.main import main; sys.argv = ['testbed', 'version']\n"
        "with contextlib.suppress(SystemExit): main()\n"
        "import numpy; print(len(os.listdir('/proc/self/task')))"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == "1"


@pytest.mark.parametrize("module", ["testbed", "testbed.cli.main"])
def test_help_imports_nothing_heavy(module: str) -> None:
    code = (
        f"import sys, {module}; "
        "heavy = {'numpy', 'pydantic', 'mininet', 'pyarrow', 'matplotlib', 'scapy', 'pyroute2', 'yaml'}; "
        "light = {'testbed.errors', 'testbed.base', 'testbed.base.extras', 'testbed.runs', 'testbed.runs.overrides'}; "
        "own = {one for one in sys.modules if one.startswith('testbed.') and not one.startswith('testbed.cli')}; "
        "raise SystemExit(', '.join((heavy & set(sys.modules)) | (own - light)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""


def test_a_file_per_verb() -> None:
    """``testbed VERB`` is in testbed/cli/VERB.py; what else is there is named for what it is."""
    import typer

    from testbed.cli.main import app

    files = {file.stem for file in (ROOT / "testbed" / "cli").glob("*.py")}
    verbs = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert files - set(verbs) == {
        "__init__", "completion", "main", "shared", "shared_job", "shared_run", "sweep_child", "usage", "verbose",
        "words",
    }  # fmt: skip
    assert set(verbs) - files == set()


def test_cli_page_names_every_verb_and_option() -> None:
    import typer

    from testbed.cli.main import app

    page = (ROOT / "docs" / "cli.md").read_text()
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    for verb, one in commands.items():
        assert f"testbed {verb}" in page
        for parameter in one.params:
            for option in parameter.opts:
                assert not option.startswith("--") or option in page, f"{verb} {option}"
