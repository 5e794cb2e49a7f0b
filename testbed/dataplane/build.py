"""Compiling the eBPF programs with clang, once per version of their source."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from testbed.errors import TestbedError

SOURCE = Path(__file__).parent
CLANG_FLAGS = ("-O2", "-g", "-Wall", "-Werror", "-target", "bpf")


def cache_folder() -> Path:
    """Where compiled programs are kept: a system folder for root, the user's cache otherwise."""
    if os.geteuid() == 0:
        return Path("/var/cache/testbed")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "testbed"


def compiled(program: str) -> Path:
    """The object file of ``nic`` or ``port``, compiled now if its source changed. Raises TestbedError."""
    source = SOURCE / f"{program}.bpf.c"
    headers = sorted(SOURCE.glob("*.h"))
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in [source, *headers]))
    target = cache_folder() / f"{program}-{digest.hexdigest()[:16]}.o"
    if not target.exists():
        _compile(source, target)
    return target


def _compile(source: Path, target: Path) -> None:
    clang = shutil.which("clang")
    if clang is None:
        raise TestbedError("clang is needed to compile the eBPF programs and is not installed; run: apt install clang")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=target.parent, suffix=".o", delete=False) as unfinished:
        output = Path(unfinished.name)
    try:
        # asm/types.h lies in the multiarch folder, which clang does not search for the bpf target
        multiarch = [f"-I{folder}" for folder in sorted(Path("/usr/include").glob("*-linux-gnu"))]
        command = [clang, *CLANG_FLAGS, *multiarch, "-c", str(source), "-o", str(output)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            hint = "; run: apt install libbpf-dev linux-libc-dev" if "file not found" in done.stderr else ""
            raise TestbedError(f"clang could not compile {source.name}{hint}\n{done.stderr.strip()}")
        output.rename(target)
    finally:
        output.unlink(missing_ok=True)
