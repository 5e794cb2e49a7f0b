"""What the mounts of a lab need beyond `testbed.base.linux`: options, binds, a new root."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

MS_RDONLY, MS_NOSUID, MS_REMOUNT, MS_BIND, MS_MOVE = 1, 2, 32, 4096, 8192
MS_REC, MS_PRIVATE = 0x4000, 1 << 18
CLONE_NEWUTS, CLONE_NEWIPC = 0x04000000, 0x08000000

_libc = ctypes.CDLL(None, use_errno=True)


def mount(source: str, target: Path | str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """mount(2). Raises OSError that names the target."""
    done = _libc.mount(source.encode(), os.fsencode(target), kind.encode(), ctypes.c_ulong(flags), data.encode())
    if done != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"mount {kind or 'bind'} on {target}: {os.strerror(code)}")


def bind(source: Path | str, target: Path | str, read_only: bool = False) -> None:
    """Show ``source``, a folder or a file, at ``target`` as well."""
    mount(str(source), target, flags=MS_BIND | MS_REC)
    if read_only:
        mount("none", target, flags=MS_BIND | MS_REMOUNT | MS_RDONLY)


def switch_root(root: Path) -> None:
    """Make ``root``, a mount point, the root of this mount namespace, also for whoever enters it later."""
    os.chdir(root)
    mount(".", "/", flags=MS_MOVE)
    os.chroot(".")
    os.chdir("/")


def set_hostname(name: str) -> None:
    if _libc.sethostname(name.encode(), len(name)) != 0:
        raise OSError(ctypes.get_errno(), f"sethostname {name}")


def set_process_name(name: str) -> None:
    """What /proc/PID/comm says: that of process 1 is how Ansible knows an init system."""
    _libc.prctl(15, name.encode(), 0, 0, 0)
