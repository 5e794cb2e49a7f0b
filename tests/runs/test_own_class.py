"""Classes of a script or of a notebook's cells."""

from __future__ import annotations

import linecache
from pathlib import Path
from types import ModuleType

import pytest
from testbed_controllers.hpcc import Hpcc

from testbed.errors import BadInput
from testbed.registry import find
from testbed.runs.own_class import spec

IMPORTS = """\
import math
import numpy as np
from testbed.controller import Ack, CompiledController, Path, PerHop, Signal
from testbed.plugin import PluginConfig
"""
HELPERS = """\
CUT = 0.8
FAR = float("inf")

def half(rate, by):
    return rate * math.sqrt(by)
"""
BASE = """\
class Base(CompiledController):
    floor: float

    def __init__(self, config: PluginConfig, path: Path) -> None:
        super().__init__(config, path)
        self.floor = 1e6
"""
MINE = """\
class Mine(Base):
    signals = Signal.CE
    queues: PerHop

    def on_ack(self, ack: Ack) -> None:
        if ack.ce_packets:
            self.rate = max(half(self.rate, CUT), self.floor)
        self.window = FAR
"""


@pytest.fixture
def cells(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """A module ``__main__`` without a file, as a notebook's is."""
    monkeypatch.setenv("TESTBED_CACHE", str(tmp_path))
    module = ModuleType("__main__")
    monkeypatch.setitem(__import__("sys").modules, "__main__", module)
    return module


def execute(module: ModuleType, *texts: str) -> None:
    for text in texts:
        name = f"<cell {hash(text)}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile(text, name, "exec", dont_inherit=True), vars(module))


def test_a_class_of_cells_is_a_plugin_with_all_that_it_uses(cells: ModuleType) -> None:
    execute(cells, IMPORTS, HELPERS, BASE, MINE)
    plugin = find("controller", spec("controller", cells.Mine))
    text = plugin.file.read_text()
    assert plugin.name == "Mine"
    assert "numpy" not in text
    assert plugin.form.on_ack.__globals__["CUT"] == 0.8
    assert plugin.form.on_ack.__globals__["FAR"] == float("inf")
    assert {"floor", "queues"} <= plugin.form.fields().keys()


def test_the_same_class_has_the_same_file_and_another_one_another(cells: ModuleType) -> None:
    execute(cells, IMPORTS, HELPERS, BASE, MINE)
    first = spec("controller", cells.Mine)
    assert spec("controller", cells.Mine) == first
    execute(cells, "CUT = 0.7\n")
    assert spec("controller", cells.Mine) != first


def test_what_is_installed_or_in_a_module_keeps_its_name(cells: ModuleType) -> None:  # noqa: ARG001
    assert spec("controller", Hpcc) == "hpcc"
    assert spec("controller", "./my_cc.py") == "./my_cc.py"


@pytest.mark.parametrize(
    ("before", "why"),
    [
        ("CUT = np.zeros(3)\n", "'CUT' is a value \\(ndarray\\) that cannot be written down"),
        ("other = half\ndel half\n", "'half'"),
    ],
)
def test_what_cannot_be_written_down_is_refused(cells: ModuleType, before: str, why: str) -> None:
    if "del half" in before:  # an alias: the file would not know it
        execute(cells, IMPORTS, HELPERS, BASE, MINE.replace("half(", "other("), "other = half\n")
        why = "'other' is half by another name"
    else:
        execute(cells, IMPORTS, HELPERS, BASE, MINE, before)
    with pytest.raises(BadInput, match=why):
        spec("controller", cells.Mine)


def test_a_class_that_needs_the_function_around_it_is_refused(cells: ModuleType) -> None:
    inside = MINE.replace("CUT", "by").replace("\n", "\n    ")
    execute(cells, IMPORTS, HELPERS, BASE, f"def made(by):\n    {inside}\n    return Mine\n")
    with pytest.raises(BadInput, match="'by' belongs to a function around the class"):
        spec("controller", cells.made(0.5))
