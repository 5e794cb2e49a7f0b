"""Servers as NCCL describes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.experiment.imported.nccl import Server, is_one, read

DUMP = """<?xml version="1.0"?>
<system version="1"><cpu numaid="0">
<pci class="0x030200"><gpu dev="0"><nvlink count="18"/></gpu></pci>
<pci class="0x030200"><gpu dev="1"/></pci>
<pci class="0x020700"><nic><net name="mlx5_0" speed="400000"/></nic></pci>
</cpu></system>
"""
DEVICES = (
    '<system><pci class="0x060400"><pci class="0x030200"/><pci class="0x030200"/><pci class="0x020000"/></pci></system>'
)


@pytest.mark.parametrize(("text", "server"), [(DUMP, Server(2, 1, 400e9)), (DEVICES, Server(2, 1, 0.0))])
def test_a_server(text: str, server: Server, tmp_path: Path) -> None:
    (tmp_path / "x.xml").write_text(text)
    assert is_one(tmp_path / "x.xml")
    assert read(tmp_path / "x.xml") == server


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("</cpu>", "", "x.xml, line 6: expected NCCL's topology of a server: <system> with GPUs and NICs; it is not"),
        ("<nic>", '<nic><net speed="100000"/>', "expected NICs of one speed in Mbit/s, got 100000, 400000"),
        ("400000", "-1", "expected NICs of one speed in Mbit/s, got -1"),
        ("<system", '<!DOCTYPE x [<!ENTITY a "b">]><system', "without entities"),
    ],
)
def test_bad_ones(old: str, new: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "x.xml").write_text(DUMP.replace(old, new, 1))
    with pytest.raises(ValueError, match="expected") as caught:
        read(tmp_path / "x.xml")
    assert says in str(caught.value)


def test_no_gpus(tmp_path: Path) -> None:
    (tmp_path / "x.xml").write_text('<system><pci class="0x020000"/></system>')
    with pytest.raises(ValueError, match=r"x\.xml: expected NCCL's topology .*, got 0 GPUs and 1 NICs"):
        read(tmp_path / "x.xml")
