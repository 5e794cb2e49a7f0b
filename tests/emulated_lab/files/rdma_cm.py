"""configfs' rdma_cm/DEVICE/ports/N: what new connections of rdma_cm start with.

The folder is only a view, made with mkdir: the values are the device's and stay when it is removed.
"""

from __future__ import annotations

import errno
from functools import partial

from tests.emulated_lab.files.entry import File, Tree
from tests.emulated_lab.store import State

MODES = ("IB/RoCE v1", "RoCE v2")
DEFAULTS = {"default_roce_mode": "RoCE v2", "default_roce_tos": 0}


def tree(state: State) -> Tree:
    """Of the devices that have a folder."""
    return {
        f"rdma_cm/{device}/ports/1/{name}": File(partial(_read, name), partial(_write, name))
        for device in state["configfs"]
        for name in DEFAULTS
    }


def make(state: State, path: str) -> None:
    """mkdir. Raises OSError if it is not the folder of a device that exists."""
    parts = path.strip("/").split("/")
    if len(parts) != 2 or parts[0] != "rdma_cm":
        raise OSError(errno.EPERM, path)
    if parts[1] != state["device"] or not state["rdma"]:
        raise OSError(errno.ENODEV, path)
    if parts[1] in state["configfs"]:
        raise OSError(errno.EEXIST, path)
    state["configfs"].append(parts[1])


def remove(state: State, path: str) -> None:
    """rmdir."""
    parts = path.strip("/").split("/")
    if len(parts) != 2 or parts[1] not in state["configfs"]:
        raise OSError(errno.EPERM, path)
    state["configfs"].remove(parts[1])


def _read(name: str, state: State) -> str:
    return f"{state['rdma_cm'][name]}\n"


def _write(name: str, state: State, text: str) -> None:
    value = text.strip()
    if name == "default_roce_mode":
        if value not in MODES:
            raise OSError(errno.EINVAL, name)
        state["rdma_cm"][name] = value
    else:
        try:
            number = int(value, 0)
        except ValueError:
            raise OSError(errno.EINVAL, name) from None
        if not 0 <= number <= 255:
            raise OSError(errno.EINVAL, name)
        state["rdma_cm"][name] = number
