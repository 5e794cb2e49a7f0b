"""The same controllers in the model and in the rack, with real packets. docs/adpg.md has the figures.

DCQCN takes 20 ms to come to rest: rack (tests/rack/test_theory.py) and model (test_theory.py) are held against the same
closed form instead, within the same bounds.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.commands.shared import resolve
from testbed.model.run import simulate
from tests.rack.runs import run_clean
from tests.rack.test_theory import SLACK

HELD = 1 / 32 + 1 / 64  # of a base RTT: an agent gathers feedback for the one, and packets for the other
BY_RTT = {"swift", "adpg"}  # they hold the RTT, and packets wait longer or shorter by this than the virtual queue says
RUNS = {
    "hpcc": ("time.duration=3 ms", "time.warmup=1.5 ms"),
    "swift": ("time.duration=3 ms", "time.warmup=1.5 ms"),
    "adpg": ("time.duration=6 ms", "time.warmup=3 ms", "controller.start_rate=10 %"),
}


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.parametrize("controller", list(RUNS))
def test_model_and_rack_come_to_the_same_rest(tmp_path: Path, controller: str) -> None:
    """Utilisation within 2 %; queue within 5 % or what the rack's agents hold back, which the fluid does not have."""
    settings = ["tuner.preset=secn1", *RUNS[controller]]
    options = [word for setting in settings for word in ("--set", setting)]
    rack = run_clean(tmp_path, "incast-8", "--controller", controller, *options)
    model = simulate(resolve("incast-8", {"controller": controller}, {}, settings)).figures
    assert model.su == pytest.approx(rack["su"], abs=2)
    queue = HELD * rack["base_rtt"] + (SLACK if controller in BY_RTT else 0)
    assert model.ql_mean == pytest.approx(rack["ql_mean"], rel=0.05, abs=queue)
    assert model.rtt_p50 == pytest.approx(rack["rtt_p50"], rel=0.05, abs=HELD * rack["base_rtt"])
    assert rack["drops"] == model.drops == 0
