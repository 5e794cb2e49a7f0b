"""Links in wall-clock units: rates shrink, delays grow, and the names stay."""

from __future__ import annotations

import pytest

from testbed.clock import Clock
from testbed.engines.kernel.rack.wall import wall_links
from testbed.experiment.topology.framing import Framing
from testbed.experiment.topology.paths import netem_delay
from testbed.experiment.topology.shape import LinkKind, star

SHAPE = star(2, LinkKind("link", rate=100e9, delay=2e-6))
CLOCK = Clock(dilation=1000.0)


def test_rates_and_delays_are_dilated_once() -> None:
    one, two = wall_links(SHAPE, CLOCK)
    assert (one.rate, one.delay) == (pytest.approx(100e6), pytest.approx(2e-3))
    assert (one.nominal, two.nominal) == SHAPE.links
    assert one.netem is None  # the agents delay feedback


def test_netem_delays_propagation_and_serialisation() -> None:
    framing = Framing(payload=1000)
    one, _ = wall_links(SHAPE, CLOCK, netem=framing)
    assert one.netem == pytest.approx(1000 * netem_delay(SHAPE.links[0], framing))
