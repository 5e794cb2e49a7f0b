"""What SU is a share of: the rate of the wire to a receiver, and never what one of several senders may send."""

from __future__ import annotations

import pytest

from testbed.engines.lab.operator import restrictions
from testbed.engines.lab.operator.observed_run import ObservedRun
from testbed.errors import BadInput
from testbed.experiment.load import load, resolve
from tests.engines.lab.inventories import hosts


def observed(**variables: object) -> ObservedRun:
    lab = hosts(3, **variables)
    decided = [f"{key}={value}" for key, value in restrictions.settings(lab).items()]
    return ObservedRun(resolve(load("incast-2").apply(decided)), lab)


def test_the_interface_says_it_or_the_inventory() -> None:
    run = observed(testbed_rate="1 Gbit/s")
    run.set_port_rates([100e9, 100e9, 25e9])
    assert run.port_rate.tolist() == [100e9, 100e9, 25e9]
    run = observed(testbed_port_rate="10 Gbit/s")
    run.set_port_rates([100e9, 100e9, 0.0])
    assert run.port_rate.tolist() == [10e9] * 3


def test_an_interface_that_does_not_say_it() -> None:
    with pytest.raises(BadInput) as caught:
        observed().set_port_rates([0.0, 100e9, 0.0])
    lines = str(caught.value).splitlines()
    assert [line.strip().partition(";")[0] for line in lines[1:]] == [
        "lab1: eth0 does not tell its speed",
        "lab3: eth0 does not tell its speed",
    ]
    assert 'as in testbed_port_rate: "10 Gbit/s"' in lines[1]
