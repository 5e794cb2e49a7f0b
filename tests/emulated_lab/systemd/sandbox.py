"""What a unit forbids its processes, as far as one call to the kernel does it. Called in the child, still as root.

Read and not enforced: ProtectHome= (a checkout may be there), RestrictAddressFamilies= and all else that systemd does
with seccomp filters.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from testbed.base import linux
from tests.emulated_lab import mounts
from tests.emulated_lab.systemd.unitfile import UnitFile
from tests.support.checkout import ROOT

PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_SET_MDWE = 24, 38, 65
LAST_CAPABILITY = 40
MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE, RDONLY = 442, -100, 0x8000, 1
KERNELS_OWN = ("/dev", "/proc", "/sys", "/run/lab")  # the last is the card, which the fakes keep in a file

_libc = ctypes.CDLL(None, use_errno=True)


def enter(unit: UnitFile, folders: list[Path]) -> None:
    """``folders``: what the unit has below /run and /var of its own. Raises OSError."""
    if unit.flag("Service.PrivateNetwork", False):
        linux.unshare(linux.CLONE_NEWNET)
    strict, private = unit.get("Service.ProtectSystem") == "strict", unit.flag("Service.PrivateTmp", False)
    if strict or private:
        linux.unshare(linux.CLONE_NEWNS)
        for folder in ("/tmp", "/var/tmp") if private else ():
            _own(folder)
    if strict:
        own = [*map(str, folders), *unit.get("Service.ReadWritePaths").split(), *(["/tmp", "/var/tmp"] * private)]
        for path in own:
            mounts.bind(path, path)
        _read_only("/", True)
        for path in (*KERNELS_OWN, *own):
            _read_only(path, False)
    if unit.settings.get("Service.CapabilityBoundingSet") == []:
        for capability in range(LAST_CAPABILITY + 1):
            _prctl(PR_CAPBSET_DROP, capability)
    if unit.flag("Service.MemoryDenyWriteExecute", False):
        _prctl(PR_SET_MDWE, 1)
    if unit.flag("Service.NoNewPrivileges", False):
        _prctl(PR_SET_NO_NEW_PRIVS, 1)


def _own(folder: str) -> None:
    """An empty one; but where the checkout is in there, the fakes must still find it."""
    held = os.open(ROOT, os.O_PATH) if ROOT.is_relative_to(folder) else -1
    mounts.mount("tmpfs", folder, "tmpfs", data="mode=1777")
    if held >= 0:
        ROOT.mkdir(parents=True)
        mounts.bind(f"/proc/self/fd/{held}", ROOT)
        os.close(held)


def _read_only(path: str, wanted: bool) -> None:
    """The mount at a path with all below it."""
    attributes = (ctypes.c_uint64 * 4)(RDONLY if wanted else 0, 0 if wanted else RDONLY, 0, 0)
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    if _libc.syscall(MOUNT_SETATTR, AT_FDCWD, path.encode(), AT_RECURSIVE, attributes, size) != 0:
        raise OSError(ctypes.get_errno(), f"mount_setattr {path}: {os.strerror(ctypes.get_errno())}")


def _prctl(option: int, value: int) -> None:
    if _libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}: {os.strerror(ctypes.get_errno())}")
