"""The few calls of libbpf that the loader needs, through ctypes."""

from __future__ import annotations

import ctypes
import errno
import os
from ctypes import c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.errors import TestbedError

BPF_ANY = 0
BPF_F_LOCK = 4
BPF_MAP_TYPE_RINGBUF = 27
BPF_TCX_INGRESS, BPF_TCX_EGRESS, BPF_F_BEFORE = 46, 47, 8
MOST_PROGRAMS = 64

_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "bpf_object__open_file": (c_void_p, [c_char_p, c_void_p]),
    "bpf_object__load": (c_int, [c_void_p]),
    "bpf_object__close": (None, [c_void_p]),
    "bpf_object__find_map_by_name": (c_void_p, [c_void_p, c_char_p]),
    "bpf_object__next_map": (c_void_p, [c_void_p, c_void_p]),
    "bpf_object__find_program_by_name": (c_void_p, [c_void_p, c_char_p]),
    "bpf_map__name": (c_char_p, [c_void_p]),
    "bpf_map__fd": (c_int, [c_void_p]),
    "bpf_map__set_max_entries": (c_int, [c_void_p, c_uint32]),
    "bpf_map__reuse_fd": (c_int, [c_void_p, c_int]),
    "bpf_map__value_size": (c_uint32, [c_void_p]),
    "bpf_map__set_initial_value": (c_int, [c_void_p, c_char_p, c_size_t]),
    "bpf_program__fd": (c_int, [c_void_p]),
    "bpf_link_create": (c_int, [c_int, c_int, c_uint32, c_void_p]),
    "bpf_link_detach": (c_int, [c_int]),
    "bpf_obj_pin": (c_int, [c_int, c_char_p]),
    "bpf_obj_get": (c_int, [c_char_p]),
    "bpf_prog_query": (c_int, [c_int, c_int, c_uint32, c_void_p, c_void_p, c_void_p]),
    "bpf_map_create": (c_int, [c_uint32, c_char_p, c_uint32, c_uint32, c_uint32, c_void_p]),
    "bpf_map_update_elem": (c_int, [c_int, c_void_p, c_void_p, c_uint64]),
    "bpf_map_lookup_elem_flags": (c_int, [c_int, c_void_p, c_void_p, c_uint64]),
    "bpf_map_lookup_batch": (c_int, [c_int, *[c_void_p] * 6]),
    "bpf_map_delete_batch": (c_int, [c_int, *[c_void_p] * 3]),
}
_LOG = ctypes.CFUNCTYPE(c_int, c_int, c_char_p, c_void_p)


@cache
def _library() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL("libbpf.so.1", use_errno=True)
    except OSError as error:
        raise TestbedError("libbpf.so.1 is needed to load eBPF programs; run: apt install libbpf1") from error
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


class Object:
    """A compiled object file: open, adjust, load. Closing it releases programs and maps without other references."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._log: list[str] = []
        self._lib = _library()
        self._collect_log()
        self._handle = self._lib.bpf_object__open_file(os.fsencode(file), None)
        if not self._handle:
            raise TestbedError(f"libbpf cannot open {file}: {self._reason()}")

    def _collect_log(self) -> None:
        libc = ctypes.CDLL(None)

        def keep(_level: int, template: bytes, arguments: int) -> int:
            buffer = ctypes.create_string_buffer(4096)
            libc.vsnprintf(buffer, c_size_t(4096), template, c_void_p(arguments))
            self._log.append(buffer.value.decode(errors="replace"))
            return 0

        self._printer = _LOG(keep)  # referenced here, or ctypes frees it while libbpf still calls it
        self._lib.libbpf_set_print(self._printer)

    def _reason(self) -> str:
        tail = "".join(self._log).strip().splitlines()[-12:]
        return "\n".join([os.strerror(ctypes.get_errno()), *tail])

    def _map(self, name: str) -> int:
        handle = self._lib.bpf_object__find_map_by_name(self._handle, name.encode())
        assert handle, f"{self.file.name} has no map {name}"
        return int(handle)

    def size_map(self, name: str, entries: int) -> None:
        """Set the number of entries of a map; before `load`."""
        self._lib.bpf_map__set_max_entries(self._map(name), entries)

    def share_map(self, name: str, fd: int) -> None:
        """Use a map of another object; before `load`."""
        if self._lib.bpf_map__reuse_fd(self._map(name), fd) != 0:
            raise TestbedError(f"{self.file.name} cannot share the map {name}: {self._reason()}")

    def set_constants(self, value: bytes) -> None:
        """Fill the read-only data (``const volatile``); before `load`."""
        handle = self._lib.bpf_object__next_map(self._handle, None)
        while handle:
            if self._lib.bpf_map__name(handle).endswith(b".rodata"):
                size = self._lib.bpf_map__value_size(handle)
                assert size == len(value), f"read-only data of {self.file.name} has {size} bytes, not {len(value)}"
                self._lib.bpf_map__set_initial_value(handle, value, size)
                return
            handle = self._lib.bpf_object__next_map(self._handle, handle)
        raise AssertionError(f"{self.file.name} has no read-only data")

    def load(self) -> None:
        """Verify and load into the kernel. Raises TestbedError with the end of the verifier's log."""
        if self._lib.bpf_object__load(self._handle) != 0:
            raise TestbedError(f"the kernel refused {self.file.name}: {self._reason()}")
        self._log.clear()

    def map_fd(self, name: str) -> int:
        """File descriptor of a loaded map; owned by this object."""
        return int(self._lib.bpf_map__fd(self._map(name)))

    def program_fd(self, name: str) -> int:
        """File descriptor of a loaded program; owned by this object."""
        handle = self._lib.bpf_object__find_program_by_name(self._handle, name.encode())
        assert handle, f"{self.file.name} has no program {name}"
        return int(self._lib.bpf_program__fd(handle))

    def close(self) -> None:
        """Release the object; attached programs live on with their filters."""
        if self._handle:
            self._lib.bpf_object__close(self._handle)
            self._handle = None


def create_ring(name: str, size: int) -> int:
    """A BPF ring buffer of ``size`` bytes (a power of two, at least a page). Returns its file descriptor."""
    fd = int(_library().bpf_map_create(BPF_MAP_TYPE_RINGBUF, name.encode(), 0, 0, size, None))
    if fd < 0:
        raise TestbedError(f"cannot create a BPF ring buffer of {size} bytes: {os.strerror(ctypes.get_errno())}")
    return fd


class _LinkOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("flags", c_uint32), ("padding", c_uint32)]


def attach_tcx(program: int, ifindex: int, direction: str, first: bool = False) -> int | None:
    """Attach to an interface of this network namespace; closing the returned descriptor ends the attachment.

    None where the kernel has no tcx (before 6.6). ``first`` puts the program before those that are there.
    """
    kind = {"ingress": BPF_TCX_INGRESS, "egress": BPF_TCX_EGRESS}[direction]
    options = _LinkOptions(ctypes.sizeof(_LinkOptions), BPF_F_BEFORE if first else 0)
    fd = int(_library().bpf_link_create(program, ifindex, kind, ctypes.byref(options)))
    return fd if fd >= 0 else None


def attached_tcx(ifindex: int, direction: str) -> list[int]:
    """Ids of all programs attached to an interface of this network namespace."""
    kind = {"ingress": BPF_TCX_INGRESS, "egress": BPF_TCX_EGRESS}[direction]
    ids, count = (c_uint32 * MOST_PROGRAMS)(), c_uint32(MOST_PROGRAMS)
    if _library().bpf_prog_query(ifindex, kind, 0, None, ctypes.byref(ids), ctypes.byref(count)) != 0:
        return []  # a kernel before 6.6, which has none
    return list(ids[: count.value])


def detach(link: int) -> None:
    """End an attachment, also where other processes have inherited its descriptor."""
    if _library().bpf_link_detach(link) != 0:
        raise TestbedError(f"cannot detach a program: {os.strerror(ctypes.get_errno())}")
    os.close(link)


def pin(fd: int, path: Path) -> None:
    """Give a program, a map or an attachment a name in bpffs: it outlives the processes that have it open."""
    if _library().bpf_obj_pin(fd, os.fsencode(path)) != 0:
        raise TestbedError(f"cannot pin {path}: {os.strerror(ctypes.get_errno())}")


def open_pin(path: Path) -> int:
    """A descriptor of what is pinned there."""
    fd = int(_library().bpf_obj_get(os.fsencode(path)))
    if fd < 0:
        raise TestbedError(f"cannot open the pin {path}: {os.strerror(ctypes.get_errno())}")
    return fd


def about(fd: int, name: str) -> int:
    """A property of a program, a map or an attachment: ``max_entries``, ``ifindex`` and so on."""
    lines = Path(f"/proc/self/fdinfo/{fd}").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(f"{name}:")))


def update(fd: int, key: int, value: bytes, flags: int = BPF_ANY) -> None:
    """Write one element of an array map."""
    index = c_uint32(key)
    if _library().bpf_map_update_elem(fd, ctypes.byref(index), value, flags) != 0:
        raise TestbedError(f"cannot write element {key} of a BPF map: {os.strerror(ctypes.get_errno())}")


def lookup(fd: int, key: int, size: int, flags: int = BPF_ANY) -> bytes:
    """Read one element of an array map."""
    index = c_uint32(key)
    value = ctypes.create_string_buffer(size)
    if _library().bpf_map_lookup_elem_flags(fd, ctypes.byref(index), value, flags) != 0:
        raise TestbedError(f"cannot read element {key} of a BPF map: {os.strerror(ctypes.get_errno())}")
    return value.raw


def lookup_batch(fd: int, keys: NDArray[np.void], values: NDArray[np.void]) -> int:
    """Copy all elements of a hash map to arrays that have room for them. Returns how many they are."""
    count, place = c_uint32(len(keys)), c_uint32()
    arguments = (None, ctypes.byref(place), keys.ctypes.data, values.ctypes.data, ctypes.byref(count), None)
    if _library().bpf_map_lookup_batch(fd, *arguments) != 0 and ctypes.get_errno() != errno.ENOENT:  # ENOENT: the end
        raise TestbedError(f"cannot read a BPF map: {os.strerror(ctypes.get_errno())}")
    return count.value


def delete_batch(fd: int, keys: NDArray[np.void]) -> None:
    """Remove elements of a hash map; ``keys`` is contiguous."""
    count = c_uint32(len(keys))
    if _library().bpf_map_delete_batch(fd, keys.ctypes.data, ctypes.byref(count), None) != 0:
        raise TestbedError(f"cannot remove elements of a BPF map: {os.strerror(ctypes.get_errno())}")


__all__ = [
    "BPF_ANY", "BPF_F_LOCK", "Object", "about", "attach_tcx", "attached_tcx", "create_ring", "delete_batch", "detach",
    "lookup", "lookup_batch", "open_pin", "pin", "update",
]  # fmt: skip
