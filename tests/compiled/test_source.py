"""What cannot be compiled is refused when a controller is made: with file, line, and what to write instead."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from testbed.compiled.flows import build
from testbed.compiled.records import paths_by_flow
from testbed.compiled.source import translated
from testbed.errors import BadInput
from testbed.registry import find
from tests.support.rows import feedback, paths

HEAD = """\
import math
from typing import Literal
from testbed.controller import CompiledController, PerHop
from testbed.plugin import PluginConfig

class Options(PluginConfig):
    gain: float = 2.0
    order: Literal["first", "last"] = "last"
    file: str = "x"

def twice(x, offset=0.0):
    return x * 2 + offset

class Mine(CompiledController):
    name = "mine"
    Config = Options
    LIMIT = 3.0
    steps: int
    cwnd: float = 1.0
    kept: PerHop

    @property
    def third(self):
        return self.cwnd / 3

    def grow(self, by=1):
        self.cwnd += by
        return self.cwnd

    @staticmethod
    def half(x):
        return x / 2

    def on_ack(self, ack):
        'A docstring.'
"""


def mine(folder: Path, body: str, compiled: bool = True):  # type: ignore[no-untyped-def]
    file = folder / "mine.py"
    file.write_text(HEAD + "".join(f"        {line}\n" for line in body.splitlines()))
    plugin = find("controller", str(file))
    return build(plugin.form, plugin.configure(None, {}), paths(), compiled)


@pytest.mark.parametrize(
    ("body", "line", "says"),
    [
        ("pass\nself.windw = 4.0", 2, "Mine declares no 'windw'; did you mean 'window'?"),
        ("self.rate = self.cwndd", 1, "Mine declares no 'cwndd'; did you mean 'cwnd'?"),
        ("x = 1.0\nself.steps = x * 1.5", 2, "this field is declared int"),
        ("self.steps += 0.5", 1, "this field is declared int"),
        ("self.steps, self.cwnd = 1, 2.0", 1, "give it a line of its own"),
        (
            "if self.config.order == 'frist':\n    pass",
            1,
            "option 'order' is compared with 'frist'; did you mean 'first'?",
        ),
        ("x = self.config.order", 1, "all it can be is compared with one of first, last"),
        ("x = self.config.file", 1, "option 'file' is no number: read it in __init__"),
        ("x = self.config.gian", 1, "there is no option 'gian'; did you mean 'gain'?"),
        ("f = lambda x: x", 1, "a lambda; write a function of the module"),
        ("try:\n    x = 1\nexcept ValueError:\n    pass", 1, "try; test for what can go wrong instead"),
        ("with open('x') as f:\n    pass", 1, "with; do this in __init__"),
        ("def inner():\n    pass", 1, "a function inside of a function; move it out"),
        ("self.rate = ack.bites * 1.0", 1, "there is no 'bites'; did you mean 'bytes'?"),
        ("x = {}", 1, "a list, dict or set; declare an array in the class, or write a tuple"),
        ("x = [ack.rtt]", 1, "a list, dict or set"),
        ("x = max(i for i in (1, 2))", 1, "a comprehension; write a loop"),
        ("x = 1\nimport os", 2, "an import; write it at the top of the file"),
        ("global OFF\nOFF = 2", 1, "declare state in the class"),
        ("raise ValueError(f'{ack.rtt}')", 1, "a text with values in it"),
        ("x = (y := ack.rtt)", 1, "an assignment inside of an expression"),
        ("self.kept = ack.int_stack", 1, "an array as a whole; set its items: self.kept[i] = ..."),
        ("self.config.gain = 3.0", 1, "config is changed; keep what changes in the state"),
        ("self.path.hops = 3", 1, "path is changed; keep what changes in the state"),
        ("ack.rtt = 5.0", 1, "ack.rtt is changed; a callback sets only what its class declares"),
        ("for hop in ack.int_stack:\n    hop.queue *= 2", 2, "hop.queue is changed"),
        ("mine = self.config\nmine.gain = 3.0", 2, "mine.gain is changed"),
        ("x = self.cwnd\nx **= 2", 2, "**=; write x = x ** y"),
        ("x = ack.rtt + 'b'", 1, "add"),
        ("print('a', ack.rtt)", -1, "needs Python's memory"),
        ("self.rate = no_such_function(3)", 1, "name 'no_such_function' is not defined"),
    ],
)
def test_refused(body: str, line: int, says: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as error:
        mine(tmp_path, body)
    at = HEAD.count("\n") + line
    assert str(error.value).startswith(f"{tmp_path / 'mine.py'}, line {at}: cannot be compiled: ")
    assert says in str(error.value)
    assert "set compiled = False" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("body", "rate"),
    [
        ("self.rate = twice(self.third) * 3", 2.0),
        ("self.rate = twice(1.0, offset=3.0) + self.grow()", 7.0),
        ("self.rate = self.grow(by=4.0) + self.half(1.0)", 5.5),
        ("self.rate = self.LIMIT * math.sqrt(ack.packets)", 6.0),
        ("if self.config.order == 'last':\n    self.rate = self.config.gain", 2.0),
        ("if self.config.order != 'first':\n    self.rate = 7.0", 7.0),
        ("if self.config.order in ('first', 'last'):\n    self.rate = 8.0", 8.0),
        ("config = self.config\nif config.order == 'last':\n    self.rate = config.gain + 1", 3.0),
        ("for i in range(len(self.kept)):\n    self.kept[i] = i\nself.rate = self.kept[4]", 4.0),
        ("self.steps += 2\nself.steps = self.steps * 3\nself.rate = self.steps / 4", 1.5),
        ("while self.cwnd < 9:\n    self.cwnd *= 2\nself.rate = self.cwnd", 16.0),
        ("x: float = 3\nself.rate = max(x, ack.rtt)", 3.0),
        ("self.rate = self.path.wire_size + self.path.hops", 1001.0),
        ("self.rate = 5.0 if ack.ce_packets == 3 and len(ack.int_stack) == 0 else 6.0", 5.0),
    ],
)
@pytest.mark.parametrize("compiled", [True, False])
def test_understood(body: str, rate: float, compiled: bool, tmp_path: Path) -> None:
    one = mine(tmp_path, body, compiled)
    assert one.runs_as == ("machine code" if compiled else "Python")
    one.on_start(0.0, np.array([0]))
    one.on_feedback(1.0, np.array([0]), feedback(acked_packets=4, ce_packets=3, rtt=9e-6))
    assert one.rate[0] == rate


def test_a_controller_that_is_never_compiled_may_do_anything(tmp_path: Path) -> None:
    body = "seen = {'rtt': [ack.rtt]}\nself.rate = sum(x * 1e6 for x in seen['rtt'])"
    file = tmp_path / "mine.py"
    text = HEAD.replace("class Mine(CompiledController):", "class Mine(CompiledController):\n    compiled = False")
    file.write_text(text + "".join(f"        {line}\n" for line in body.splitlines()))
    plugin = find("controller", str(file))
    one = build(plugin.form, plugin.configure(None, {}), paths())
    one.on_start(0.0, np.array([0]))
    one.on_feedback(1.0, np.array([0]), feedback(acked_packets=4, rtt=9e-6))
    assert one.rate[0] == pytest.approx(9.0)


CONSTANTS = """\
from testbed.controller import CompiledController, Table
from testbed.plugin import PluginConfig
import numpy as np

class Options(PluginConfig):
    gain: float | None = 2.0

FACTORS = np.array([2.0, 3.0])
SIZE = 1.0

def scaled(x):
    return x * SIZE * FACTORS[0]

def other(x):
    return x + SIZE

class Mine(CompiledController):
    name = "mine"
    Config = Options
    LIMIT = 3.0
    table: Table

    def __init__(self, config, path):
        super().__init__(config, path)
        self.table = FACTORS * SIZE

    def on_ack(self, ack):
        self.rate = scaled(self.LIMIT) + self.table[1]

    def another(self, now):
        self.rate = 1.0
"""


def test_a_class_is_translated_again_when_what_it_reads_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(CONSTANTS)
    plugin = find("controller", str(file))
    form, (path,) = plugin.form, set(paths_by_flow(paths()))
    module = sys.modules[form.__module__]

    def translation(gain: float | None = 2.0):  # type: ignore[no-untyped-def]
        return translated(form(plugin.configure(None, {"gain": gain}), path))

    first = translation()
    assert translation(gain=4.0) is first
    for owner, name, value in (
        (module, "SIZE", 2.0),
        (module, "FACTORS", np.array([2.0, 4.0])),
        (module, "scaled", module.other),
        (form, "LIMIT", 4.0),
        (form, "on_cnp", form.another),  # one more event
        (form, "on_ack", form.another),
    ):
        with monkeypatch.context() as changed:
            changed.setattr(owner, name, value)
            assert translation().digest != first.digest, name
    assert translation().digest == first.digest
    module.FACTORS[1] = 5.0  # in place
    assert translation().digest != first.digest
    assert "gain" not in translation(gain=None).options
