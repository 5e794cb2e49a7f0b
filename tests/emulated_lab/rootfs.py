"""A host's file system: the machine's own, with everything that is written kept in memory and per host.

The root is an overlay over the machine's, so that whatever a playbook writes (/etc, /usr, units) is the host's alone;
checkout and Python environment are there read-only. /run and /tmp are new at every boot. /sys is a skeleton in
which links lead to the real sysfs, except where the card's trees are (see `tests.emulated_lab.cardfs`).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from testbed.base import compiler
from tests.emulated_lab import mounts
from tests.emulated_lab.spec import NodeSpec
from tests.support.checkout import ROOT

LAB = Path("/run/lab")  # on a host: state.json, calls.jsonl, journal/; survives a power cycle
PYCACHE = LAB / "pycache"  # all hosts of all labs have the same
REAL = "/sys/.real"
OURS = ("bus/pci", "class/infiniband", "class/net", "devices/pci0000:00", "kernel/config", "kernel/debug")


def build(store: Path, card: bool) -> None:
    """Mount the node's root and enter it. ``store`` is its folder in memory; ``card``: it is a host and has one."""
    upper, work, root = (store / part for part in ("upper", "work", "root"))
    for folder in (upper, work, root, store / "home", store / "lab", store / "units"):
        folder.mkdir(parents=True, exist_ok=True)
    mounts.mount("overlay", root, "overlay", data=f"lowerdir=/,upperdir={upper},workdir={work}")
    for mount_point in _disks():
        mounts.bind(mount_point, root / mount_point.relative_to("/"), read_only=True)
    mounts.bind("/dev", root / "dev")
    for fresh, mode in (("run", "755"), ("tmp", "1777"), ("var/tmp", "1777")):
        mounts.mount("tmpfs", root / fresh, "tmpfs", data=f"mode={mode}")
    mounts.bind(store / "home", root / "root")
    for folder in {ROOT, Path(sys.prefix).resolve(), *_interpreter(), *_named_in_pth_files()}:
        target = root / folder.relative_to("/")
        target.mkdir(parents=True, exist_ok=True)
        mounts.bind(folder, target, read_only=True)
    mounts.bind(store / "units", root / "etc/systemd/system")  # not what this machine has enabled
    (root / "run/lab").mkdir()
    mounts.bind(store / "lab", root / "run/lab")
    (root / PYCACHE.relative_to("/")).mkdir(exist_ok=True)
    mounts.bind(pycache(), root / PYCACHE.relative_to("/"))
    (root / "run/sshd").mkdir(mode=0o755)
    (root / "run/lock").mkdir(mode=0o1777)
    mounts.mount("proc", root / "proc", "proc")
    real = root / ("sys/.real" if card else "sys")
    if card:
        mounts.mount("tmpfs", root / "sys", "tmpfs", data="mode=755")
        real.mkdir()
    mounts.mount("sysfs", real, "sysfs")
    mounts.mount("bpf", real / "fs/bpf", "bpf")
    mounts.switch_root(root)
    if card:
        _skeleton(Path("/sys"), Path(REAL))


def pycache() -> Path:
    """What Python has compiled in labs, kept from one to the next."""
    folder = compiler.cache_folder() / "lab-pycache"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _disks() -> list[Path]:
    """Mount points of other disks: an overlay shows the file system of its lower folder and none below."""
    rows = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    return [
        Path(point)
        for device, point, *_ in rows
        if device.startswith("/dev/") and Path(point).is_dir() and point != "/"
    ]


def _interpreter() -> list[Path]:
    """That of the Python environment, where it is in root's home, which is another one here."""
    base = Path(sys.base_prefix).resolve()
    return [base] if base.is_relative_to("/root") else []


def _named_in_pth_files() -> list[Path]:
    """Folders outside the Python environment that it takes packages from."""
    outside = [Path(folder) for folder in sys.path if folder.endswith("site-packages")]
    return [folder for folder in outside if not folder.is_relative_to(sys.prefix)]


def _skeleton(here: Path, real: Path) -> None:
    """Folders on the way to what is ours; links to the real sysfs for all the rest."""
    ours = [Path("/sys") / path for path in OURS]
    on_the_way = {parent for path in ours for parent in path.parents} | set(ours)
    names = {entry.name for entry in real.iterdir()} if real.is_dir() else set()
    names |= {path.relative_to(here).parts[0] for path in ours if path.is_relative_to(here) and path != here}
    for name in sorted(names - {".real"}):
        if here / name in ours:
            (here / name).mkdir()
        elif here / name in on_the_way:
            (here / name).mkdir()
            _skeleton(here / name, real / name)
        else:
            (here / name).symlink_to(os.path.relpath(real / name, here))


def write_identity(node: NodeSpec, everyone: list[NodeSpec], key: str, host_key: bytes) -> None:
    """Names, and who may log in: run inside."""
    mounts.set_hostname(node.name)
    Path("/etc/hostname").write_text(f"{node.name}\n")
    hosts = "".join(f"{other.address}\t{other.name}\n" for other in everyone)
    Path("/etc/hosts").write_text(f"127.0.0.1\tlocalhost\n{hosts}")
    keys = Path("/root/.ssh")
    keys.mkdir(mode=0o700, exist_ok=True)
    (keys / "authorized_keys").write_text(key)
    own = Path("/etc/ssh/ssh_host_ed25519_key")
    for old in own.parent.glob("ssh_host_*"):
        old.unlink()
    own.touch(mode=0o600)
    own.write_bytes(host_key)
