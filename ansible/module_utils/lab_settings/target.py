"""The network card that a rollout is about."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Target:
    """One port of one card, by its three names."""

    interface: str  # enp1s0f0np0; the front port on a switch
    device: str = ""  # mlx5_0
    pci: str = ""  # 0000:03:00.0
    port: int = 1
    root: Path = Path("/")  # another one in tests

    def path(self, absolute: str) -> Path:
        """A path of the host, below `root`."""
        return self.root / absolute.lstrip("/")
