"""Compiling the data plane with clang, once per version of its source: eBPF programs and the agents' datapath."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from testbed.errors import TestbedError

SOURCE = Path(__file__).parent
BPF_FLAGS = ("-O2", "-g", "-Wall", "-Werror", "-target", "bpf", "-c")
LIBRARY_FLAGS = ("-O2", "-g", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-lm")
PROGRAMS = ("nic", "port", "drop")
DATAPATH = SOURCE.parent / "agent" / "datapath.c"


def cache_folder() -> Path:
    """Where compiled programs are kept: a system folder for root, the user's cache otherwise, or $TESTBED_CACHE."""
    if chosen := os.environ.get("TESTBED_CACHE"):
        return Path(chosen)
    if os.geteuid() == 0:
        return Path("/var/cache/testbed")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "testbed"


def compiled(program: str) -> Path:
    """The eBPF object file of ``nic`` or ``port``, compiled now if its source changed. Raises TestbedError."""
    return _cached(SOURCE / f"{program}.bpf.c", ".o", BPF_FLAGS)


def compiled_library() -> Path:
    """The shared library of the agents' datapath."""
    return _cached(DATAPATH, ".so", LIBRARY_FLAGS)


def all_compiled() -> bool:
    """Whether the cache holds everything."""
    targets = [_target(SOURCE / f"{program}.bpf.c", ".o") for program in PROGRAMS]
    return all(target.exists() for target in (*targets, _target(DATAPATH, ".so")))


def compile_all() -> None:
    """Compile whatever is not in the cache yet."""
    for program in PROGRAMS:
        compiled(program)
    compiled_library()


def _target(source: Path, suffix: str) -> Path:
    """Where the outcome of this version of the source is kept."""
    headers = sorted(SOURCE.glob("*.h"))
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in [source, *headers]))
    return cache_folder() / f"{source.name.partition('.')[0]}-{digest.hexdigest()[:16]}{suffix}"


def _cached(source: Path, suffix: str, flags: tuple[str, ...]) -> Path:
    target = _target(source, suffix)
    if not target.exists():
        _compile(source, target, flags)
    return target


def _compile(source: Path, target: Path, flags: tuple[str, ...]) -> None:
    clang = shutil.which("clang")
    if clang is None:
        raise TestbedError("clang is needed to compile the data plane and is not installed; run: apt install clang")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=target.parent, suffix=target.suffix, delete=False) as unfinished:
        output = Path(unfinished.name)
    try:
        # asm/types.h lies in the multiarch folder, which clang does not search for the bpf target
        multiarch = [f"-I{folder}" for folder in sorted(Path("/usr/include").glob("*-linux-gnu"))]
        command = [clang, str(source), "-o", str(output), *flags, *multiarch]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            hint = "; run: apt install libbpf-dev libc6-dev" if "file not found" in done.stderr else ""
            raise TestbedError(f"clang could not compile {source.name}{hint}\n{done.stderr.strip()}")
        output.chmod(0o755)
        output.rename(target)
    finally:
        output.unlink(missing_ok=True)
