"""Traffic class of all queue pairs of a device (MLNX_OFED only): ``/sys/class/infiniband/DEV/tc/1``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from . import attribute
from .kernel_files import KernelFiles

NAME = "traffic_class"
PREFIX = "Global tclass="  # how the driver prints it


class TrafficClass(KernelFiles):
    """One setting, ``traffic_class``: DSCP in the upper six bits, ECN in the lower two."""

    name = "traffic_class"

    @property
    def folder(self) -> Path:
        return self.target.path(f"/sys/class/infiniband/{self.target.device}/tc/{self.target.port}")

    def names(self) -> list[str]:
        return [NAME] if (self.folder / NAME).is_file() else []

    def read(self, names: Iterable[str]) -> dict[str, str | None]:
        texts = {name: attribute.read(self.folder / name) for name in names}
        return {name: text and text.removeprefix(PREFIX) for name, text in texts.items()}
