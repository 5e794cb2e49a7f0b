"""Type of service of connections by rdma_cm: configfs (Documentation/ABI/testing/configfs-rdma_cm)."""

from __future__ import annotations

from pathlib import Path

from . import attribute
from .errors import LabError
from .kernel_files import KernelFiles

TOS = "default_roce_tos"
NAMES = ("default_roce_mode", TOS)


class RdmaCm(KernelFiles):
    """A device has settings once its folder was made; without one the driver's default is active (None)."""

    name = "rdma_cm"

    @property
    def folder(self) -> Path:
        return self._device / "ports" / str(self.target.port)

    @property
    def _device(self) -> Path:
        return self.target.path(f"/sys/kernel/config/rdma_cm/{self.target.device}")

    def names(self) -> list[str]:
        return list(NAMES) if self.target.device and self._device.parent.is_dir() else []

    def write(self, name: str, value: str | None) -> None:
        try:
            if value is None:
                # The module keeps the last value after the folder is gone, so the default comes first.
                if (self.folder / TOS).exists():
                    attribute.write(self.folder / TOS, "0")
                if self._device.is_dir():
                    self._device.rmdir()
                return
            self._device.mkdir(exist_ok=True)
        except OSError as error:
            raise LabError(f"{self._device}: {error.strerror}; is the module rdma_cm loaded?") from None
        super().write(name, value)
