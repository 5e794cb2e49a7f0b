"""EQDS, by hand."""

from __future__ import annotations

import math

from controllers.credits.eqds import Eqds, EqdsConfig
from testbed.controller import Path
from testbed.receiver import Receiver

PATH = Path(100e9, 8e-6, 8e-6, 1, 1000, 1078)  # a BDP of 100 kB


def host() -> Receiver:
    return Receiver(rate=100e9, line_rate=100e9, base_rtt=8e-6, wire_size=1078)


def test_it_grants_just_less_than_the_line_rate() -> None:
    here = host()
    Eqds(EqdsConfig(), PATH).on_start(0.0, here)
    assert (here.rate, here.credit) == (99e9, 4096)
    assert here.window == 1.25 * 100e3 + 4096


def test_a_flow_begins_with_a_bandwidth_delay_product() -> None:
    assert Eqds.unasked(EqdsConfig(), PATH) == PATH.bdp
    assert Eqds.unasked(EqdsConfig(**Eqds.presets["requests"]), PATH) == 0


def test_where_switches_trim_it_is_as_published() -> None:
    here = host()
    Eqds(EqdsConfig(**Eqds.presets["trimming"]), PATH).on_start(0.0, here)
    assert here.window == math.inf
