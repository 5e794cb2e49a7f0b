"""Twenty ways to look at what is no feedback of the own flow, found in the source before anything runs."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from testbed.errors import BadInput
from testbed.sdk.score.rules import broken
from tests.support.checkout import ROOT

CANDIDATE = """
import math
{top}
from testbed.controller import Ack, CompiledController, Path, Signal
from testbed.plugin import PluginConfig

class Mine(CompiledController):
    name = "mine"
    signals = Signal.RTT
    seen: float
    {body}

    def __init__(self, config: PluginConfig, path: Path) -> None:
        super().__init__(config, path)
        {init}

    def on_ack(self, ack: Ack) -> None:
        {ack}
"""
CHEATS = {  # where it stands, the cheat, and what must be said of it
    "clock": ({"top": "import time"}, "'time' may not be imported"),
    "clock by a module that has it": ({"top": "from dataclasses import sys"}, "'sys' may not be imported from"),
    "environment": ({"top": "from os import environ"}, "nothing may be imported from 'os'"),
    "environment by an annotation": ({"body": "x: \"__import__('os').nice(1)\""}, "text in an annotation"),
    "files": ({"init": "self.seen = len(open('/proc/self/stat').read())"}, "'open' may not be used"),
    "files by a local of that name": (
        {"top": "def f(open):\n    return open", "init": "open('/etc/passwd')"}, "'open' may not be used",
    ),
    "files by numpy": ({"top": "import numpy as np", "init": "np.fromfile('/x')"}, "'numpy.fromfile' may not be used"),
    "files by pydantic": ({"init": "config.parse_file('/x')"}, "'.parse_file' leads out"),
    "imports": ({"init": "__import__('time')"}, "'__import__' may not be used"),
    "eval": ({"init": "self.seen = eval('1')"}, "'eval' may not be used"),
    "attributes by name": ({"init": "self.seen = getattr(path, 'hops')"}, "'getattr' may not be used"),
    "builtins by a module": ({"init": "math.__loader__"}, "'.__loader__' leads out"),
    "classes of classes": ({"init": "().__class__.__base__.__subclasses__()"}, "'.__subclasses__' leads out"),
    "frames": ({"init": "(i for i in ()).gi_frame.f_back"}, "'.gi_frame' leads out"),
    "a module passed around": ({"top": "import numpy as np", "init": "m = np"}, "the module 'np' is passed around"),
    "random numbers": ({"top": "import random", "ack": "self.rate *= random.random()"}, "'random' may not be imported"),
    "other flows by the batch form": (
        {"top": "from testbed.controller import RateController"}, "the batch form sees all flows",
    ),
    "other flows by a global": ({"top": "count = 0", "ack": "global count"}, "'count' outlives a callback"),
    "other flows by a list": ({"top": "SEEN = []"}, "'[]' can change and is all flows'"),
    "other flows by a default": ({"body": "def f(self, kept={}):\n        return kept"}, "'{}' can change"),
    "other flows by the class": ({"init": "Mine.seen = 1.0"}, "'Mine.seen' is not this flow's to set"),
    "other flows by a method of the class": ({"init": "Mine.on_ack(Mine, None)"}, "'Mine' may only name a type"),
    "other flows by the options": ({"init": "config.rank = 1"}, "'config.rank' is not this flow's to set"),
    "other flows by the presets": (
        {"body": "presets = {'a': {}}", "init": "self.presets['a']['n'] = 1"}, "'.presets' is all flows'",
    ),
    "plain Python": ({"body": "compiled = False"}, "what is not compiled may do anything"),
    "a package of its own": ({"top": "from . import helper"}, "nothing may be imported from '.'"),
}  # fmt: skip


def written(folder: Path, **parts: str) -> Path:
    file = folder / "mine.py"
    file.write_text(CANDIDATE.format(**{"top": "", "body": "", "init": "pass", "ack": "pass"} | parts))
    return file


def test_an_honest_candidate_may_be_scored(tmp_path: Path) -> None:
    honest = written(tmp_path, top="HALF = 0.5", ack="self.rate = max(self.rate * HALF, math.sqrt(ack.rtt))")
    assert broken(honest) == []


@pytest.mark.parametrize("cheat", CHEATS)
def test_a_cheat_is_found_with_its_line(tmp_path: Path, cheat: str) -> None:
    parts, said = CHEATS[cheat]
    file = written(tmp_path, **parts)
    ast.parse(file.read_text())
    found = [one for one in broken(file) if said in one]
    assert found, broken(file)
    number = int(found[0].removeprefix(f"{file}, line ").partition(":")[0])
    assert file.read_text().splitlines()[number - 1].strip() in "\n".join(parts.values())


@pytest.mark.parametrize("name", ["swift", "hpcc", "dctcp", "timely", "rtt_template", "fixed", "nscc", "powertcp"])
def test_shipped_controllers_of_one_file_keep_the_rules(name: str) -> None:
    assert broken(ROOT / "controllers" / f"{name}.py") == []


def test_the_template_of_testbed_new_keeps_the_rules(tmp_path: Path) -> None:
    from testbed.sdk.new import new

    new("controller", "mine", tmp_path)
    assert broken(tmp_path / "mine.py") == []


@pytest.mark.parametrize(("text", "said"), [("def", "no Python"), (None, "No such file")])
def test_what_is_no_python_is_refused(tmp_path: Path, text: str | None, said: str) -> None:
    file = tmp_path / "mine.py"
    if text is not None:
        file.write_text(text)
    with pytest.raises(BadInput, match=said):
        broken(file)
