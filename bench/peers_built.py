"""The field's public simulators, built from their own sources in the cache: nothing of them is in this repository."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from testbed.base.compiler import cache_folder
from testbed.errors import TestbedError

PATIENCE = 1800.0  # s


@dataclass(frozen=True)
class Peer:
    """A simulator at one commit."""

    name: str
    url: str
    commit: str
    sources: tuple[str, ...]  # all else, connection matrices of many MB, stays out
    build: tuple[tuple[str, ...], ...]
    programs: Path  # where they are when they are built

    def program(self, name: str) -> str:
        """The path of one. Raises TestbedError if it cannot be had."""
        folder = cache_folder() / "peers" / self.name
        built = folder / self.programs / name
        if not built.exists():
            if not (folder / ".git").exists():
                folder.parent.mkdir(parents=True, exist_ok=True)
                _run(("git", "clone", "-q", "--no-checkout", self.url, str(folder)), folder.parent)
            _run(("git", "checkout", "-q", self.commit, "--", *self.sources), folder)
            for command in self.build:
                _run(command, folder)
        return str(built)


CSG = Peer(
    "csg-htsim", "https://github.com/Broadcom/csg-htsim", "841d9e7be46bb968eece766aa4b6c044c7799f67",
    ("sim/*.cpp", "sim/*.h", "sim/*Makefile"),
    (
        ("make", "-j2", "-C", "sim", "libhtsim.a"),
        ("make", "-j2", "-C", "sim/datacenter", "htsim_eqds", "htsim_roce"),
    ),
    Path("sim/datacenter"),
)  # fmt: skip
UET = Peer(
    "uet-htsim", "https://github.com/ultraethernet/uet-htsim", "40ccb0526bb6297eeb22ab33f9934fb35278dbaf",
    ("htsim/*.cpp", "htsim/*.h", "htsim/*CMakeLists.txt"),
    (
        ("cmake", "-S", "htsim/sim", "-B", "build", "-DCMAKE_BUILD_TYPE=Release"),
        ("cmake", "--build", "build", "-j2", "--target", "htsim_uec"),
    ),
    Path("build/datacenter"),
)  # fmt: skip


def _run(command: tuple[str, ...], folder: Path) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=PATIENCE)
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        raise TestbedError(f"{command[0]}: {error}") from error
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise TestbedError(f"{' '.join(command[:4])} ended with {done.returncode} in {folder}: {''.join(said)}")
