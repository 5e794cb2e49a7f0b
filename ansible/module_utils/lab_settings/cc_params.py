"""DCQCN as the mainline driver shows it: ``cc_params`` in debugfs (drivers/infiniband/hw/mlx5/cong.c)."""

from __future__ import annotations

from pathlib import Path

from .backend import Change
from .kernel_files import KernelFiles

# What else a write resets: the value first, then the mode, or the mode is lost.
AFTER = {"np_cnp_prio_mode": "np_cnp_prio", "rtt_resp_dscp_valid": "rtt_resp_dscp"}


class CcParams(KernelFiles):
    """``rp_ai_rate``, ``np_cnp_dscp`` and so on; there is no setting per priority."""

    name = "cc_params"

    @property
    def folder(self) -> Path:
        return self.target.path(f"/sys/kernel/debug/mlx5/{self.target.pci}/cc_params")

    def order(self, changes: list[Change]) -> list[Change]:
        return sorted(changes, key=lambda change: change.setting.name in AFTER)
