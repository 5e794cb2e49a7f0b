"""DCQCN as MLNX_OFED and DOCA-OFED show it: ``/sys/class/net/IF/ecn``."""

from __future__ import annotations

from pathlib import Path

from .kernel_files import KernelFiles


class Ecn(KernelFiles):
    """``roce_rp/rpg_ai_rate``, ``roce_rp/enable/3``, ``roce_np/cnp_dscp`` and so on; physical functions only."""

    name = "ecn"

    @property
    def folder(self) -> Path:
        return self.target.path(f"/sys/class/net/{self.target.interface}/ecn")
