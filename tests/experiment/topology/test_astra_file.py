"""Racks of ASTRA-sim."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.errors import BadInput
from testbed.experiment.topology.custom import Custom
from testbed.experiment.topology.graph_file import read

SWITCH = "topology: [ Switch ]\nnpus_count: [ 8 ]\nbandwidth: [ 50.0 ]  # GB/s\nlatency: [ 936.25 ]  # ns\n"


def test_a_switch(tmp_path: Path) -> None:
    (tmp_path / "n.yml").write_text(SWITCH)
    rack = Custom(kind="custom", file=str(tmp_path / "n.yml"))
    assert (len(rack.shape.hosts), rack.shape.switches) == (8, ("s1",))
    assert {(link.rate, link.delay) for link in rack.shape.links} == {(400e9, 936.25e-9)}
    assert rack.inputs()[0].form.startswith("a network of ASTRA-sim: 8 hosts")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("Switch", "Ring"), "n.yml, line 1: topology: 'Ring' has links between NPUs; expected Switch"),
        (("[ 8 ]", "[ 8, 4 ]"), "line 2: npus_count: expected a list of one dimension, as hosts have one link here"),
        (("[ 8 ]", "[ -8 ]"), "line 2: npus_count: expected a number of at least 2, got '-8'"),
        (("latency", "colour"), "line 4: colour: no such key; expected a network file of ASTRA-sim"),
    ],
)
def test_bad_ones(change: tuple[str, str], says: str, tmp_path: Path) -> None:
    (tmp_path / "n.yml").write_text(SWITCH.replace(*change, 1))
    with pytest.raises(BadInput) as caught:
        read(tmp_path / "n.yml")
    assert says in str(caught.value).replace(f"{tmp_path}/", "")
