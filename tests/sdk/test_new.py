"""What `testbed new` writes works as it is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest

from testbed.errors import BadInput
from testbed.registry import find, find_any
from testbed.sdk.conformance.controllers import check
from testbed.sdk.new import FORMS, KINDS, new
from testbed.sdk.replay import replay
from tests.support.checkout import ROOT
from tests.support.commands import command
from tests.support.runs import UNDRAWN

# The same controller in several forms. A learned one decides nothing yet: see test_your_own_controller.py
SAME = [form for form in FORMS if form not in ("learned", "receiver")]


PLUGINS = [*(("controller", form) for form in (*SAME, "receiver")), ("tuner", ""), ("chooser", "")]


@pytest.mark.parametrize(("kind", "form"), PLUGINS)
def test_new_plugin_passes_conformance(kind: str, form: str, tmp_path: Path) -> None:
    plugin_file, test_file = new(kind, "my_own_one", tmp_path, *filter(None, [form]))
    assert plugin_file == tmp_path / ("my_own_one.c" if form == "c" else "my_own_one.py")
    assert test_file == tmp_path / "test_my_own_one.py"
    plugin = find_any(str(plugin_file))
    assert plugin.kind.endswith(kind)
    assert (plugin.name, plugin.form.__name__) == ("my_own_one", "MyOwnOne")
    results = check(plugin)
    assert {result.outcome for result in results} == {"passed"}
    compiled = "machine code decides as Python does" in {result.name for result in results}
    assert compiled == (kind == "chooser" or form in ("compiled", "receiver"))


def test_new_plugins_pass_their_own_tests_but_a_broken_one(tmp_path: Path) -> None:
    """Their conformance test, of the same words in all, asks what the test above has answered."""
    tests = [new(kind, f"my_{form or kind}", tmp_path, *filter(None, [form]))[1] for kind, form in PLUGINS]
    plugin_file, test_file = new("controller", "my_broken", tmp_path)
    asks = re.compile(r"^def test_conformance\(.*?\n\n\n", re.MULTILINE | re.DOTALL)
    assert len({tuple(asks.findall(file.read_text())) for file in (*tests, test_file)}) == 1
    text = plugin_file.read_text()
    assert "1 - self.config.cut" in text
    plugin_file.write_text(text.replace("1 - self.config.cut", "1"))
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-k", "not conformance or broken"]
    own = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # they need none
    done = subprocess.run(command, cwd=tmp_path, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    passed = re.findall(r"^test_(\w+)\.py::(\w+) PASSED", done.stdout, re.MULTILINE)
    assert {f"my_{form or kind}" for kind, form in PLUGINS} <= {name for name, _ in passed}
    failed = re.findall(r"^FAILED test_(\w+)\.py::(\w+)", done.stdout, re.MULTILINE)
    assert set(failed) >= {("my_broken", "test_conformance")}
    assert {name for name, _ in failed} == {"my_broken"}
    assert "reacts to congestion" in done.stdout


def test_the_forms_of_one_controller_decide_the_same(tmp_path: Path) -> None:
    """Bit for bit, of what one of them heard in a run with losses."""
    plugins = {}
    for form in SAME:
        (folder := tmp_path / form).mkdir()
        plugins[form] = find("controller", str(new("controller", "my_cc", folder, form)[0]))
    run = tmp_path / "run"
    options = ["--engine", "virtual", *UNDRAWN, "--set", "rack.link.loss=0.01", "--duration", "1 ms"]
    done = command("run", "incast-4", "--controller", str(plugins["batch"].file), *options, "--out", str(run))
    assert done.returncode == 0, done.stderr
    for plugin in plugins.values():
        again = replay(run, str(plugin.file))
        assert again.identical
        assert again.agents[0].compared_rows > 1000


def test_the_documentation_shows_what_is_written(tmp_path: Path) -> None:
    _, after, *_ = (ROOT / "docs/start/researcher.md").read_text().split("```python\n")
    assert indent(after.split("```")[0], "    ") in new("controller", "my_cc", tmp_path)[0].read_text()


@pytest.mark.parametrize("kind", KINDS)
def test_new_plugin_is_short(kind: str, tmp_path: Path) -> None:
    plugin_file, test_file = new(kind, "short", tmp_path)
    assert len(plugin_file.read_text().splitlines()) <= 44
    assert len(test_file.read_text().splitlines()) <= 60
    assert "$" not in plugin_file.read_text() + test_file.read_text()


@pytest.mark.parametrize("name", ["My", "my-cc", "1st", "", "class", "../up", "test_me", "a b", "my_cc.py", "é"])
def test_bad_names_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be the name of a controller"):
        new("controller", name, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["numpy", "random", "testbed"])
def test_names_of_modules_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=f"'{name}.py' would hide the installed module '{name}'"):
        new("controller", name, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("existing", ["my_cc.py", "test_my_cc.py"])
def test_nothing_is_overwritten(existing: str, tmp_path: Path) -> None:
    (tmp_path / existing).write_text("precious")
    with pytest.raises(BadInput, match=rf"{existing}' exists already"):
        new("controller", "my_cc", tmp_path)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["precious"]


def test_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="nowhere' does not exist"):
        new("controller", "my_cc", tmp_path / "nowhere")


def test_unknown_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="'controler' is not a kind of plugin; did you mean 'controller'"):
        new("controler", "my_cc", tmp_path)


def test_a_repository_is_a_package(tmp_path: Path) -> None:
    """Installed somewhere, its plugin has a name, and passes."""
    made = new("controller", "my_own_cc", tmp_path, repository=True)
    assert {str(file.relative_to(tmp_path)) for file in made} == {
        *("my_own_cc.py", "test_my_own_cc.py", "pyproject.toml", "README.md", ".github/workflows/tests.yml")
    }
    site = tmp_path / "site"
    install = ["install", "--quiet", "--no-deps", "--no-build-isolation", "--target", site, tmp_path]
    subprocess.run([sys.executable, "-m", "pip", *install], check=True, capture_output=True)
    checked = subprocess.run(
        [sys.executable, "-m", "testbed", "check", "my_own_cc"],
        cwd=site, env={**os.environ, "PYTHONPATH": str(site)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout + checked.stderr
    with pytest.raises(BadInput, match="a repository is written for plugins in Python"):
        new("controller", "my_c", tmp_path, "c", repository=True)
