"""What only root may read of NICs: register PPCC by `mlxreg`, and debugfs. Nothing is ever set.

A process of its own does this and opens no socket; the exporter, which does, reads the file that it writes.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from pathlib import Path

from testbed.base.atomic import atomic_write
from testbed.engines.lab.exporter import devices
from testbed.engines.lab.exporter.devices import Device
from testbed.engines.lab.exporter.documents import REGISTERS, AlgorithmSlot, DeviceRegisters, Registers, Rollout
from testbed.engines.lab.exporter.files import Files
from testbed.engines.lab.shared_names import GROUP, ROLLOUT
from testbed.errors import TestbedError

MODE = 0o640
PATIENCE = 5.0  # s for one reading
SLOTS = range(16)
ALGORITHM, STATUS, COUNT, ABOUT, ALL, COUNTERS, COUNTER_COUNT, ABOUT_COUNTER, IDS = (
    0x0, 0x3, 0x4, 0x5, 0xA, 0xC, 0xE, 0xF, 0x10,
)  # fmt: skip
LINE = re.compile(r"^(\w+(?:\[\d+\])?)\s*\|\s*(0x[0-9a-fA-F]+)\s*$", re.M)
Words = dict[str, int]


class Unreadable(Exception):
    """A register could not be read."""


class Reader:
    """PPCC of all NICs of a host. Names of parameters and counters are kept while an algorithm stays."""

    def __init__(self, root: Path) -> None:
        self.files = Files(root)
        self._names: dict[tuple[str, int, int, int], list[str]] = {}

    def read(self) -> Registers:
        """Now. What cannot be read is left out and counted."""
        rollout = self.files.parsed(ROLLOUT, Rollout)
        there = devices.found(self.files, rollout)
        return Registers(time=time.time(), devices={device.name: self._device(device) for device in there})

    def _device(self, device: Device) -> DeviceRegisters:
        before = self.files.errors.total()
        folder = f"/sys/kernel/debug/mlx5/{device.pci}/cc_params"
        read = {name: self.files.number(f"{folder}/{name}") for name in self.files.names(folder)} if device.pci else {}
        settings = {name: value for name, value in read.items() if value is not None}
        slots, errors = self._slots(device)
        return DeviceRegisters(cc_params=settings, pcc=slots, errors=self.files.errors.total() - before + errors)

    def _slots(self, device: Device) -> tuple[dict[str, AlgorithmSlot], int]:
        try:
            ids = _listed(self._get(device, IDS), len(SLOTS))
        except Unreadable:
            return {}, 1
        slots, errors = {}, 0
        for number, algorithm in enumerate(ids):
            if not algorithm:
                continue
            try:
                slots[str(number)] = self._slot(device, number, algorithm)
            except Unreadable:
                errors += 1
        return slots, errors

    def _slot(self, device: Device, slot: int, algorithm: int) -> AlgorithmSlot:
        title = _text(self._get(device, ALGORITHM, slot))
        enabled = bool(self._get(device, STATUS, slot)["value"])
        parameters = self._values(device, slot, algorithm, (COUNT, ABOUT, ALL))
        counted = self._values(device, slot, algorithm, (COUNTER_COUNT, ABOUT_COUNTER, COUNTERS))
        return AlgorithmSlot(algorithm=title, enabled=enabled, parameters=parameters, counters=counted)

    def _values(self, device: Device, slot: int, algorithm: int, commands: tuple[int, int, int]) -> dict[str, int]:
        """By name, of parameters or of counters: how many, what each is called, all values at once."""
        how_many, about, everything = commands
        key = (device.name, slot, algorithm, about)
        if key not in self._names:
            count = self._get(device, how_many, slot)["value"]
            texts = [_text(self._get(device, about, slot, number)) for number in range(count)]
            self._names[key] = [text.partition(",")[0].strip() for text in texts]
        names = self._names[key]
        return dict(zip(names, _listed(self._get(device, everything, slot), len(names)), strict=False)) if names else {}

    def _get(self, device: Device, command: int, slot: int = 0, index: int = 0) -> Words:
        """One reading of the register, by the names of its fields. Raises Unreadable."""
        indexes = f"local_port={device.port},pnat=0,lp_msb=0,algo_slot={slot},algo_param_index={index}"
        asked = ["-y", "--get", "--op", f"cmd_type={command:#x}", "--reg_name", "PPCC", "--indexes", indexes]
        try:
            done = subprocess.run(
                [_tool(), "-d", device.pci or device.name, *asked],
                capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL, check=False,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError) as error:
            raise Unreadable(str(error)) from error
        words = {name: int(value, 16) for name, value in LINE.findall(done.stdout)}
        if done.returncode or "value" not in words:
            raise Unreadable(done.stdout + done.stderr)
        return words


def _tool() -> str:
    """MFT's, or the open one of mstflint, which distributions have."""
    return "mlxreg" if shutil.which("mlxreg") else "mstreg"


def _listed(words: Words, count: int) -> list[int]:
    return [words.get(f"text[{position}]", 0) for position in range(count)]


def _text(words: Words) -> str:
    """Words of four letters, the first one in the highest byte."""
    length = words.get("text_length", 0)
    letters = b"".join(word.to_bytes(4, "big") for word in _listed(words, -(-length // 4)))
    return letters[:length].rstrip(b"\0").decode("ascii", errors="replace")


def write(root: Path, registers: Registers) -> None:
    """For the exporter's group, and for nobody else. Raises TestbedError."""
    target = Files(root).at(REGISTERS)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(target, (registers.model_dump_json(indent=1) + "\n").encode(), MODE, GROUP)
    except OSError as error:
        raise TestbedError(f"{target} cannot be written: {error.strerror or error}") from error
