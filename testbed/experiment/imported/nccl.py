"""Topology files of NCCL (`NCCL_TOPO_FILE`, `NCCL_TOPO_DUMP_FILE`): a server's GPUs and NICs, in XML.

GPUs and NICs are the elements ``gpu`` and ``net``, which a dump has, or else PCI devices of their class.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

LARGEST = 4 << 20  # bytes: a server's is some 20 kB
GPU_CLASSES, NIC_CLASSES = ("0x0300", "0x0302"), ("0x0200", "0x0207")
EXPECTED = "expected NCCL's topology of a server: <system> with GPUs and NICs"


@dataclass(frozen=True)
class Server:
    """What is in one."""

    gpus: int
    nics: int
    rate: float  # bit/s of a NIC; 0 if it is not said


def is_one(file: Path) -> bool:
    """Whether a file is one, by its root. Raises OSError."""
    with file.open("rb") as content:
        begin = content.read(LARGEST)
    return begin.lstrip().startswith(b"<") and b"<system" in begin


def read(file: Path) -> Server:
    """Raises ValueError with the place, or OSError."""
    text = file.read_bytes()
    if len(text) > LARGEST:
        raise ValueError(f"{file}: {EXPECTED}, of at most {LARGEST:,} bytes, got {len(text):,}")
    if b"<!ENTITY" in text:
        raise ValueError(f"{file}: {EXPECTED}, without entities")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"{file}, line {error.position[0]}: {EXPECTED}; it is not valid XML: {error}") from None
    nets = root.findall(".//net")
    gpus = len(root.findall(".//gpu")) or _devices(root, GPU_CLASSES)
    nics = len(nets) or _devices(root, NIC_CLASSES)
    if not (gpus and nics):
        raise ValueError(f"{file}: {EXPECTED}, got {gpus} GPUs and {nics} NICs")
    rates = {net.get("speed", "") for net in nets} - {""}
    if any(not rate.isdecimal() or len(rate) > len("1000000000") for rate in rates) or len(rates) > 1:
        raise ValueError(f"{file}: expected NICs of one speed in Mbit/s, got {', '.join(sorted(rates))[:60]}")
    return Server(gpus, nics, float(next(iter(rates), 0)) * 1e6)


def _devices(root: ElementTree.Element, classes: tuple[str, ...]) -> int:
    return sum(device.get("class", "").startswith(classes) for device in root.iter("pci"))
