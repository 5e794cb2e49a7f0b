"""What sweeps of the tests are made of."""

from __future__ import annotations

from testbed.results.sweep_plan import Plan
from testbed.runs.sweep import prepare
from testbed.runs.sweep.grid import Request

CONTROLLER = """
from testbed.controller import RateController

class Mine(RateController):
    name = 'mine'

    def on_feedback(self, now, flows, feedback):
        pass
"""


def plan(
    *settings: str, experiment: str = "incast-2", controller: str = "dcqcn,swift,hpcc", repeat: int = 4,
    order_seed: int = 1,
) -> Plan:  # fmt: skip
    """Of three controllers and four repeats, unless it is said otherwise."""
    request = Request.parse(experiment, controller, "", settings, repeat=repeat, seed=None)
    return prepare.planned(request, order_seed, ["testbed", "sweep"])
