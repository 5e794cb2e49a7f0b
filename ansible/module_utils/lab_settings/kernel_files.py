"""Settings that are attributes in one folder of the kernel."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterable
from pathlib import Path

from . import attribute
from .backend import Backend
from .errors import LabError


class KernelFiles(Backend):
    """Every file below `folder` is a setting, named by its path from there."""

    @property
    @abstractmethod
    def folder(self) -> Path:
        """Where the files are."""

    def names(self) -> list[str]:
        folder = self.folder
        found = ((at, file) for at, _, files in os.walk(folder) for file in files)  # rglob asks twice for each
        return sorted(str(Path(at, file).relative_to(folder)) for at, file in found)

    def read(self, names: Iterable[str]) -> dict[str, str | None]:
        return {name: attribute.read(self.folder / name) for name in names}

    def write(self, name: str, value: str | None) -> None:
        if value is None:
            raise LabError(f"{self.folder / name}: is here now and was not before; reload the driver to be rid of it")
        attribute.write(self.folder / name, value)
