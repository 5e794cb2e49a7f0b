"""The trees and the control loop around them, per flow: as the loop for networks, in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from testbed_controllers.adpg import Adpg
from testbed_controllers.adpg.controller import AdpgController, Policy
from testbed_controllers.adpg.observation import AdpgConfig

from testbed.base.arrays import Ints
from testbed.compiled.flows import CompiledFlows, build
from testbed.controller import Feedback
from tests.controllers.adpg.loops import TREES
from tests.support.rows import paths

KEPT = ("share", "rate", "ready", "timer", "window")


class InNumpy(AdpgController):
    """The loop for networks, with the trees as its policy."""

    name = "in-numpy"

    @classmethod
    def load(cls, config: AdpgConfig) -> Policy:  # noqa: ARG003 - the shipped one
        return TREES


def assert_equal(mine: CompiledFlows, reference: InNumpy) -> None:
    for name in KEPT:
        np.testing.assert_array_equal(mine.records[name], getattr(reference, name), err_msg=name)


def heard(rng: np.random.Generator, sent: Ints, flows: Ints) -> Feedback:
    """Answers of any age, some without an RTT; more is sent meanwhile."""
    nothing = np.zeros(len(flows), np.int64)
    acked = (sent[flows] * rng.uniform(0.5, 1.0, len(flows))).astype(np.int64)
    sent[flows] += rng.integers(1, 5, len(flows))
    rtt = rng.uniform(7e-6, 60e-6, len(flows))
    rtt[rng.random(len(flows)) < 0.05] = np.nan
    return Feedback(
        nothing + 1, nothing + 1000, acked, sent[flows], nothing, rtt, nothing, nothing, nothing, nothing
    )  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [{}, {"decision_delay": "3 us"}, {"beta": 1.2, "reference_rtt": "20 us"}, {"window": "bdp", "reference_rtt": 0}],
)
def test_machine_code_decides_as_numpy_does(options: dict[str, object]) -> None:
    """Always, to the last bit."""
    config, on, rng = AdpgConfig.model_validate(options), paths(16), np.random.default_rng(3)
    mine, reference = build(Adpg, config, on), InNumpy(config, on)
    assert isinstance(mine, CompiledFlows)
    assert mine.runs_as == "machine code"
    sent, now = np.zeros(16, np.int64), 0.0
    for one in (mine, reference):
        one.on_start(now, np.arange(16))
    for number in range(1500):
        now += 1e-6 * (number % 3 > 0)  # some come at the same time
        flows = np.sort(rng.choice(16, rng.integers(1, 17), replace=False))
        told = heard(rng, sent, flows)
        for one in (mine, reference):
            one.on_feedback(now, flows, told)
            if len(due := np.flatnonzero(one.timer <= now)):
                one.on_timer(now, due)
            if number % 100 == 1:
                one.on_start(now, np.array([2, 5]))
        assert_equal(mine, reference)
    assert len(set(reference.share)) > 10  # they did decide
