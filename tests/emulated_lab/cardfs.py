"""The trees of `tests.emulated_lab.files` as a file system: what only the driver can do, a plain folder would allow.

No file can be made, renamed or removed; a truncation does nothing; a write is one whole value; what is refused returns
the driver's error.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mfusepy

from tests.emulated_lab import faults
from tests.emulated_lab.files import ecn, interfaces, pci, rdma_cm
from tests.emulated_lab.files.entry import Entry, File, Tree, under
from tests.emulated_lab.store import State, Store

PAGE = 4096


def everything(state: State) -> Tree:
    """By what is mounted where: devices, debug, config; and net, which is what it is at the moment."""
    tree = under("devices", pci.function(state)) | under("config", rdma_cm.tree(state))
    if not state["vf"]:
        tree |= under(f"debug/mlx5/{state['pci']}/cc_params", ecn.debugfs(state["card"]))
    return tree


FOLDERS = {"", "devices", "debug", "config", "config/rdma_cm", "net"}  # even when they are empty


class CardFs(mfusepy.Operations):  # type: ignore[misc]
    """``store``: the host's."""

    use_ns = True

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read_at: tuple[int, int] | None = None
        self._build()

    def _state(self) -> State:
        """To be looked at, not changed. Parsed again when the file is another one: a write replaces it."""
        file = self._store.path.stat()
        if (now := (file.st_ino, file.st_mtime_ns)) != self._read_at:
            self._known, self._read_at = self._store.read(), now
        return self._known

    def _build(self) -> None:
        self._tree = everything(self._state())
        self._folders: dict[str, set[str]] = {folder: set() for folder in FOLDERS}
        for path in [*self._tree, *FOLDERS]:
            while path:
                parent, _, name = path.rpartition("/")
                self._folders.setdefault(parent, set()).add(name)
                path = parent  # noqa: PLW2901

    def _check(self, path: str) -> None:
        """Raises OSError while the driver that makes this path is not there."""
        if (path.startswith("/debug/") or "/infiniband" in path) and not self._state()["rdma"]:
            raise mfusepy.FuseOSError(errno.ENOENT)

    def _entry(self, path: str) -> Entry:
        self._check(path)
        folder, _, name = path.strip("/").rpartition("/")
        found = self._tree.get(path.strip("/"))
        if folder == "net":
            found = interfaces.link(name, self._state())
        if found is None:
            raise mfusepy.FuseOSError(errno.ENOENT)
        return found

    def _file(self, path: str) -> File:
        entry = self._entry(path)
        assert isinstance(entry, File)  # the kernel follows links itself
        return entry

    def getattr(self, path: str, _handle: Any = None) -> dict[str, Any]:
        if path.strip("/") in self._folders:
            self._check(path)
            return {"st_mode": stat.S_IFDIR | 0o755, "st_nlink": 2}
        entry = self._entry(path)
        if isinstance(entry, File):
            return {"st_mode": stat.S_IFREG | entry.permissions, "st_nlink": 1, "st_size": PAGE}
        return {"st_mode": stat.S_IFLNK | 0o777, "st_nlink": 1, "st_size": len(entry.target)}

    def readdir(self, path: str, _handle: Any) -> list[str | tuple[str, dict[str, int], int]]:
        """With what each entry is, as sysfs has it: who walks a tree need not ask for every file."""
        self._check(path)
        if path == "/net":
            return [".", "..", *interfaces.names()]
        folder = path.strip("/")
        inside = sorted(self._folders[folder])
        return [".", "..", *((name, {"st_mode": self._kind(f"{folder}/{name}".strip("/"))}, 0) for name in inside)]

    def _kind(self, path: str) -> int:
        if path in self._folders:
            return stat.S_IFDIR
        return stat.S_IFREG if isinstance(self._tree[path], File) else stat.S_IFLNK

    def readlink(self, path: str) -> str:
        entry = self._entry(path)
        assert not isinstance(entry, File)
        return entry.target

    def open(self, path: str, flags: int) -> int:
        if flags & os.O_ACCMODE != os.O_RDONLY and self._file(path).write is None:
            raise mfusepy.FuseOSError(errno.EACCES)
        return 0

    def read(self, path: str, size: int, offset: int, _handle: int) -> bytes:
        state = self._state()
        faults.check_file(state, Path(path).name)
        _check_device(state, path)
        return self._file(path).read(state).encode()[offset : offset + size]

    def write(self, path: str, data: bytes, _offset: int, _handle: int) -> int:
        name, text = Path(path).name, data.decode(errors="replace")
        write = self._file(path).write
        assert write is not None  # `open` refused it

        def store(state: State) -> None:
            faults.check_file(state, name)
            _check_device(state, path)
            if name not in state["faults"]["files"]:
                write(state, text)

        self._change([path, text], store)
        faults.spring(self._store, f"write {name}")
        return len(data)

    def mkdir(self, path: str, _mode: int) -> int:
        return self._change_config(path, rdma_cm.make)

    def rmdir(self, path: str) -> int:
        return self._change_config(path, rdma_cm.remove)

    def _change_config(self, path: str, change: Callable[[State, str], None]) -> int:
        if not path.startswith("/config/"):
            raise mfusepy.FuseOSError(errno.EPERM)
        self._change([path], lambda state: change(state, path.removeprefix("/config/")))
        self._build()
        return 0

    def _change(self, what: list[str], change: Callable[[State], None]) -> None:
        try:
            with self._store.edit() as state:
                change(state)
        except OSError as error:
            self._store.log("refused", [*what, errno.errorcode[error.errno or 0]])
            raise
        self._store.log("write", what)

    def truncate(self, _path: str, _length: int, _handle: Any = None) -> int:
        return 0

    def create(self, *_arguments: Any) -> int:
        raise mfusepy.FuseOSError(errno.EACCES)

    def mknod(self, *_arguments: Any) -> int:
        raise mfusepy.FuseOSError(errno.EACCES)

    def rename(self, *_arguments: Any) -> int:
        raise mfusepy.FuseOSError(errno.EPERM)

    def unlink(self, *_arguments: Any) -> int:
        raise mfusepy.FuseOSError(errno.EPERM)

    def symlink(self, *_arguments: Any) -> int:
        raise mfusepy.FuseOSError(errno.EPERM)

    def chmod(self, *_arguments: Any) -> int:
        return 0

    def chown(self, *_arguments: Any) -> int:
        return 0


def _check_device(state: State, path: str) -> None:
    """configfs' folders outlive the device that they are about. Raises OSError."""
    if path.startswith("/config/") and not state["rdma"]:
        raise mfusepy.FuseOSError(errno.ENODEV)


def serve(mount_point: str, store: Store) -> None:
    """Until the process ends. One thread: a driver's commands to its firmware come one after another as well.

    Nothing is cached (direct_io): every read and write gets here, and a value may change between two reads.
    """
    mfusepy.FUSE(
        CardFs(store), mount_point, foreground=True, nothreads=True, fsname="lab", allow_other=True, direct_io=True,
        attr_timeout=0, entry_timeout=0,
    )  # fmt: skip
