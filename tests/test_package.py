"""The wheel, with what it depends on and nothing else, outside the checkout: as a lab host has it.

Everything shipped is found through the entry points that others use, too.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import zipfile
from pathlib import Path
from urllib.request import urlopen

import pytest

import testbed
from tests.support.checkout import ROOT
from tests.support.waiting import PATIENCE, until
from tests.support.wheel import Uvx, run, wheelhouse

pytestmark = pytest.mark.slow
BASELINES = {"aurora", "ppo", "reinforce"}  # controllers of one package
RACK = 'mininet is not installed; run: pip install "cc-testbed[rack]"'
NETWORK = 'onnxruntime is not installed; run: pip install "cc-testbed[learned]"'


@pytest.fixture(scope="module")
def uvx(tmp_path_factory: pytest.TempPathFactory) -> Uvx:
    """Of this checkout's wheel, downloaded."""
    one = Uvx.of(wheelhouse(tmp_path_factory), tmp_path_factory.mktemp("wheel"))
    said = run(*one("testbed", "version"), cwd=one.wheels.parent, **one.environment)
    assert said.strip() == testbed.__version__
    return one


@pytest.fixture(scope="module")
def installed(uvx: Uvx) -> Path:
    """The bin folder of the environment that uvx made."""
    code = "import sys; print(sys.prefix)"
    return Path(run(*uvx("python", "-c", code), cwd=uvx.wheels.parent, **uvx.environment).strip()) / "bin"


@pytest.fixture(autouse=True)
def compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second command finds what Python compiled for the first, as a user's does; `make test` has it keep nothing."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)


def test_list_shows_everything_shipped(installed: Path, tmp_path: Path) -> None:
    listed = json.loads(run(installed / "testbed", "list", "--format", "json", cwd=tmp_path))
    names = {section: {row["name"] for row in rows} for section, rows in listed.items()}
    assert names["path choosers"] == {"random", "reps", "round-robin"}
    assert names["credit controllers"] == {"eqds", "rccc"}
    assert names["experiments"] == {file.stem for file in (ROOT / "topologies").glob("*.yaml")}
    for section, folder in (("controllers", "controllers"), ("tuners", "plugins")):
        modules = {file.stem for file in (ROOT / folder).glob("*.py")} | {
            file.parent.name for file in (ROOT / folder).glob("*/__init__.py")
        }
        modules -= {"__init__", "exports", "learned", "choosers", "threshold", "credits"}  # of several, or of others
        of = {
            name: {"baselines"} if name in BASELINES else {one for one in modules if one in name.replace("-", "_")}
            for name in names[section]
        }
        assert all(of.values())
        assert set().union(*of.values()) == modules


def test_every_file_of_the_packages_is_inside(uvx: Uvx) -> None:
    """Sources in C, policies, cards' programs, experiments, papers, pages, types."""
    (wheel,) = uvx.wheels.glob("cc_testbed-*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    packages = {"controllers": "testbed_controllers", "plugins": "testbed_plugins", "topologies": "testbed_topologies"}
    wanted = {
        f"{packages.get(folder, folder)}/{file.relative_to(ROOT / folder)}"
        for folder in ("testbed", *packages)
        for file in (ROOT / folder).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert wanted - inside == set()
    for part in (
        "testbed/py.typed", "testbed/__init__.pyi", "testbed/dataplane/nic.bpf.c", "testbed/sdk/export/doca_pcc/",
        "testbed/experiment/traffic/sizes/", "testbed/live/page/", "testbed/results/papers/", "testbed/results/report/",
        "testbed_controllers/adpg/export/doca_pcc/", "testbed_controllers/adpg/policies/",
        "testbed/compiled/testbed_cc.h",
        "testbed_plugins/acc/policies/", "testbed_plugins/pet/policies/",
        "testbed_controllers/py.typed", "testbed_plugins/py.typed",
    ):  # fmt: skip
        assert any(name.startswith(part) for name in wanted), part
    assert any(name.startswith("testbed_controllers/") and name.endswith(".c") for name in wanted)


def test_one_command_runs_and_prints_its_table(uvx: Uvx, tmp_path: Path) -> None:
    """Once it is downloaded: from an empty folder, with a home that nobody has used, all C compiled anew.

    How long that takes is bench/first.py's to say.
    """
    home, here = tmp_path / "home", tmp_path / "here"
    home.mkdir()
    here.mkdir()
    clean, quiet = os.environ | uvx.clean(home) | {"COLUMNS": "80"}, ("--metrics-addr", "none")
    del clean["PYTHONPYCACHEPREFIX"]  # what Python compiled is the environment's
    command = uvx("testbed", "run", "incast-8", "--engine", "virtual", *quiet)
    done = subprocess.run(command, cwd=here, env=clean, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for part in ("incast-8 · dcqcn", "clean", "SU "):
        assert part in done.stdout
    (results,) = (here / "results").iterdir()
    again = run(*uvx("testbed", "rerun", results / "report.html", *quiet), cwd=here, **clean)
    assert again.startswith("equal")


def test_new_plugin_works(installed: Path, tmp_path: Path) -> None:
    run(installed / "testbed", "new", "controller", "my_cc", cwd=tmp_path)
    run(installed / "testbed", "check", "./my_cc.py", cwd=tmp_path)


def test_the_exporter_serves(installed: Path, tmp_path: Path) -> None:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{one.getsockname()[1]}"

    def answers() -> bool:
        assert serving.poll() is None
        try:
            with urlopen(f"http://{address}/metrics", timeout=5) as answer:
                return b"testbed_" in answer.read()
        except OSError:
            return False

    with subprocess.Popen([installed / "testbed", "exporter", "--listen", address, "--root", tmp_path]) as serving:
        try:
            until(answers, seconds=PATIENCE)
        finally:
            serving.terminate()


RESOLVED = {  # command line: what it prints
    "validate incast-64": "is valid",
    "show leaf-spine": "hosts",
    "run incast-8 --dry-run": "hosts",
    "lab vars incast-8": '"experiment_name": "incast-8"',
}
REFUSED = {  # command line: the end of its message
    "run incast-8": RACK,
    "sweep incast-8": RACK,
    "reproduce adpg-table-2 --quick": RACK,
    "selftest": RACK,
    "decode capture.pcapng": 'scapy is not installed; run: pip install "cc-testbed[captures]"',
    "run incast-8 --dry-run --controller adpg-nn": NETWORK,
    "check pet": NETWORK,
    "train adpg": 'matplotlib, onnx, torch are not installed; run: pip install "cc-testbed[plots,train]"',
    "explain adpg": 'matplotlib is not installed; run: pip install "cc-testbed[plots]"',
    "train decc": 'torch is not installed; run: pip install "cc-testbed[train]"',
    "train pet": 'onnx, onnxruntime, torch are not installed; run: pip install "cc-testbed[learned,train]"',
    "distil adpg": 'catboost is not installed; run: pip install "cc-testbed[train]"',
}
# Each in a process that is forked from one that has imported what most of them need.
EACH = """
import json, os, sys
import testbed.experiment.load, testbed.runs.plan, testbed.sdk.jobs
from testbed.cli.main import main
done = []
for words in json.load(sys.stdin):
    sys.argv = ["testbed", *words.split()]
    files = [open(name, "w+") for name in ("../stdout", "../stderr")]
    pid = os.fork()
    if not pid:
        for number, file in enumerate(files, 1):
            os.dup2(file.fileno(), number)
        sys.exit(main())
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    done.append((code, *(os.pread(file.fileno(), 10**6, 0).decode() for file in files)))
print(json.dumps(done))
"""


@pytest.fixture(scope="module")
def typed(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str, str]]:
    """Exit code, stdout and stderr of each command line; none leaves a file."""
    (here := tmp_path_factory.mktemp("typed") / "here").mkdir()
    asked = [*RESOLVED, *REFUSED]
    done = subprocess.run(
        [installed / "python", "-c", EACH], cwd=here, input=json.dumps(asked), capture_output=True, text=True,
        timeout=300, check=True,
    )  # fmt: skip
    assert not [file for file in here.rglob("*") if file.is_file()]
    return dict(zip(asked, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("command", RESOLVED)
def test_experiments_resolve(typed: dict[str, tuple[int, str, str]], command: str) -> None:
    code, stdout, stderr = typed[command]
    assert (code, RESOLVED[command] in stdout) == (0, True), stdout + stderr


@pytest.mark.parametrize("command", REFUSED)
def test_what_is_missing_is_one_message(typed: dict[str, tuple[int, str, str]], command: str) -> None:
    code, stdout, stderr = typed[command]
    assert (code, stdout) == (2, "")
    assert REFUSED[command] in stderr.splitlines()[-1]
    assert "Traceback" not in stderr


def test_the_doctor_says_how_to_get_it(installed: Path, tmp_path: Path) -> None:
    command = [installed / "testbed", "doctor", "--format", "json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    (found,) = [probe for probe in json.loads(done.stdout)["probes"] if probe["name"] == "Python packages"]
    assert (done.returncode, found["status"]) == (1, "missing")
    again = "(uv tool, pipx: install again, with [rack] added)"
    assert found["get"] == f'run: pip install "cc-testbed[rack]" {again}'
