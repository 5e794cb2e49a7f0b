"""The fixed rate."""

from __future__ import annotations

import pytest

from testbed.errors import BadInput
from testbed.registry import find
from tests.support.rows import ONE, controller, feedback, paths


@pytest.mark.parametrize(
    ("given", "rate"),
    [("40 Gbit/s", 40e9), ("50 %", 50e9), (0.25, 25e9), ("400 Gbit/s", 100e9), ("100 %", 100e9)],
)
def test_rate(given: object, rate: float) -> None:
    fixed = controller("fixed", paths(3), rate=given)
    assert fixed.rate.tolist() == [rate] * 3


def test_line_rate_by_default_and_no_reaction() -> None:
    fixed = controller("fixed", paths())
    fixed.on_feedback(1.0, ONE, feedback(acked_packets=9, ce_packets=9, cnps=9, lost_packets=9, timeouts=1, rtt=1.0))
    assert fixed.rate[0] == 100e9
    assert find("controller", "fixed").form.adaptive is False


@pytest.mark.parametrize("given", ["fast", "0 %", "-1 Gbit/s", 40, "40 Gbyte"])
def test_refuses(given: object) -> None:
    with pytest.raises(BadInput, match="controller 'fixed', option 'rate'"):
        find("controller", "fixed").configure(None, {"rate": given})


def test_options_survive_a_round_trip() -> None:
    plugin = find("controller", "fixed")
    config = plugin.configure(None, {"rate": "40 Gbit/s"})
    assert plugin.configure(None, config.model_dump(mode="json")) == config
