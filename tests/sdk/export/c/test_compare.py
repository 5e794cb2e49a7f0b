"""Every compiled controller, written as C and brought in again, decides the same; what cannot be written is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from testbed.compiled.c_library import HEADER
from testbed.controller import CompiledController
from testbed.registry import Plugin, available, find
from testbed.sdk.conformance.trial import RTT, Trial, experiment
from testbed.sdk.export.c.compare import compared, exported
from testbed.sdk.export.c.whole import CannotExport

NAMES = [one.name for one in available("controller") if issubclass(one.form, CompiledController)]
MINE = """\
import math

from testbed.controller import Ack, CompiledController, Path, PerHop, Signal
from testbed.plugin import PluginConfig

LIMIT = 7


class Options(PluginConfig):
    gain: float = 0.5
    text: str = "something"


class Mine(CompiledController):
    name = "mine"
    signals = Signal.INT
    Config = Options
    config: Options
    steps: int
    queues: PerHop
    share: float

    def __init__(self, config: Options, path: Path) -> None:
        super().__init__(config, path)
        self.share = {"something": 0.25}[config.text]

    def on_ack(self, ack: Ack) -> None:
        STATEMENTS
"""
STATEMENTS = {
    "whole numbers": "self.steps = (self.steps - ack.seq) // -7 % 5 + ack.seq % -9; self.window = 1e3 + self.steps",
    "floor and remainder": "self.window = 1 + ack.rtt * 1e6 % 7.5 + (ack.rtt * 1e6) // 0.3; self.timer = -ack.rtt % 2",
    "rounding": "self.window = 1 + round(ack.rtt * 5e5) + int(ack.rtt * 1e6) + math.ceil(-ack.rtt * 1e6) + 1e6",
    "conditions": "self.window = 1.0 + (ack.seq if 3 < ack.packets < 6 or not ack.ce_packets and ack.rtt else 0.5)",
    "least of numbers": "self.window = max(min(ack.bytes, 5, ack.rtt), 1e-9) + max(ack.seq, 3) + abs(-ack.seq)",
    "either value": "self.window = (ack.ce_packets or ack.rtt) + 1",
    "bits": "self.steps ^= ack.seq << 3 | ack.next_seq >> 1 & 12; self.window = 1 + abs(self.steps)",
    "several at once": "a, b = ack.rtt, ack.now; a, b = b, a + b; self.window, self.timer = 1 + a, b",
    "loops": (
        "n = len(ack.int_stack)\n"
        "        for i, hop in enumerate(ack.int_stack):\n"
        "            self.queues[i] += hop.queue * self.config.gain\n"
        "            if i == 3:\n"
        "                break\n"
        "        total = 1.0\n"
        "        for i in range(n - 1, -1, -1):\n"
        "            total += self.queues[i]\n"
        "        while total > 1e6:\n"
        "            total /= LIMIT\n"
        "        self.window = total"
    ),
    "a power": "self.window = 1 + (1 + ack.rtt) ** 2.5 + math.sqrt(ack.now) + math.log(1 + ack.rtt) + 2**40",
}
REFUSED = {
    "a set": ("self.window = 1.0 if ack.seq in (1, 2) else 2.0", "has no form in C"),
    "recursion": (
        "self.again(ack.now)\n\n    def again(self, x: float) -> None:\n        self.again(x)",
        "calls itself",
    ),
    "an exception": ("raise ValueError", "has no form in C"),
}


def plugin(folder: Path, statements: str) -> Plugin:
    (folder / "mine.py").write_text(MINE.replace("STATEMENTS", statements.replace("; ", "\n        ")))
    return find("controller", str(folder / "mine.py"))


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_one_makes_the_same_run(name: str, tmp_path: Path) -> None:
    """Byte for byte: what it was told, and what it decided, in a run with losses on the virtual engine."""
    ours = find("controller", name)
    config = ours.configure(None, {})
    made = exported(ours, config)
    (tmp_path / "exported.c").write_text(made.text)
    theirs = find("controller", str(tmp_path / "exported.c"))
    runs = experiment(3, 40 * RTT, gap=10 * RTT, loss=0.005)
    one = Trial(ours, config, runs).ran()
    other = Trial(theirs, theirs.configure(None, {}), runs).ran()
    assert len(one.decided["rate"]) > 500
    assert one.digest == other.digest
    assert one.port_series.tx_bytes.tobytes() == other.port_series.tx_bytes.tobytes()
    assert theirs.form.signals == ours.form.signals
    assert theirs.form.cnp_interval(theirs.configure(None, {})) == ours.form.cnp_interval(config)
    assert theirs.form.thresholds == ours.form.thresholds


@pytest.mark.parametrize("case", STATEMENTS)
def test_arithmetic_is_that_of_python(case: str, tmp_path: Path) -> None:
    one = plugin(tmp_path, STATEMENTS[case])
    config = one.configure(None, {})
    found = compared(exported(one, config), one, config)
    assert found.different == 0
    assert found.raised < 1000


def test_a_difference_is_found(tmp_path: Path) -> None:
    one = plugin(tmp_path, "self.window = 1000.0 + ack.rtt")
    config = one.configure(None, {})
    made = exported(one, config)
    assert "1000.0 + ack->rtt" in made.text
    changed = replace(made, text=made.text.replace("1000.0 + ack->rtt", "ack->rtt + 1000.0000001"))
    found = compared(changed, one, config)
    assert found.different > 50_000
    assert found.first == "on_ack"


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_form_is_told_with_its_line(case: str, tmp_path: Path) -> None:
    statements, said = REFUSED[case]
    one = plugin(tmp_path, statements)
    with pytest.raises(CannotExport, match=rf"mine.py, line \d+: cannot be written as C: .*{said}"):
        exported(one, one.configure(None, {}))


def test_what_only_python_can_begin_with_stands_as_a_number(tmp_path: Path) -> None:
    one = plugin(tmp_path, "self.window = ack.bytes * self.share")
    made = exported(one, one.configure(None, {}))
    assert "\tflow->share = 0.25;\n" in made.text
    assert " * Fixed in it: text = something\n" in made.text


def test_names_comments_and_options_are_those_of_the_source(tmp_path: Path) -> None:
    one = plugin(
        tmp_path, "step = ack.rtt  # of the window\n        # Larger than nothing.\n        self.window = 1 + step"
    )
    text = exported(one, one.configure(None, {"gain": 0.75})).text
    assert "\tdouble step = ack->rtt; /* of the window */\n" in text
    assert "\t/* Larger than nothing. */\n\tflow->window = 1.0 + step;\n" in text
    assert 'option(double, gain, 0.75, "", "", "")' in text
    assert HEADER.name in text
