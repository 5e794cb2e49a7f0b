"""Finding, loading and configuring plugins."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from testbed import registry as plugins
from testbed.compiled.c_library import native
from testbed.errors import BadInput
from testbed.registry import Plugin, available, failed, find
from testbed.sdk.new import new

ONE = '''
"""The module's line."""
from testbed.controller import CompiledController
from testbed.plugin import PluginConfig
from testbed.units import Time

class Options(PluginConfig):
    wait: Time = 1e-6
    gain: float = 1.0

class Mine(CompiledController):
    """Waits a little.

    And more.
    """

    name = "mine"
    Config = Options
    presets = {"short": {"wait": "2 us"}, "long": {"wait": "2 ms", "gain": 3}}

    def on_ack(self, ack):
        self.missing = 1
'''
OTHER = """
class Other(CompiledController):
    def on_ack(self, ack): ...
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    file = tmp_path / "mine.py"
    file.write_text(ONE)
    return file


def message(kind: str, spec: str) -> str:
    with pytest.raises(BadInput) as error:
        find(kind, spec)
    return str(error.value)


def test_found_by_entry_point() -> None:
    plugin = find("controller", "fixed")
    assert (plugin.kind, plugin.name, plugin.form.__name__) == ("controller", "fixed", "Fixed")
    assert plugin.origin.startswith("cc-testbed ")
    assert plugin.file.name == "fixed.py"
    assert plugin.digest == hashlib.sha256(plugin.file.read_bytes()).hexdigest()


def test_the_digest_of_a_package_covers_its_modules(tmp_path: Path) -> None:
    """Which code decided is not only what stands beside the class."""
    package = Plugin("controller", "mine", object, "here", tmp_path / "__init__.py")
    package.file.write_text(ONE)
    (tmp_path / "parts").mkdir()
    seen = {package.digest}
    for source in ("loss.py", "parts/rack.c"):
        (tmp_path / source).write_text("1")
        seen.add(package.digest)
    (tmp_path / "loss.py").write_text("2")
    seen.add(package.digest)
    assert len(seen) == 4
    (tmp_path / "log.txt").write_text("not code")
    assert package.digest in seen


def test_everything_that_ships_is_available_and_says_what_it_is() -> None:
    controllers, tuners = available("controller"), available("tuner")
    names = [plugin.name for plugin in controllers]
    assert names == sorted(names)
    assert {"dcqcn", "fixed", "hpcc", "swift"} <= set(names)
    assert "static" in [plugin.name for plugin in tuners]
    for plugin in controllers + tuners:
        assert plugin.form.name == plugin.name
        assert plugin.summary
        assert plugin.configure(None, {}) == plugin.form.Config(**dict(next(iter(plugin.form.presets.values()), {})))


def test_unknown_name_gets_the_nearest_and_the_way_to_a_file() -> None:
    text = message("controller", "dcqn")
    assert "no controller 'dcqn' is installed; did you mean 'dcqcn'?" in text
    assert "./dcqn.py" in text
    assert "no tuner 'dcqcn' is installed; allowed:" in message("tuner", "dcqcn")


def test_found_by_path(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = find("controller", str(mine))
    assert (plugin.name, plugin.origin, plugin.file) == ("mine", str(mine), mine)
    assert plugin.summary == "Waits a little."
    assert find("controller", f"{mine}:Mine").form.__name__ == "Mine"
    monkeypatch.chdir(mine.parent)
    assert find("controller", "./mine.py").name == "mine"
    assert find("controller", "mine.py").name == "mine"


def test_what_was_changed_within_a_second_is_what_runs(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is left beside it."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    before, text = mine.stat(), mine.read_text()
    assert find("controller", f"{mine}:Mine").form.name == "mine"
    mine.write_text(text.replace('name = "mine"', 'name = "ours"'))
    os.utime(mine, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert find("controller", f"{mine}:Mine").form.name == "ours"
    assert list(mine.parent.iterdir()) == [mine]


def test_class_without_a_name_is_called_by_its_class(mine: Path) -> None:
    mine.write_text(ONE.replace('    name = "mine"\n', ""))
    assert find("controller", str(mine)).name == "Mine"


def test_several_classes_need_a_choice(mine: Path) -> None:
    mine.write_text(ONE + OTHER)
    text = message("controller", str(mine))
    assert "should define one controller" in text
    assert f"it defines Mine, Other: name one, as in {mine}:Mine" in text
    assert find("controller", f"{mine}:Other").form.__name__ == "Other"
    assert "defines no controller class 'Othr'; did you mean 'Other'?" in message("controller", f"{mine}:Othr")


def test_imported_and_abstract_classes_do_not_count(mine: Path) -> None:
    mine.write_text("from testbed.controller import CompiledController\nfrom testbed_controllers.hpcc import Hpcc\n")
    assert "it defines none" in message("controller", str(mine))
    mine.write_text("from testbed.controller import RateController\nclass Half(RateController): pass\n")
    assert "it defines none" in message("controller", str(mine))


def test_wrong_kind(mine: Path) -> None:
    assert "should define one tuner (a subclass of Tuner); it defines none" in message("tuner", str(mine))


@pytest.mark.parametrize("name", ["mine.txt", "mine.cpp"])
def test_what_is_no_source_is_told_what_plugins_are(name: str, mine: Path) -> None:
    (mine.parent / name).write_bytes(b"\x7fELF")
    said = message("controller", f"{mine.parent / name}:Mine")
    assert f"{name}' is neither Python nor C" in said
    assert "./my_cc.py:MyCC" in said


def test_a_shared_object_that_is_none_is_told(mine: Path) -> None:
    (mine.parent / "mine.so").write_bytes(b"\x7fELF")
    assert "mine.so' cannot be loaded" in message("controller", str(mine.parent / "mine.so"))


@pytest.mark.parametrize("name", ["nowhere.c", "nowhere.so"])
def test_a_file_in_c_is_no_name(name: str) -> None:
    assert f"plugin file '{name}' does not exist" in message("controller", name)


def test_a_file_that_ends_python_is_told(mine: Path) -> None:
    mine.write_text("raise SystemExit(0)")
    assert "line 1: SystemExit: 0" in message("controller", str(mine))


def test_missing_file() -> None:
    assert "plugin file './nowhere.py' does not exist (looked at /" in message("controller", "./nowhere.py")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import os\n\nx = 1 / 0\n", "line 3: ZeroDivisionError: division by zero"),
        ("x = 1\ndef f(:\n", "line 2: SyntaxError"),
        ("import no_such_module\n", "line 1: ModuleNotFoundError: No module named 'no_such_module'"),
    ],
)
def test_file_that_cannot_be_loaded(text: str, expected: str, mine: Path) -> None:
    mine.write_text(text)
    assert f"plugin file '{mine}', {expected}" in message("controller", str(mine))


def test_two_installed_plugins_of_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [EntryPoint("dcqcn", value, "testbed.controllers") for value in ("a.b:C", "d.e:F", "a.b:C")]
    monkeypatch.setattr(plugins, "entry_points", lambda group: entries if group == "testbed.controllers" else [])
    text = message("controller", "dcqcn")
    assert text == "two installed controllers are named 'dcqcn': a.b:C and d.e:F; uninstall one"
    entries.pop(1)  # the same one twice is no collision
    assert "cannot be loaded" in message("controller", "dcqcn")


def test_installed_plugin_that_cannot_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [EntryPoint("gone", "testbed.units:Gone", "testbed.controllers")]
    monkeypatch.setattr(plugins, "entry_points", lambda group: entries)  # noqa: ARG005 - the signature
    assert "controller 'gone' (testbed.units:Gone) cannot be loaded" in message("controller", "gone")


def test_an_entry_point_and_its_class_have_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [EntryPoint("brisk", "testbed_controllers.swift:Swift", "testbed.controllers")]
    monkeypatch.setattr(plugins, "entry_points", lambda group: entries)  # noqa: ARG005 - the signature
    assert message("controller", "brisk") == (
        "controller 'brisk' (testbed_controllers.swift:Swift): its class is named 'swift'; give entry point and class "
        "one name"
    )


def in_a_package(folder: Path, monkeypatch: pytest.MonkeyPatch, file: str) -> None:
    """An installed package whose entry point names a file beside its modules."""
    package = folder / "their_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    new("controller", "brisk", package, "c")
    if file.endswith(".so"):
        shutil.copy(native(package / "brisk.c").library, package / file)
        (package / "brisk.c").unlink()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "their_package", raising=False)
    entries = [EntryPoint("brisk", f"their_package:{file}", "testbed.controllers")]
    monkeypatch.setattr(plugins, "entry_points", lambda group: entries if group == "testbed.controllers" else [])


@pytest.mark.parametrize("file", ["brisk.c", "brisk.so"])
def test_an_entry_point_may_name_c(file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_a_package(tmp_path, monkeypatch, file)
    plugin = find("controller", "brisk")
    assert (plugin.name, plugin.file) == ("brisk", tmp_path / "their_package" / file)
    assert plugin.form.native.file == plugin.file
    assert [one.name for one in available("controller")] == ["brisk"]
    assert plugin.configure(None, {"cut": 0.4}).model_dump()["cut"] == 0.4


def test_an_entry_point_that_names_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_a_package(tmp_path, monkeypatch, "brisk.c")
    (tmp_path / "their_package" / "brisk.c").unlink()
    text = message("controller", "brisk")
    assert text.startswith("controller 'brisk' (their_package:brisk.c) cannot be loaded: there is no ")


def test_configuring(mine: Path) -> None:
    plugin = find("controller", str(mine))
    assert plugin.configure(None, {}).model_dump() == pytest.approx({"wait": 2e-6, "gain": 1.0})
    assert plugin.configure("long", {}).model_dump() == pytest.approx({"wait": 2e-3, "gain": 3.0})
    assert plugin.configure("long", {"gain": 5}).model_dump() == pytest.approx({"wait": 2e-3, "gain": 5.0})


@pytest.mark.parametrize(
    ("preset", "options", "expected"),
    [
        ("shrt", {}, "controller 'mine' has no preset 'shrt'; did you mean 'short'? (allowed: long, short)"),
        (None, {"gian": 1}, "controller 'mine' has no option 'gian'; did you mean 'gain'? (allowed: gain, wait)"),
        (None, {"wait": "5"}, "controller 'mine', option 'wait': '5' has no unit for a time"),
        (None, {"wait": "5 kB"}, "controller 'mine', option 'wait': '5 kB' has unknown unit 'kB' for a time"),
        (None, {"gain": "much"}, "controller 'mine', option 'gain': expected a number, got 'much'"),
    ],
)
def test_wrong_options(preset: str | None, options: dict[str, object], expected: str, mine: Path) -> None:
    with pytest.raises(BadInput) as error:
        find("controller", str(mine)).configure(preset, options)
    assert expected in str(error.value)


def test_a_callback_that_raised_is_told_with_file_and_line(mine: Path) -> None:
    plugin = find("controller", str(mine))
    line = next(number for number, text in enumerate(ONE.splitlines(), 1) if "self.missing" in text)
    with pytest.raises(AttributeError) as raised:
        plugin.form.on_ack(object(), None)
    text = str(failed(plugin, raised.value))
    assert (
        text == f"controller 'mine' ({mine}, line {line}): AttributeError: 'object' object has no attribute 'missing'"
    )
