"""What a search found, against its closed form: where its windows rest, and how a flow starts."""

from __future__ import annotations

import pytest

from testbed.sdk.score.score import outcome
from testbed.sdk.score.suite import QUICK
from tests.support.rows import controller, paths


def test_a_flow_starts_at_a_part_of_the_line() -> None:
    made = controller("evolved", paths(line_rate=100e9, base_rtt=8e-6))
    assert made.rate[0] == pytest.approx(0.3765 * 100e9)


@pytest.mark.parametrize(("experiment", "flows"), [("incast-2", 2), ("incast-16", 16)])
def test_utilisation_rests_where_the_formula_does(experiment: str, flows: int) -> None:
    """At w = 1/N: U = eta / (1 + yields w - W_AI / w). With packets, and links of another delay."""
    ((at, trial),) = [(at, one) for at, one in enumerate(QUICK) if one.experiment == experiment]
    found = outcome("evolved", trial, trial.seeded(11, at)).parts
    additive = 0.02 / 177
    assert found["utilisation"] == pytest.approx(0.98 / (1 + 0.029 / flows - additive * flows), abs=0.015)
    assert found["fairness"] > 0.98
    assert found["loss"] == 1
