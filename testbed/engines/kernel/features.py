"""Asks the kernel what it can do, by doing it: in a forked child with namespaces of its own, so nothing is left.

`ask` returns one answer per feature: "" if it works, otherwise why not. Needs no root where the kernel lets users have
namespaces; what even then needs root answers `NEEDS_ROOT`.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import platform
import struct
from collections.abc import Callable
from functools import cache
from pathlib import Path

from testbed.base import linux

CLONE_NEWUSER = 0x10000000
NEEDS_ROOT = "needs root to find out"
BPF_SYSCALL = {"x86_64": 321, "aarch64": 280, "riscv64": 280}
BPF_MAP_CREATE, BPF_PROG_LOAD, BPF_LINK_CREATE = 0, 5, 28
TCX_EGRESS = 47
SCHED_CLS, RINGBUF = 3, 27
EGRESS = 0xFFFFFFF3  # clsact's egress hook
REQUIRED = ("namespaces", "veth", "bridge", "TBF", "clsact", "eBPF", "cls_bpf", "ring buffer", "bpffs")
OPTIONAL = ("HTB", "netem", "Open vSwitch")
TCX = "tcx"  # which a lab's switch needs, and a rack does not
FEATURES = (*REQUIRED, *OPTIONAL, TCX)

_libc = ctypes.CDLL(None, use_errno=True)


@cache
def ask() -> dict[str, str]:
    """One answer per feature, "" for yes."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            answers = _answers()
        except BaseException as error:  # noqa: BLE001 - a child must report and leave, whatever happens
            answers = dict.fromkeys(FEATURES, f"probe failed: {type(error).__name__}: {error}")
        with contextlib.suppress(BrokenPipeError):  # the parent is gone
            os.write(writer, json.dumps(answers).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else dict.fromkeys(FEATURES, "the probe was killed")


def _answers() -> dict[str, str]:
    root = os.geteuid() == 0
    flags = linux.CLONE_NEWNET | linux.CLONE_NEWNS | linux.CLONE_NEWPID | (0 if root else CLONE_NEWUSER)
    try:
        linux.unshare(flags)
    except OSError as error:
        return dict.fromkeys(FEATURES, str(error.strerror) if root else NEEDS_ROOT)
    answers = {"namespaces": ""}
    from pyroute2 import IPRoute
    from pyroute2.netlink.exceptions import NetlinkError

    from testbed.engines.kernel.rack.ovs import Datapath

    with IPRoute() as ip:

        def attempt(feature: str, action: Callable[[], object]) -> None:
            try:
                action()
                answers[feature] = ""
            except NetlinkError as error:
                answers[feature] = "this kernel has none" if error.code == errno.ENOENT else os.strerror(error.code)
            except OSError as error:
                answers[feature] = error.strerror or str(error)
                if error.errno == errno.EPERM and not root:
                    answers[feature] = NEEDS_ROOT

        attempt("veth", lambda: ip.link("add", ifname="probe0", kind="veth", peer="probe1"))
        attempt("bridge", lambda: ip.link("add", ifname="probe2", kind="bridge"))
        (port,) = ip.link_lookup(ifname="probe0") or ip.link_lookup(ifname="lo")

        def root_qdisc(kind: str, **options: object) -> Callable[[], object]:
            def replace() -> None:
                ip.tc("add", kind, port, handle="1:", **options)
                ip.tc("del", index=port, root=True)

            return replace

        attempt("TBF", root_qdisc("tbf", rate="100mbit", burst=10000, latency="10ms"))
        attempt("HTB", root_qdisc("htb"))
        attempt("netem", root_qdisc("netem", delay=1000))
        attempt("clsact", lambda: ip.tc("add", "clsact", port))
        attempt("Open vSwitch", lambda: Datapath("probe3").close())
        attempt("eBPF", _load_program)
        attempt(
            "cls_bpf",
            lambda: ip.tc(
                "add-filter", "bpf", port, parent=EGRESS, fd=_load_program(), name="probe", class_id=1, flags=1
            ),
        )
        attempt(TCX, lambda: _bpf(BPF_LINK_CREATE, struct.pack("3I", _load_program(), port, TCX_EGRESS)))
        attempt("ring buffer", lambda: _bpf(BPF_MAP_CREATE, struct.pack("4I", RINGBUF, 0, 0, 1 << 16)))
        attempt("bpffs", _mount_bpffs)
    return answers


def _bpf(command: int, attributes: bytes) -> int:
    number = BPF_SYSCALL.get(platform.machine())
    if number is None:
        raise OSError(f"not known for {platform.machine()}")
    padded = ctypes.create_string_buffer(attributes, 128)
    fd: int = _libc.syscall(number, command, padded, len(padded))
    if fd < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return fd


def _load_program() -> int:
    """The smallest classifier: ``r0 = 0; exit``."""
    code = ctypes.create_string_buffer(struct.pack("<BBhiBBhi", 0xB7, 0, 0, 0, 0x95, 0, 0, 0))
    licence = ctypes.create_string_buffer(b"GPL")
    return _bpf(BPF_PROG_LOAD, struct.pack("IIQQ", SCHED_CLS, 2, ctypes.addressof(code), ctypes.addressof(licence)))


def _mount_bpffs() -> None:
    place = "/sys/fs/bpf" if Path("/sys/fs/bpf").is_dir() else "/tmp"
    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
    linux.mount("bpf", place, "bpf")
