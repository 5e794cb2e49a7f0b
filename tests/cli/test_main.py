"""The command line from outside: exit codes, what goes to stdout and what to stderr."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from itertools import pairwise
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


ALL = "from testbed.cli.main import Verbs; assert len(dict(Verbs())) > 30"


@pytest.mark.parametrize("imports", ["import testbed", ALL])
def test_help_imports_nothing_heavy(imports: str) -> None:
    code = (
        f"import sys; {imports}; "
        "heavy = {'numpy', 'pydantic', 'mininet', 'pyarrow', 'matplotlib', 'scapy', 'pyroute2', 'yaml'}; "
        "light = {'testbed.errors', 'testbed.base', 'testbed.runs', 'testbed.runs.overrides'}; "
        "light |= {'testbed.base.denied', 'testbed.base.extras', 'testbed.base.strange'}; "
        "light |= {'testbed.engines', 'testbed.engines.virtual', 'testbed.engines.virtual.limits'}; "
        "own = {one for one in sys.modules if one.startswith('testbed.') and not one.startswith('testbed.cli')}; "
        "raise SystemExit(', '.join((heavy & set(sys.modules)) | (own - light)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""


def test_a_file_per_verb() -> None:
    """``testbed VERB`` is in testbed/cli/VERB.py, but ``import``, a word of Python's; what else is there is named for
    what it is.
    """
    import typer

    from testbed.cli.main import app

    files = {file.stem for file in (ROOT / "testbed" / "cli").glob("*.py")}
    verbs = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert files - set(verbs) == {
        "__init__", "completion", "help", "import_experiment", "main", "reproduce_plan", "shared",
        "shared_job", "shared_run", "sweep_child", "usage", "verbose", "words",
    }  # fmt: skip
    assert set(verbs) - files == {"import"}


DEEP = {
    "flow.yaml": "a: " + "[" * 100_000 + "]" * 100_000,
    "mapping.yaml": "a: " + "{a: " * 100_000 + "}" * 100_000,
    "block.yaml": "a:\n" + "- " * 100_000 + "x",
    "aliases.yaml": "a: &a [x]\n"
    + "".join(f"{b}: &{b} [{', '.join(['*' + a] * 9)}]\n" for a, b in pairwise("abcdefghij")),
}


@pytest.mark.parametrize(
    ("verb", "name"), [*(("validate", name) for name in DEEP), ("sweep", "flow.yaml"), ("rack", "block.yaml")]
)
def test_what_is_nested_too_deeply_or_never_ends_is_one_message(verb: str, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(DEEP[name])
    arguments = (
        [verb, f"./{name}"]
        if verb != "rack"
        else ["validate", "incast-2", "--set", f"rack={{kind: custom, file: {name}}}"]
    )
    done = command(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "nested too deeply" in done.stderr or "aliases make more than" in done.stderr


def test_json_that_is_nested_too_deeply_is_named(tmp_path: Path) -> None:
    for one in ("summary.json", "manifest.json"):
        (tmp_path / one).write_text("[" * 100_000 + "]" * 100_000)
    done = command("compare", str(tmp_path))
    assert done.returncode == 2
    assert ".json is cut short or damaged: maximum recursion depth" in done.stderr


def limited(limit: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    asked = f"ulimit {limit}; exec {shlex.join([sys.executable, '-m', 'testbed', *arguments])}"
    return subprocess.run(["/bin/sh", "-c", asked], capture_output=True, text=True, check=False, timeout=PATIENCE)


@pytest.mark.parametrize("kilobytes", [40_000, 120_000, 280_000, 600_000])
def test_less_memory_than_libraries_need_is_one_line(kilobytes: int) -> None:
    done = limited(f"-v {kilobytes}", "run", "incast-2", "--engine", "virtual")
    assert done.returncode == 1
    assert re.fullmatch(r"testbed: 1024 MiB of address space are needed.*ulimit -v 1048576\)\n", done.stderr)


def test_a_run_that_needs_more_memory_than_there_is_says_so(tmp_path: Path) -> None:
    """3 GB of packets in one queue."""
    sets = [
        "rack.switch.buffer=3 GB",
        "time.duration=1 s",
        "record.decisions=0",
        "record.interval=1 ms",
        "time.warmup=0 s",
    ]
    arguments = [part for one in sets for part in ("--set", one)]
    done = limited(
        "-v 1100000", "run", "incast-64", "--engine", "virtual", "--controller", "fixed", "--metrics-addr", "none",
        "--out", str(tmp_path / "out"), *arguments,
    )  # fmt: skip
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "testbed: the run's process died (there is not enough memory" in done.stderr.splitlines()[-1]
    assert not (tmp_path / "out").exists()


def test_a_name_that_is_too_long_is_one_line() -> None:
    done = command("validate", f"./{'x' * 300}.yaml")
    assert done.returncode == 2
    assert done.stderr.endswith("file name too long\n")


@pytest.mark.parametrize("verb", ["list", "version", "show incast-8"])
def test_output_that_cannot_be_written_is_one_line(verb: str) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123
        arguments = [sys.executable, "-m", "testbed", *verb.split()]
        done = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "no space is left on the disk" in done.stderr


@pytest.mark.parametrize("files", [4, 6, 8])
def test_few_open_files_are_one_line(files: int) -> None:
    """Whatever it is that cannot be opened: the command, or what its message needs."""
    code = (
        "import resource, sys; from testbed.cli.main import main; "
        f"resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files})); "
        "sys.argv = ['testbed', 'compare', '/nowhere']; raise SystemExit(main())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode in {1, 2}
    assert done.stderr.startswith("testbed: ")
    assert "Traceback" not in done.stderr
