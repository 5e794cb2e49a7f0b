"""The command line from outside: exit codes, what goes to stdout and what to stderr."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from testbed.experiment.load import available, load
from tests.support.checkout import ROOT
from tests.support.commands import command

TESTBED = [sys.executable, "-c", "from testbed.cli.main import main; raise SystemExit(main())"]


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
        (["run", "incast-8", "--seed", "x"], 2, "expected a whole number, got 'x'"),
        (["run", "incast-8", "--set", "traffic.sender=2"], 2, "did you mean 'senders'?"),
        (["show", "incast-8", "--set", "nothing"], 2, "expected key=value"),
        (["validate", "./nowhere.yaml"], 2, "does not exist"),
        (["validate", "incast-8"], 0, "incast-8 is valid: 9 hosts, 8 flows"),
        (["list", "--format", "xml"], 2, "'xml' is not one of"),
        (["check", "nothing"], 2, "no tuner 'nothing'"),
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


def test_invalid_file_in_json(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("traffic: {pattern: incast, senders: 0}\n")
    done = command("validate", str(file), "--format", "json")
    assert done.returncode == 2
    answer = json.loads(done.stdout)
    assert answer["valid"] is False
    assert len(answer["problems"]) == 2


def test_completion_of_a_verb() -> None:
    """What the script that --install-completion installs asks for at a tab."""
    environment = {**os.environ, "_TESTBED_COMPLETE": "complete_bash", "COMP_WORDS": "testbed va", "COMP_CWORD": "1"}
    command = [Path(sys.executable).parent / "testbed"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.split() == ["validate"]


def test_list_names_everything() -> None:
    done = command("list")
    for name in [*available(), "dcqcn", "fixed", "hpcc", "swift", "static"]:
        assert f"\n  {name} " in done.stdout


def test_list_of_one_plugin_explains_its_options() -> None:
    done = command("list", "swift")
    assert done.stdout.startswith("controller swift: ")
    assert re.search(r"^  htsim  +.*base_target: 20 us", done.stdout, re.MULTILINE)
    assert re.search(r"^  base_target  +12 us  +Target delay", done.stdout, re.MULTILINE)
    found = json.loads(command("list", "static", "--format", "json").stdout)
    assert (found["kind"], list(found["presets"])) == ("tuner", ["secn2", "secn1"])
    assert {one["name"]: one["default"] for one in found["options"]}["kmin"] == "100 kB"
    wrong = command("list", "swft")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "did you mean 'swift'" in wrong.stderr


def test_show_can_be_run_again(tmp_path: Path) -> None:
    shown = command("show", "incast-8").stdout
    file = tmp_path / "shown.yaml"
    file.write_text(shown)
    assert command("show", str(file)).stdout == shown


def test_dry_run_applies_overrides_and_builds_nothing(tmp_path: Path) -> None:
    arguments = ["--controller", "fixed", "--duration", "6 ms", "--dilation", "500", "--seed", "9", "--out", "here"]
    done = command("run", "incast-8", "--dry-run", *arguments, "--set", "traffic.senders=4", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = yaml.safe_load(done.stdout)
    assert shown["controller"]["name"] == "fixed"
    assert shown["traffic"]["senders"] == 4
    assert shown["time"] == {"duration": "6 ms", "warmup": "2 ms", "dilation": 500.0}
    assert shown["seed"] == 9
    assert list(tmp_path.iterdir()) == []


def test_auto_is_not_measured_before_a_run() -> None:
    done = command("run", "incast-8", "--dry-run", "--dilation", "auto")
    assert yaml.safe_load(done.stdout)["time"]["dilation"] == "auto"
    assert done.stderr == ""


def test_set_adds_to_the_chosen_controller() -> None:
    done = command("run", "incast-8", "--dry-run", "--controller", "dcqcn", "--set", "controller.preset=nic")
    assert yaml.safe_load(done.stdout)["controller"]["preset"] == "nic"


@pytest.mark.root
@pytest.mark.parallel
def test_run_without_root_says_how(tmp_path: Path) -> None:
    os.chmod(tmp_path, 0o755)  # noqa: PTH101
    done = command("run", "incast-8", user=65534)
    assert done.returncode == 1
    assert done.stderr == "testbed: a rack needs root; run it with sudo: sudo testbed run ...\n"


def test_help_is_quick() -> None:
    """DESIGN section 10: heavy imports happen where they are used. The limit of the issue is 0.3 s of CPU."""
    used = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert subprocess.run([*TESTBED, "--help"], stdout=subprocess.DEVNULL, check=False).returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(used) < 0.3  # a busy machine only adds to it


@pytest.mark.parametrize("module", ["testbed", "testbed.cli.main"])
def test_help_imports_nothing_heavy(module: str) -> None:
    code = (
        f"import sys, {module}; "
        "heavy = {'numpy', 'pydantic', 'mininet', 'pyarrow', 'plotly', 'scapy', 'pyroute2', 'yaml'}; "
        "own = {one for one in sys.modules if one.startswith('testbed.') and not one.startswith('testbed.cli')}; "
        "raise SystemExit(', '.join((heavy & set(sys.modules)) | (own - {'testbed.errors'})))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""


def test_a_file_per_verb() -> None:
    """``testbed VERB`` is in testbed/cli/VERB.py; what else is there is named for what it is."""
    import typer

    from testbed.cli.main import app

    files = {file.stem for file in (ROOT / "testbed" / "cli").glob("*.py")}
    verbs = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert files - set(verbs) == {"__init__", "main", "reproduce", "shared", "shared_job", "sweep_child", "verbose"}
    assert set(verbs) - files == {"bench"}


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


def test_shipped_experiment_has_a_description() -> None:
    for name in available():
        assert load(name).experiment.description
