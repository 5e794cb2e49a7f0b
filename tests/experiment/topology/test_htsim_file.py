"""Racks of htsim."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from testbed.errors import BadInput
from testbed.experiment.topology.custom import Custom
from testbed.experiment.topology.graph_file import read

THREE = """# 16 nodes, 4 ToRs
Nodes 16
Tiers 3
Podsize 8

Tier 0
Downlink_speed_Gbps 100
Radix_Down 4
Radix_Up 4
Downlink_Latency_ns 1000

Tier 1
Downlink_speed_Gbps 200
Radix_Down 4
Radix_Up 2
Bundle 2
Downlink_Latency_ns 500
Switch_Latency_ns 100

Tier 2
Downlink_speed_Gbps 400
Radix_Down 2
Downlink_Latency_ns 700
Queue_down 30
"""


def custom(folder: Path, text: str) -> Custom:
    (folder / "t.topo").write_text(text)
    return Custom(kind="custom", file=str(folder / "t.topo"))


def test_three_tiers(tmp_path: Path) -> None:
    rack = custom(tmp_path, THREE)
    shape = rack.shape
    assert rack.nodes_of == {str(n): f"h{n + 1}" for n in range(16)}
    assert [shape.edge(f"h{n}") for n in (1, 4, 5, 16)] == ["tor1", "tor1", "tor2", "tor4"]
    between = Counter((link.low.node, link.high.node) for link in shape.trunks)
    assert between["tor1", "agg1"] == between["tor2", "agg2"] == between["tor3", "agg3"] == 2  # a bundle
    assert ("tor1", "agg3") not in between
    cores = {agg: {high for low, high in between if low == agg} for agg in ("agg1", "agg2", "agg3", "agg4")}
    assert cores["agg1"] == cores["agg3"] == {"core1", "core3"}
    assert cores["agg2"] == cores["agg4"] == {"core2", "core4"}
    rates = {link.low.node[:3]: (link.rate, round(link.delay * 1e9)) for link in shape.links}
    assert rates == {"h16": (100e9, 1000)} | {host: (100e9, 1000) for host in rates if host.startswith("h")} | {
        "tor": (200e9, 550),
        "agg": (400e9, 750),
    }
    assert rack.inputs()[0].form == (
        "a topology of htsim: 16 hosts; 40 links; switches: 12; half of a switch's latency is in the delay of each of "
        "its links; without its queue sizes; see rack.switch.buffer"
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("Nodes 16", "Nodes -16"), "t.topo, line 2: expected nodes, a whole number of 1 to 65,535, as word 2"),
        (("Podsize 8\n", ""), "line 2: expected a line 'Podsize N'"),
        (("Podsize 8", "Podsize 6"), "line 6: expected Nodes in whole pods"),
        (("Tiers 3", "Tiers 2"), "expected two or three tiers, each with its block 'Tier N' (Tiers 2, 3 blocks)"),
        (("Radix_Up 4\n", ""), "line 6: expected radix_up in this tier"),
        (("Radix_Down 2", "Radix_Down 8"), "line 20: expected radix_down 2, for 2 switches below and bundles of 1"),
        (("Radix_Up 4", "Radix_Up 3"), "line 6: expected a radix_up that is a multiple of the bundle above it, 2"),
        (("Queue_down", "Colour"), "line 24: expected one of downlink_speed_gbps"),
        (("Queue_down 30", "Radix_Down 2"), "line 24: expected radix_down once in a tier"),
        (("Tier 1", "Tier 2"), "line 12: expected the number of the next tier, a whole number of 1 to 1"),
        (("Radix_Up 2", "Radix_Up 9000"), "switches"),
    ],
)
def test_bad_ones(change: tuple[str, str], says: str, tmp_path: Path) -> None:
    (tmp_path / "t.topo").write_text(THREE.replace(*change, 1))
    with pytest.raises(BadInput) as caught:
        read(tmp_path / "t.topo")
    assert says in str(caught.value).replace(f"{tmp_path}/", "")
