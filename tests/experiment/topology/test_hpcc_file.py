"""Racks of the HPCC family."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.errors import BadInput
from testbed.experiment.topology.custom import Custom
from testbed.experiment.topology.graph_file import read

TWO = """6 2 5
4 5
0 4 100Gbps 1us 0
1 4 100Gbps 1us 0.01
2 5 25000000000.0 2000ns 0
3 5 25Gbps 0.002ms 0
4 5 400Gbps 1us 0
"""


def custom(folder: Path, text: str) -> Custom:
    (folder / "t.txt").write_text(text)
    return Custom(kind="custom", file=str(folder / "t.txt"))


def refused(folder: Path, text: str) -> str:
    (folder / "t.txt").write_text(text)
    with pytest.raises(BadInput) as caught:
        read(folder / "t.txt")
    return str(caught.value).replace(f"{folder}/", "")


def test_a_rack(tmp_path: Path) -> None:
    rack = custom(tmp_path, TWO)
    assert rack.nodes_of == {"0": "h1", "1": "h2", "2": "h3", "3": "h4"}
    links = rack.shape.link_of
    assert [links[host].rate for host in rack.shape.hosts] == [100e9, 100e9, 25e9, 25e9]
    assert [links[host].delay for host in rack.shape.hosts] == pytest.approx([1e-6, 1e-6, 2e-6, 2e-6])
    assert (links["h1"].loss, links["h2"].loss) == (0, 0.01)
    assert [link.rate for link in rack.shape.trunks] == [400e9]
    (said,) = rack.inputs()
    assert said.form == "a topology of the HPCC family: 4 hosts; 5 links; switches: 2"


@pytest.mark.parametrize("head", ["6 2 2 5", "6 2 2 5 25000000000 400000000000"])
def test_heads_of_descendants(head: str, tmp_path: Path) -> None:
    assert custom(tmp_path, TWO.replace("6 2 5", head, 1)).shape == custom(tmp_path, TWO).shape


def test_switches_first_and_on_several_lines(tmp_path: Path) -> None:
    text = "4 2 3\n0\n1\n0 1 1Gbps 1us 0\n2 0 1Gbps 1us 0\n3 1 1Gbps 1us 0\n"
    assert custom(tmp_path, text).nodes_of == {"2": "h1", "3": "h2"}


def test_simai(tmp_path: Path) -> None:
    """GPUs 0 to 3, NVSwitches 4 and 5, switch 6."""
    nics = "".join(f"{n} {4 + n // 2} 2400Gbps 0.000025ms 0\n{n} 6 200Gbps 0.0005ms 0\n" for n in range(4))
    rack = custom(tmp_path, f"7 2 2 1 8 H100\n4 5 6 \n{nics}")
    assert [link.rate for link in rack.shape.links] == [200e9] * 4
    assert "without its 2 NVSwitches and their 4 links" in rack.inputs()[0].form


def test_what_follows_is_left_out_as_by_the_simulators(tmp_path: Path) -> None:
    form = custom(tmp_path, f"{TWO}\nFirst line: total node #\n").inputs()[0].form
    assert form.endswith("; without what follows its 5 links, from line 9 on")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("6 2\n", "t.txt, line 1: expected a rack: YAML"),
        (
            "-6 2 5\n",
            "t.txt, line 1: expected the number of nodes, a whole number of 1 to 69,630, as word 1, got '-6 2",
        ),
        ("10000000 1 5\n", "line 1: expected the number of nodes, a whole number of 1 to 69,630"),
        ("6 7 5\n", "line 1: expected the number of switches, a whole number of 0 to 6"),
        (TWO.replace("4 5\n", "4 4\n", 1), "line 2: expected 2 different numbers of switches, got '4 4'"),
        (TWO.replace("4 5\n", "4 9\n", 1), "line 2: expected the number of a switch, a whole number of 0 to 5"),
        (TWO.replace("0 4 100Gbps 1us 0", "0 4 100Gbps 1us"), "line 3: expected a link of five words: two nodes, rate"),
        (TWO.replace("0 4 100Gbps", "0 4 fast"), "line 3: expected a link of five words"),
        (TWO.replace("0.01", "1.5"), "line 4: expected a link of five words"),
        (TWO.replace("6 2 5", "6 2 9", 1), "line 1: expected as many links as it says, but there are 5, got '6 2 9'"),
    ],
)
def test_bad_ones(text: str, says: str, tmp_path: Path) -> None:
    assert says in refused(tmp_path, text)


def test_nics_of_hosts_with_several_links_are_hosts(tmp_path: Path) -> None:
    rack = custom(tmp_path, TWO.replace("6 2 5", "6 2 6", 1) + "0 5 1Gbps 1us 0\n")
    assert [rack.nodes_of[name] for name in ("0:1", "0:2", "1")] == ["h1", "h2", "h3"]
    assert "hosts with several links: 1, each of their NICs a host" in rack.inputs()[0].form
