"""When a trained policy is refused."""

from __future__ import annotations

import pytest
from testbed_plugins.learned.job import _refused


@pytest.mark.parametrize(
    ("ahead", "why"),
    [((0.009, 0.003), ""), ((-0.001, 0.007), ""), ((-0.009, 0.007), "websearch: less reward than secn1")],
)
def test_a_policy_that_is_certainly_behind_static_thresholds_is_refused(ahead: tuple[float, float], why: str) -> None:
    assert _refused({"websearch": {"ahead": {"secn1": ahead, "secn2": (0.03, 0.01)}}}) == why
