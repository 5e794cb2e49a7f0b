"""The same controllers in the model and in the rack, with real packets. docs/explanation/adpg.md has the figures.

DCQCN takes 20 ms to come to rest: rack (tests/engines/kernel/test_theory.py) and model (test_theory.py) are compared
with the same closed form instead, within the same bounds.
"""

from __future__ import annotations

import pytest

from tests.support.known import EIGHT, SLACK, eight, settings
from tests.support.modelled import figures
from tests.support.runs import Runs

HELD = 1 / 32 + 1 / 64  # of a base RTT: an agent gathers feedback for the one, and packets for the other
BY_RTT = {"swift", "adpg"}  # they hold the RTT, and packets wait longer or shorter by this than the virtual queue says


@pytest.mark.root
@pytest.mark.measures
@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.parametrize("controller", list(EIGHT))
def test_model_and_rack_come_to_the_same_rest(runs: Runs, controller: str) -> None:
    """Utilisation within 2 %; queue within 5 % or what the rack's agents hold back, which the fluid does not have."""
    rack = eight(runs, controller).summary
    model = figures("incast-8", settings(controller), controller=controller)
    assert model.su == pytest.approx(rack["su"], abs=2)
    queue = HELD * rack["base_rtt"] + (SLACK if controller in BY_RTT else 0)
    assert model.ql_mean == pytest.approx(rack["ql_mean"], rel=0.05, abs=queue)
    assert model.rtt_p50 == pytest.approx(rack["rtt_p50"], rel=0.05, abs=HELD * rack["base_rtt"])
    assert rack["drops"] == model.drops == 0
