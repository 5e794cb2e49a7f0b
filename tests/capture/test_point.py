"""Names of points: what the user may write, and what is said of anything else."""

from __future__ import annotations

import pytest

from testbed.capture.point import points
from testbed.errors import BadInput
from testbed.experiment.topology.shape import LinkKind, star

LINK = LinkKind("link", 1e9, 0.0)


def test_points_are_ports_and_nics_each_once_in_the_order_given() -> None:
    found = points(["nic:h3", "port:s1-eth65", "nic:h3"], star(65, LINK))
    assert [point.name for point in found] == ["nic:h3", "port:s1-eth65"]
    assert [point.file for point in found] == ["nic-h3.pcapng", "port-s1-eth65.pcapng"]
    assert points([], star(2, LINK)) == []


@pytest.mark.parametrize("name", ["port:s1-eth0", "port:s1-eth4", "nic:h4", "nic:h0", "h1", "", "port:s2-eth1", "nic:"])
def test_unknown_point_names_what_there_is(name: str) -> None:
    with pytest.raises(BadInput) as error:
        points([name], star(3, LINK))
    assert f"--pcap {name}: there is no such point" in str(error.value)
    assert "port:s1-eth1 ... port:s1-eth3 and nic:h1 ... nic:h3" in str(error.value)


def test_nearest_point_is_suggested() -> None:
    with pytest.raises(BadInput, match=r"did you mean 'port:s1-eth3'\?"):
        points(["s1-eth3"], star(3, LINK))
