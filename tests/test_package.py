"""A wheel works outside the checkout: everything shipped is found through the entry points that others use, too."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.support.checkout import ROOT
from tests.support.wheel import copy_of_source, run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of a fresh environment with nothing but the wheel and its dependencies."""
    folder = tmp_path_factory.mktemp("wheel")
    source = copy_of_source(folder)
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, source, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    fresh = folder / "fresh"
    run(sys.executable, "-m", "venv", "--without-pip", fresh, cwd=folder)
    pip = (sys.executable, "-m", "pip", "--python", fresh / "bin/python")
    run(*pip, "install", "--quiet", "--no-compile", "--disable-pip-version-check", wheel, cwd=folder)
    return folder / "fresh/bin"


def test_list_shows_everything_shipped(installed: Path, tmp_path: Path) -> None:
    listed = json.loads(run(installed / "testbed", "list", "--format", "json", cwd=tmp_path))
    names = {section: {row["name"] for row in rows} for section, rows in listed.items()}
    assert names["experiments"] == {file.stem for file in (ROOT / "topologies").glob("*.yaml")}
    for section, folder in (("controllers", "controllers"), ("tuners", "plugins")):
        modules = {file.stem for file in (ROOT / folder).glob("*.py")} | {
            file.parent.name for file in (ROOT / folder).glob("*/__init__.py")
        }
        shared = {"__init__", "exports", "learned"}  # by several, by pet and acc
        assert {name.partition("-")[0] for name in names[section]} == modules - shared


def test_experiments_resolve(installed: Path, tmp_path: Path) -> None:
    assert "is valid" in run(installed / "testbed", "validate", "incast-64", cwd=tmp_path)


def test_sources_of_the_data_plane_and_templates_are_inside(installed: Path, tmp_path: Path) -> None:
    code = "import testbed, pathlib; print(*(f.name for f in pathlib.Path(testbed.__file__).parent.rglob('*.*')))"
    files = set(run(installed / "python", "-c", code, cwd=tmp_path).split())
    wanted = {file.name for file in (ROOT / "testbed").rglob("*.*") if file.suffix in (".c", ".h", ".json", ".py")}
    assert wanted <= files


def test_new_plugin_works(installed: Path, tmp_path: Path) -> None:
    run(installed / "testbed", "new", "controller", "my_cc", cwd=tmp_path)
    run(installed / "testbed", "check", "./my_cc.py", cwd=tmp_path)
