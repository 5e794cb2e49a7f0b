"""The wheel, with what it depends on and nothing else, outside the checkout: as a lab host has it.

Everything shipped is found through the entry points that others use, too.
"""

from __future__ import annotations

import json
import socket
import subprocess
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.support.checkout import ROOT
from tests.support.waiting import PATIENCE, until
from tests.support.wheel import install, run, wheelhouse

pytestmark = pytest.mark.slow
BASELINES = {"aurora", "ppo", "reinforce"}  # controllers of one package
RACK = 'mininet is not installed; run: pip install "cc-testbed[rack]"'
NETWORK = 'onnxruntime is not installed; run: pip install "cc-testbed[learned]"'


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of a fresh environment."""
    return install(wheelhouse(tmp_path_factory), tmp_path_factory.mktemp("wheel"))


@pytest.fixture(autouse=True)
def compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second command finds what Python compiled for the first, as a user's does; `make test` has it keep nothing."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)


def test_list_shows_everything_shipped(installed: Path, tmp_path: Path) -> None:
    listed = json.loads(run(installed / "testbed", "list", "--format", "json", cwd=tmp_path))
    names = {section: {row["name"] for row in rows} for section, rows in listed.items()}
    assert names["path choosers"] == {"random", "reps", "round-robin"}
    assert names["experiments"] == {file.stem for file in (ROOT / "topologies").glob("*.yaml")}
    for section, folder in (("controllers", "controllers"), ("tuners", "plugins")):
        modules = {file.stem for file in (ROOT / folder).glob("*.py")} | {
            file.parent.name for file in (ROOT / folder).glob("*/__init__.py")
        }
        modules -= {"__init__", "exports", "learned", "choosers"}  # shared by several; no tuners
        of = {
            name: {"baselines"} if name in BASELINES else {one for one in modules if one in name.replace("-", "_")}
            for name in names[section]
        }
        assert all(of.values())
        assert set().union(*of.values()) == modules


def test_experiments_resolve(installed: Path, tmp_path: Path) -> None:
    assert "is valid" in run(installed / "testbed", "validate", "incast-64", cwd=tmp_path)
    assert "hosts" in run(installed / "testbed", "show", "leaf-spine", cwd=tmp_path)
    assert "hosts" in run(installed / "testbed", "run", "incast-8", "--dry-run", cwd=tmp_path)
    assert json.loads(run(installed / "testbed", "lab", "vars", "incast-8", cwd=tmp_path))


def test_sources_of_the_data_plane_and_templates_are_inside(installed: Path, tmp_path: Path) -> None:
    code = "import testbed, pathlib; print(*(f.name for f in pathlib.Path(testbed.__file__).parent.rglob('*.*')))"
    files = set(run(installed / "python", "-c", code, cwd=tmp_path).split())
    wanted = {file.name for file in (ROOT / "testbed").rglob("*.*") if file.suffix in (".c", ".h", ".json", ".py")}
    assert wanted <= files


def test_one_command_runs_and_prints_its_table(installed: Path, tmp_path: Path) -> None:
    """From an empty folder, with a home that nobody has used, everything compiled anew."""
    home, here = tmp_path / "home", tmp_path / "here"
    home.mkdir()
    here.mkdir()
    clean = {"HOME": str(home), "TESTBED_CACHE": str(home / "cache"), "PYTHONPATH": "", "COLUMNS": "80"}
    command = (installed / "testbed", "run", "incast-8", "--engine", "virtual", "--metrics-addr", "none")
    said = run(*command, cwd=here, **clean)
    assert "incast-8 · dcqcn" in said
    assert "clean" in said
    assert "SU " in said
    (results,) = (here / "results").iterdir()
    again = run(installed / "testbed", "rerun", results / "report.html", "--metrics-addr", "none", cwd=here, **clean)
    assert again.startswith("equal")


def test_what_pages_and_experiments_are_made_of_is_inside(installed: Path, tmp_path: Path) -> None:
    code = "import sys, importlib.resources as r; print(*(f.name for p in sys.argv[1:] for f in r.files(p).iterdir()))"
    packages = ("testbed.results.report", "testbed.live.page", "testbed_topologies", "testbed.experiment.traffic.sizes")
    files = set(run(installed / "python", "-c", code, *packages, cwd=tmp_path).split())
    folders = ("testbed/results/report", "testbed/live/page", "topologies", "testbed/experiment/traffic/sizes")
    wanted = {file.name for folder in folders for file in (ROOT / folder).iterdir() if file.is_file()}
    assert wanted <= files


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


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("run incast-8", RACK),
        ("sweep incast-8", RACK),
        ("reproduce adpg-table-2 --quick", RACK),
        ("selftest", RACK),
        ("decode capture.pcapng", 'scapy is not installed; run: pip install "cc-testbed[rack]"'),
        ("run incast-8 --dry-run --controller adpg-nn", NETWORK),
        ("check pet", NETWORK),
        ("train adpg", 'onnx, torch are not installed; run: pip install "cc-testbed[train]"'),
        ("train decc", 'torch is not installed; run: pip install "cc-testbed[train]"'),
        ("train pet", 'onnx, onnxruntime, torch are not installed; run: pip install "cc-testbed[learned,train]"'),
        ("distil adpg", 'catboost is not installed; run: pip install "cc-testbed[train]"'),
    ],
)
def test_what_is_missing_is_one_message(installed: Path, tmp_path: Path, command: str, said: str) -> None:
    words = [str(installed / "testbed"), *command.split()]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


def test_the_doctor_says_how_to_get_it(installed: Path, tmp_path: Path) -> None:
    command = [installed / "testbed", "doctor", "--format", "json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    (found,) = [probe for probe in json.loads(done.stdout)["probes"] if probe["name"] == "Python packages"]
    assert (done.returncode, found["status"]) == (1, "missing")
    assert found["get"] == 'run: pip install "cc-testbed[rack]"'
