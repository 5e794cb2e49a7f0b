"""Experiments that a lab accepts or refuses."""

from __future__ import annotations

import pytest

from testbed.engines.lab.operator import restrictions
from testbed.errors import BadInput
from testbed.experiment.load import load, resolve
from tests.engines.lab.inventories import hosts

REFUSED = {
    "dilation": (["time.dilation=10"], "time.dilation: time is real in a lab"),
    "rack": (["rack.kind=dumbbell"], "rack.kind: dumbbell: the lab's switches are as they are cabled"),
    "links": (["rack.links=[{of: h1, delay: 9 us}]"], "rack.links: the lab's links are as they are"),
    "loss": (["rack.link.loss=1 %"], "rack.link.loss: real links lose what they lose"),
    "pfc": (["rack.switch.pfc=on"], "rack.switch.pfc: priority flow control is the switch's"),
    "tuner": (["tuner=acc"], "tuner: acc runs in the rack's switches"),
    "receiver": (["receiver=eqds"], "receiver: not over a lab's wires yet"),
    "int": (["controller={name: hpcc}"], "controller: hpcc decides by INT, which the lab's switches do not write"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_only_a_rack_has_is_refused(case: str) -> None:
    settings, told = REFUSED[case]
    lab = hosts(8)
    decided = [f"{key}={value}" for key, value in restrictions.settings(lab).items()]
    resolved = resolve(load("incast-2").apply([*decided, *settings]))
    with pytest.raises(BadInput, match="incast-2 cannot run over") as caught:
        restrictions.check(resolved, lab)
    assert told in str(caught.value)


def test_int_is_used_where_switches_write_it() -> None:
    lab = hosts(8, testbed_int_hops=1)
    decided = [f"{key}={value}" for key, value in restrictions.settings(lab).items()]
    restrictions.check(resolve(load("incast-2").apply([*decided, "controller={name: hpcc}"])), lab)


def test_time_is_real_and_links_are_as_fast_as_hosts_may_send() -> None:
    assert restrictions.settings(hosts(1, testbed_rate="3 Gbit/s")) == {
        "time.dilation": "1",
        "rack.link.rate": "3 Gbit/s",
    }
