"""Compiling C with clang, once per version of its source, into a cache per user."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from testbed.errors import TestbedError

LIBRARY_FLAGS = ("-O2", "-g", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-lm")


@dataclass(frozen=True)
class Unit:
    """Something that is compiled into one file.

    Its version depends on its sources, on the headers in the folders ``headers``, and on the files ``includes``.
    """

    name: str
    sources: tuple[Path, ...]
    suffix: str
    flags: tuple[str, ...]
    headers: tuple[Path, ...] = ()
    includes: tuple[Path, ...] = ()

    def target(self) -> Path:
        """Where the outcome of this version of the source is kept."""
        headers = {header for folder in self.headers for header in folder.glob("*.h")}
        read = [*self.sources, *self.includes, *sorted(headers)]
        digest = hashlib.sha256(b"".join(file.read_bytes() for file in read))
        return cache_folder() / f"{self.name}-{digest.hexdigest()[:16]}{self.suffix}"

    def compiled(self) -> Path:
        """The file, compiled now if the source has changed. Raises TestbedError."""
        target = self.target()
        if not target.exists():
            compile_to(target, self.sources, self.flags)
        return target


def cache_folder() -> Path:
    """Where compiled programs are kept: a system folder for root, the user's cache otherwise, or $TESTBED_CACHE.

    Where that cannot be written to, it is a folder of the user's own among the temporary files.
    """
    if chosen := os.environ.get("TESTBED_CACHE"):
        return Path(chosen)
    usual = (
        Path("/var/cache") if os.geteuid() == 0 else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    )
    folder = usual / "testbed"
    there = next(one for one in (folder, *folder.parents) if os.path.exists(one))  # noqa: PTH110 - Path's may raise
    return folder if os.access(there, os.W_OK) else _own_temporary_folder()


def _own_temporary_folder() -> Path:
    """Nobody else may put programs there."""
    folder = Path(tempfile.gettempdir()) / f"testbed-{os.geteuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) != 0o700 or not stat.S_ISDIR(found.st_mode):
        raise TestbedError(f"{folder} must be a folder that only its owner may use; remove it, or set TESTBED_CACHE")
    return folder


def compile_to(target: Path, sources: tuple[Path, ...], flags: tuple[str, ...]) -> None:
    """Run clang; ``target`` appears complete or not at all. Raises TestbedError with what clang said."""
    clang = shutil.which("clang")
    if clang is None:
        raise TestbedError(
            "clang is needed to compile the data plane and controllers, and is not installed; run: apt install clang"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=target.parent, suffix=target.suffix, delete=False) as unfinished:
        output = Path(unfinished.name)
    try:
        # asm/types.h lies in the multiarch folder, which clang does not search for the bpf target
        multiarch = [f"-I{folder}" for folder in sorted(Path("/usr/include").glob("*-linux-gnu"))]
        command = [clang, *map(str, sources), "-o", str(output), *flags, *multiarch]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            hint = "; run: apt install libbpf-dev libc6-dev" if "file not found" in done.stderr else ""
            names = ", ".join(source.name for source in sources)
            raise TestbedError(f"clang could not compile {names}{hint}\n{done.stderr.strip()}")
        output.chmod(0o755)
        output.rename(target)
    finally:
        output.unlink(missing_ok=True)
