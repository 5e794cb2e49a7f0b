"""Counters of a NIC: hardware counters and port counters in sysfs, PFC by `ethtool -S`."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from testbed.engines.lab.exporter.devices import Device
from testbed.engines.lab.exporter.files import Files
from testbed.live.lab_names import HARDWARE

WORD = 4  # bytes: what port_xmit_data counts
PATIENCE = 2.0  # s
PAUSES = re.compile(r"^\s*(rx|tx)_prio(\d)_pause(_duration)?:\s*(\d+)\s*$", re.M)
RATE = re.compile(r"^([\d.]+) Gb/sec")


class Pause(NamedTuple):
    """PFC of one priority in one direction; ``us`` is the driver's unit."""

    frames: int = 0
    us: int = 0


def hardware(files: Files, device: Device) -> Iterator[tuple[str, int]]:
    """Name and value of those hardware counters that there are."""
    there = set(files.names(f"{device.folder}/hw_counters"))
    for name in HARDWARE:
        if name in there and (value := files.number(f"{device.folder}/hw_counters/{name}")) is not None:
            yield name, value


def sent(files: Files, device: Device) -> tuple[int | None, int | None, int | None]:
    """Bytes and packets that left the port, and packets that it discarded."""
    folder = f"{device.folder}/counters"
    words = files.number(f"{folder}/port_xmit_data")
    packets, discards = files.number(f"{folder}/port_xmit_packets"), files.number(f"{folder}/port_xmit_discards")
    return (None if words is None else words * WORD), packets, discards


def capacity(files: Files, device: Device) -> float | None:
    """Bytes per second of the port, of a text such as ``200 Gb/sec (4X HDR)``."""
    text = files.read(f"{device.folder}/rate")
    if text is None:
        return None
    number = RATE.match(text)
    if number is None:
        files.errors[f"{device.folder}/rate"] += 1
        return None
    return float(number[1]) * 1e9 / 8


def pauses(files: Files, device: Device) -> Mapping[tuple[str, str], Pause]:
    """By (direction, priority); nothing for an interface without PFC counters."""
    if not device.interface:
        return {}
    command = ["ethtool", "-S", device.interface]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    except (OSError, subprocess.SubprocessError):
        files.errors[" ".join(command)] += 1
        return {}
    counted: dict[tuple[str, str], Pause] = {}
    for direction, priority, duration, value in PAUSES.findall(done.stdout):
        before = counted.get((direction, priority), Pause())
        counted[direction, priority] = (
            before._replace(us=int(value)) if duration else before._replace(frames=int(value))
        )
    return counted
