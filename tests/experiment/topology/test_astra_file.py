"""Racks of ASTRA-sim."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.errors import BadInput
from testbed.experiment.topology.custom import Custom
from testbed.experiment.topology.graph_file import read
from testbed.experiment.topology.routes import Routes
from testbed.experiment.topology.shape import Shape

SWITCH = "topology: [ Switch ]\nnpus_count: [ 8 ]\nbandwidth: [ 50.0 ]  # GB/s\nlatency: [ 936.25 ]  # ns\n"


def test_a_switch(tmp_path: Path) -> None:
    (tmp_path / "n.yml").write_text(SWITCH)
    rack = Custom(kind="custom", file=str(tmp_path / "n.yml"))
    assert (len(rack.shape.hosts), rack.shape.switches) == (8, ("s1",))
    assert {(link.rate, link.delay) for link in rack.shape.links} == {(400e9, 936.25e-9)}
    assert rack.inputs()[0].form.startswith("a network of ASTRA-sim: 8 hosts")


def shape(folder: Path, kinds: str, npus: str) -> Shape:
    count = kinds.count(",") + 1
    lists = f"bandwidth: {[50.0 / (n + 1) for n in range(count)]}\nlatency: {[100.0] * count}\n"
    (folder / "n.yml").write_text(f"topology: [{kinds}]\nnpus_count: [{npus}]\n{lists}")
    return Custom(kind="custom", file=str(folder / "n.yml")).shape


@pytest.mark.parametrize(
    ("kinds", "npus", "are"),
    [
        ("Ring", "8", (8, 5, 800)),
        ("FullyConnected", "6", (15, 2, 2000)),
        ("Ring, Ring", "4, 8", (32 + 32, 1 + 2 + 4, 800 + 400)),  # a torus
        ("Ring, Ring, Ring", "2, 2, 2", (12, 1 + 3, 400 + 200 + 400 / 3)),  # a hypercube
        ("Switch, Ring", "8, 4", (32 + 32, 1 + 2 + 2, 400 + 400)),
        ("Ring, FullyConnected, Switch", "2, 8, 4", (32 + 224 + 64, 1 + 1 + 1 + 2, 400 + 7 * 200 + 400 / 3)),
    ],
)
def test_grids(kinds: str, npus: str, are: tuple[int, int, float], tmp_path: Path) -> None:
    """Links, switches on the longest way and Gbit/s of an NPU are those of the closed forms."""
    one = shape(tmp_path, kinds, npus)
    assert (len(one.trunks), Routes(one).most_hops) == are[:2]
    assert [one.line_rate(host) for host in one.hosts] == pytest.approx([are[2] * 1e9] * len(one.hosts))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("Switch", "Cube"), "n.yml, line 1: topology: 'Cube' is none of Ring, FullyConnected, Switch"),
        (("[ 8 ]", "[ 8, 4 ]"), "line 2: npus_count: expected a list of dimensions, 1, as topology has, got 2 of them"),
        (("[ 8 ]", "[ -8 ]"), "line 2: npus_count: expected a number of at least 1, got '-8'"),
        (("50.0", "tbd"), "line 3: bandwidth: expected a number of at least 1e-06, got 'tbd'"),
        (("[ 8 ]", "[ 900000 ]"), "line 2: npus_count: makes 900,000 NPUs with 900,000 links; from 2 to 65,535 NPUs"),
        (("latency", "colour"), "line 4: colour: no such key; expected a network file of ASTRA-sim"),
    ],
)
def test_bad_ones(change: tuple[str, str], says: str, tmp_path: Path) -> None:
    (tmp_path / "n.yml").write_text(SWITCH.replace(*change, 1))
    with pytest.raises(BadInput) as caught:
        read(tmp_path / "n.yml")
    assert says in str(caught.value).replace(f"{tmp_path}/", "")
