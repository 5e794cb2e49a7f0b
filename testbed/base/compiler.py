"""Compiling C, once per version of its source, into a cache per user; a wheel brings what is compiled already."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shlex
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from threading import Thread
from typing import Any

from testbed.base.kept import made_once
from testbed.errors import TestbedError

LIBRARY_FLAGS = ("-O2", "-g", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-lm")
SANITIZERS = ("-fsanitize=address,undefined",)
EXACT = "-ffp-contract=off"  # the same bits from every compiler, on every machine
LINKING = ("-shared", "-l", "-Wl,")  # what such flags begin with
FOR_EBPF = ("-target", "bpf")  # among a unit's flags: only clang will do
PACKAGE = Path(__file__).parents[1]
SHIPPED = PACKAGE / "binaries"  # in a wheel for one kind of machine; in a checkout there is no such folder
USUAL = ("clang", "gcc", "cc")
NO_COMPILER = (
    "a C compiler is needed, and there is none (clang, gcc, cc or $CC); run: apt install gcc, or without root: "
    'pip install ziglang or uv tool install ziglang, and set CC="python-zig cc"'
)
NO_HEADER = ("file not found", "No such file or directory")  # as clang and gcc say it

Signature = tuple[Any, list[Any]]


@dataclass(frozen=True)
class Unit:
    """Something that is compiled into one file.

    Its version depends on its flags, its sources, the headers in the folders ``headers``, and the files ``includes``.
    Which compiler made it does not matter.
    """

    name: str
    sources: tuple[Path, ...]
    suffix: str
    flags: tuple[str, ...]
    headers: tuple[Path, ...] = ()
    includes: tuple[Path, ...] = ()

    def target(self) -> Path:
        """Where the outcome of this version of the source is: in the wheel, or kept in the cache."""
        name = self.file_name
        return shipped(name) or cache_folder() / name

    @cached_property
    def file_name(self) -> str:
        """Of the outcome; another one for another version of the source, as it is when a process asks first."""
        headers = {header for folder in self.headers for header in folder.glob("*.h")}
        flags = "\n".join(self.flags).replace(str(PACKAGE), "")  # the same wherever the package is
        read = b"".join(file.read_bytes() for file in [*self.sources, *self.includes, *sorted(headers)])
        return f"{self.name}-{hashlib.sha256(flags.encode() + read).hexdigest()[:16]}{self.suffix}"

    def compiled(self) -> Path:
        """The file, compiled now if the source has changed. Raises TestbedError."""
        name = self.file_name
        target = cache_folder() / name
        return shipped(name) or made_once(target, partial(self._compile_each, target))

    def library(self, **functions: Signature) -> ctypes.CDLL:
        """Loaded, with the types of its ``functions``: of the result, and of the arguments. Raises TestbedError."""
        loaded = ctypes.CDLL(str(self.compiled()))
        for name, (result, arguments) in functions.items():
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, arguments
        return loaded

    def _compile_each(self, target: Path) -> None:
        """On all cores, and then together."""
        if len(self.sources) == 1:
            compile_to(target, self.sources, self.flags)
            return
        linking = tuple(flag for flag in self.flags if flag.startswith(LINKING))
        alone = ("-c", *(flag for flag in self.flags if flag not in linking))
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = tuple(Path(folder) / f"{source.stem}.o" for source in self.sources)
            made = [
                pool.submit(compile_to, output, (source,), alone)
                for output, source in zip(objects, self.sources, strict=True)
            ]
            for one in made:
                one.result()
            compile_to(target, objects, linking)


def compile_ahead(units: Iterable[Unit]) -> None:
    """Begin now, while there is something else to do: who needs one waits for the rest, and hears what is wrong."""

    def compile_one(unit: Unit) -> None:
        with suppress(TestbedError):
            unit.compiled()

    for unit in units:
        if not unit.target().exists():
            Thread(target=compile_one, args=(unit,)).start()


def shipped(name: str) -> Path | None:
    """What the wheel brought compiled, if it did."""
    file = SHIPPED / name
    return file if file.exists() else None


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


def compiler() -> list[str]:
    """The command of a C compiler: ``$CC``, or else the first of the usual ones; empty if there is none."""
    chosen = shlex.split(os.environ.get("CC", ""))
    if chosen and shutil.which(chosen[0]):
        return chosen
    found = next(filter(None, map(shutil.which, USUAL)), None)
    return [found] if found else []


def can_sanitize() -> list[str]:
    """The command of a compiler that has the runtime of the sanitizers; empty if none does."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "nothing.c"
        source.write_text("int main(void) { return 0; }\n")
        usual = ((one,) for one in filter(None, map(shutil.which, USUAL)))
        flags = (str(source), *SANITIZERS, "-o", str(source.with_suffix("")))
        for command in filter(None, dict.fromkeys((tuple(compiler()), *usual))):
            if not subprocess.run([*command, *flags], capture_output=True, check=False).returncode:
                return [*command]
    return []


def compile_to(target: Path, sources: tuple[Path, ...], flags: tuple[str, ...], command: Sequence[str] = ()) -> str:
    """Run a compiler, or ``command``; ``target`` appears complete or not at all. Returns its warnings.

    Raises TestbedError with what the compiler said.
    """
    chosen, headers = _command(flags)
    command = [*(command or chosen)]
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=target.parent, suffix=target.suffix, delete=False) as unfinished:
        output = Path(unfinished.name)
    try:
        command += [*map(str, sources), "-o", str(output), *flags]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            hint = f"; run: apt install {headers}" if any(said in done.stderr for said in NO_HEADER) else ""
            names = ", ".join(source.name for source in sources)
            raise TestbedError(f"{command[0]} could not compile {names}{hint}\n{done.stderr.strip()}")
        output.chmod(0o755)
        output.rename(target)
    finally:
        output.unlink(missing_ok=True)
    return done.stderr.strip()


def local_includes(source: Path, flags: tuple[str, ...]) -> list[Path]:
    """What a source is made of beside the system's headers. Raises TestbedError as `compile_to`."""
    with tempfile.NamedTemporaryFile(suffix=".d") as rule:
        compile_to(Path(rule.name), (source,), ("-MM", *(flag for flag in flags if flag.startswith(("-I", "-std")))))
        names = shlex.split(Path(rule.name).read_text().partition(":")[2].replace("\\\n", " "))
    return [Path(name).resolve() for name in names]


def _command(flags: tuple[str, ...]) -> tuple[list[str], str]:
    """How a command begins, and the packages with the headers that are read. Raises TestbedError without a compiler."""
    if FOR_EBPF[1] not in flags:
        if found := compiler():
            return found, "libc6-dev linux-libc-dev"
        raise TestbedError(NO_COMPILER)
    clang = shutil.which("clang")
    if clang is None:
        raise TestbedError("clang is needed to compile the data plane, and is not installed; run: apt install clang")
    # asm/types.h lies in the multiarch folder, which clang does not search for the bpf target
    multiarch = [f"-I{folder}" for folder in sorted(Path("/usr/include").glob("*-linux-gnu"))]
    return [clang, *multiarch], "libbpf-dev linux-libc-dev"
