"""Parts of runs whose figures are known, by hand."""

from __future__ import annotations

import math

import pytest

from testbed.results.summary import Summary
from testbed.sdk.score.parts import PARTS, part, together


def run(**figures: float) -> Summary:
    return Summary.model_construct(base_rtt=8e-6, **figures)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "figures", "value"),
    [
        ("utilisation", {"su": 95.0}, 0.95),
        ("fairness", {"jain_flows": 0.5}, 0.5),
        ("queue", {"ql_mean": 0.0}, 1.0),
        ("queue", {"ql_mean": 8e-6}, 0.5),  # a queue of one base RTT
        ("queue", {"ql_mean": -1e-20}, 1.0),
        ("loss", {"loss": 0.0}, 1.0),
        ("loss", {"loss": 1.0}, 0.5),
        ("slowdown_mean", {"slowdown_mean": 2.0, "fct_finished": 9, "fct_unfinished": 0}, 0.5),
        ("slowdown_p99", {"slowdown_p99": 4.0, "fct_finished": 5, "fct_unfinished": 5}, 0.125),
        ("slowdown_mean", {"slowdown_mean": math.nan, "fct_finished": 0, "fct_unfinished": 5}, 0.0),
        ("recovery", {"recovery": 80e-6, "recovered": 2, "interruptions": 2}, 0.5),
        ("recovery", {"recovery": 0.0, "recovered": 1, "interruptions": 2}, 0.5),
        ("recovery", {"recovery": math.nan, "recovered": 0, "interruptions": 2}, 0.0),
        ("fairness", {"jain_flows": math.nan}, 0.0),
    ],
)
def test_a_part_is_what_its_definition_says(name: str, figures: dict[str, float], value: float) -> None:
    assert part(name, run(**figures)) == pytest.approx(value)


def test_every_part_is_in_0_to_1() -> None:
    far = run(su=105.0, jain_flows=1.1, ql_mean=1.0, loss=100.0, slowdown_mean=0.5, slowdown_p99=0.5, recovery=-1e-6,
              recovered=1, interruptions=1, fct_finished=1, fct_unfinished=0)  # fmt: skip
    assert all(0 <= part(name, far) <= 1 for name in PARTS)


def test_parts_together_are_their_geometric_mean() -> None:
    assert together([0.25, 1.0]) == pytest.approx(0.5)
    assert together([1.0, 1.0]) == 1.0
    assert together([0.9, 0.0]) == 0.0
    assert together([]) == 0.0
