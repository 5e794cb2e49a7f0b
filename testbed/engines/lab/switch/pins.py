"""What a switch leaves in the kernel between two commands: pins in a folder of bpffs that root alone may enter.

The folder holds the program, its maps, and per port what keeps the program there (``port-IFINDEX``). There is no other
record: rates, buffers and thresholds are read from the maps. Where nobody has mounted bpffs, it is mounted for the
first port, and goes with the last one.
"""

from __future__ import annotations

import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from testbed.base import linux
from testbed.dataplane import libbpf, wire
from testbed.dataplane.build import compiled
from testbed.dataplane.port_maps import MAPS
from testbed.errors import TestbedError

BPFFS = Path("/sys/fs/bpf")
MOUNTED = "testbed-switch"  # the source of a bpffs of ours, in /proc/mounts
KERNEL_S = ".debug"  # files that are in every new bpffs
PROGRAM = "port_egress"
PORT = "port-"
LEAST = 1024  # interfaces that the maps have room for: ports may be added later
PATIENCE = 10.0  # s for another command to end


def default_folder() -> Path:
    """Where this network namespace's switch has its pins; ports are numbered by ifindex, which others have too."""
    return BPFFS / f"testbed-switch-{Path('/proc/thread-self/ns/net').stat().st_ino}"


def exist(folder: Path) -> bool:
    """Whether there is a switch; the program is pinned last."""
    return (folder / PROGRAM).exists()


def make(folder: Path, largest: int) -> None:
    """Load the port program, with room for interfaces up to number ``largest`` and more, and pin it with its maps."""
    program = libbpf.Object(compiled("port"))
    try:
        for name in MAPS:
            program.size_map(name, max(LEAST, 2 * largest))
        program.set_constants(wire.PORT_SETTINGS.pack(0, 0, 0, 0, 0, 0, wire.BY_HASH, 0))
        program.load()
        remove(folder)  # what a command left that was killed
        _make_folder(folder)
        try:
            for name in MAPS:
                libbpf.pin(program.map_fd(name), folder / name)
            libbpf.pin(program.program_fd(PROGRAM), folder / PROGRAM)
        except BaseException:
            remove(folder)
            raise
    finally:
        program.close()


def _make_folder(folder: Path) -> None:
    place = folder.parent
    try:
        if not place.is_mount():
            linux.mount(MOUNTED, str(place), "bpf")
        folder.mkdir(mode=0o700)
    except OSError as error:
        hint = f"bpf bpf {place}" if place.is_dir() else "sysfs sysfs /sys"  # in a chroot there may be none
        why = f"a switch needs bpffs at {place}: {error.strerror}; try: mount -t {hint}"
        raise TestbedError(why) from None


def remove(folder: Path) -> None:
    """Take all pins away; and bpffs, if it was mounted for them and nobody has pinned anything else."""
    if folder.exists():
        shutil.rmtree(folder)
    place = folder.parent
    mounts = (line.split()[:2] for line in Path("/proc/self/mounts").read_text().splitlines())
    if [MOUNTED, str(place)] in mounts and all(entry.suffix == KERNEL_S for entry in place.iterdir()):
        with suppress(OSError):  # somebody is in it
            linux.umount(str(place))


def ports(folder: Path) -> dict[int, Path]:
    """The pins of all ports, by ifindex."""
    found = {int(pin.name.removeprefix(PORT)): pin for pin in folder.glob(f"{PORT}*")}
    return dict(sorted(found.items()))


@contextmanager
def exclusive() -> Iterator[None]:
    """One command at a time changes this network namespace's switch; the kernel ends the claim with its process."""
    deadline = time.monotonic() + PATIENCE
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as claim:
        while True:
            try:
                claim.bind("\0testbed-switch")
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise TestbedError("another 'testbed switch' is at work on this box, and does not end") from None
                time.sleep(0.02)
        yield
