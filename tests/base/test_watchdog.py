"""A plugin that never returns before a run has begun: named and ended, wherever it hangs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from testbed.base import watchdog
from testbed.cli.main import main
from tests.support.failing import CONTROLLER, GOOD_THRESHOLDS, TUNER

# There is an alarm in this process, which need not be waited for.
ALARM = """
import signal, time

def forward():
    assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 60
    signal.setitimer(signal.ITIMER_REAL, 0.01)
"""
# A plugin that takes whatever is raised for its own and goes on; and one that machine code does not come back from.
STUBBORN = f"""{ALARM}
forward()
while True:
    try:
        time.sleep(60)
    except Exception:
        pass
"""
COMPILED = """
from testbed.controller import CompiledController

class Mine(CompiledController):
    name = "mine"
    count: int

    def on_start(self, now):
        while self.rate > 0:
            self.count += 1
"""
MADE = ALARM + CONTROLLER.format(init="forward(); time.sleep(60)", feedback="pass", timer="pass")
ASKED = CONTROLLER.format(init="import time; time.sleep(60)", feedback="pass", timer="pass")
FIRST = ALARM + TUNER.format(initial=f"forward() or time.sleep(60) or {GOOD_THRESHOLDS}", slot="None")


RUN = "run incast-2 --engine virtual --controller {}"
TUNED = "run incast-2 --engine virtual --set controller.compiled=false --tuner {}"


@pytest.mark.parametrize(
    ("text", "command", "said"),
    [
        (STUBBORN, RUN, (2, "plugin file '{}'", 60)),
        (STUBBORN, "check {}", (2, "plugin file '{}'", 60)),
        (MADE, RUN, (1, "controller 'mine' ({})", 60)),
        (FIRST, TUNED, (1, "tuner 'mine' ({})", 60)),
        # in a process of its own, whose parent waits: for what returns, too, such as compiling
        (ASKED, "check {}", (1, "controller 'mine' ({})", 0.5)),
        (COMPILED, "check {}", (1, "controller 'mine' ({})", 2.5)),
    ],
    ids=["import, run", "import, check", "init, run", "initial, run", "init, check", "on_start, check"],
)
def test_a_plugin_that_never_returns(
    text: str, command: str, said: tuple[int, str, float], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """As a failure in the same place: a file that cannot be loaded is bad input, a class that fails is not."""
    (file := tmp_path / "mine.py").write_text(text)
    code, who, patience = said
    patch, captured = request.getfixturevalue("monkeypatch"), request.getfixturevalue("capfd")
    patch.setattr(watchdog, "PATIENCE", patience)
    patch.setattr(sys, "argv", ["testbed", *command.format(file).split()])
    patch.chdir(tmp_path)
    assert main() == code
    out, err = captured.readouterr()
    assert out == ""
    (told,) = [line for line in err.splitlines() if line.startswith("testbed: ")]
    assert told.endswith(f"{who.format(file)} did not return for {patience:g} s of wall time, and was ended")
    assert not (tmp_path / "results").exists()
