"""Thresholds by rules: which step holds when, on ports of which rate, and what is no schedule."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from testbed.errors import BadInput
from testbed.registry import find
from testbed.tuner import Ports, PortSample, Tuner

PLUGIN = find("tuner", "schedule")
PORTS = Ports(("s1-eth1", "s1-eth2"), np.array([25e9, 100e9]), np.full(2, 4e6), 8e-6)


def tuner(steps: str) -> Tuner:
    made: Tuner = PLUGIN.form(PLUGIN.configure(None, {"steps": steps}), PORTS)
    return made


def kmax(made: Tuner, degree: tuple[float, float], mice: float = 1.0, used: float = 0.0) -> list[float]:
    """kB at the two ports, after a slot like this."""
    sample = replace(
        PortSample.idle(made.initial()),
        incast_degree=np.array(degree),
        mice_share=np.full(2, mice),
        tx_rate=used * PORTS.rate,
    )
    found = made.on_slot(0.0, sample)
    assert found is not None
    assert (found.kmin <= found.kmax).all()
    return list(found.kmax / 1e3)


def test_an_incast_is_seen_at_its_port_for_three_slots_and_at_the_switch_for_32() -> None:
    made = tuner("incast 1280/2560/5, calm 20/320/50, else 20/80/95")
    assert kmax(made, (9, 9)) == [320, 1280]  # in proportion to the rate
    assert kmax(made, (10, 2)) == [2560, 320]
    assert kmax(made, (2, 2)) == kmax(made, (2, 2)) == [2560, 320]
    assert [kmax(made, (2, 2)) for _ in range(29)] == [[80, 320]] * 29
    assert kmax(made, (2, 2)) == [320, 1280]
    assert kmax(made, (0, 10)) == [80, 4000]  # no more than the buffer
    assert kmax(tuner("incast 1280/2560/5, else 20/320/50"), (10, 0), mice=0.5) == [320, 1280]  # elephants are none


def test_load_is_that_of_the_switch_over_some_time() -> None:
    made = tuner("loaded 20/160/100, else 20/40/100")
    assert kmax(made, (2, np.nan), used=1.0) == [40, 160]
    assert [kmax(made, (2, 2), used=1.0) for _ in range(40)][-1] == [160, 640]
    assert [kmax(made, (2, 2), used=0.5) for _ in range(40)][-1] == [40, 160]


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ("incast 1/2/3", "must end with 'else KMIN/KMAX/PMAX'"),
        ("else 1/2/3, incast 1/2/3", "must end with 'else KMIN/KMAX/PMAX'"),
        ("noon 1/2/3, else 1/2/3", "'noon 1/2/3' is no step; expected one of incast, "),
        ("else 3/2/1", "Kmin must not be above Kmax"),
        ("else 1/2/101", "Pmax is 0 to 100 %"),
    ],
)
def test_what_is_no_schedule_is_refused(steps: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        PLUGIN.configure(None, {"steps": steps})
