"""A controller in C (testbed_cc.h) or a program for a card, loaded: what it declares, and the records of its flows."""

from __future__ import annotations

import ctypes
import hashlib
import logging
import re
import shutil
import subprocess
from ctypes import c_char_p, c_int64, c_void_p
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from testbed.base.atomic import atomic_write
from testbed.base.compiler import EXACT, LIBRARY_FLAGS, Unit, cache_folder, compile_to, local_includes
from testbed.base.kept import made_once
from testbed.compiled import c_firmware
from testbed.compiled.c_options import COption, Option, declared
from testbed.compiled.events import CONTROLLER, EVENTS
from testbed.compiled.layout import PATH
from testbed.errors import BadInput, TestbedError

log = logging.getLogger(__package__)
FOLDER = Path(__file__).parent
HEADER = FOLDER / "testbed_cc.h"
VERSION = 2  # CC_VERSION
SOURCE, SHARED = ".c", ".so"
FLAGS = (
    "-std=c99", "-O2", "-g", "-Wall", "-Wextra", "-Werror=incompatible-pointer-types", EXACT, "-shared", "-fPIC",
    f"-I{FOLDER}", "-lm", "-Wl,-z,defs",
)  # fmt: skip
GUARD = Unit("guard", (FOLDER / "guard.c", FOLDER / "isolate.c"), SHARED, LIBRARY_FLAGS, headers=(FOLDER,))


class CController(ctypes.Structure):
    """struct cc_controller."""

    _fields_ = [
        *((name, c_char_p) for name in ("name", "text", "thresholds")), ("signals", c_int64), ("unresponsive", c_int64),
        *((event, c_void_p) for event in EVENTS),
    ]  # fmt: skip


class CLibrary(ctypes.Structure):
    """struct cc_library."""

    _fields_ = [
        *((name, c_int64) for name in ("version", "flow_size", "options_at", "path_at", "options_size")),
        ("compiler", c_char_p), ("options", ctypes.POINTER(COption)), ("controller", ctypes.POINTER(CController)),
        ("decide", c_void_p),
    ]  # fmt: skip


@dataclass(frozen=True)
class Native:
    """One that is loaded."""

    file: Path  # as the user has it
    library: Path

    @cached_property
    def c(self) -> CLibrary:
        """Raises BadInput if it is no controller."""
        try:
            library = ctypes.CDLL(str(self.library))
            found = CLibrary.in_dll(library, "cc_library")
        except OSError as error:
            raise BadInput(f"'{self.file}' cannot be loaded: {error}") from None
        except ValueError:
            raise BadInput(f"'{self.file}' declares no controller; end it with CC_CONTROLLER(...)") from None
        if found.version != VERSION:
            raise BadInput(
                f"'{self.file}' was compiled with version {found.version} of testbed_cc.h; this testbed has version "
                f"{VERSION}: compile it again"
            )
        if found.path_at != len(CONTROLLER.decided) * 8 + 8:
            raise BadInput(f"'{self.file}': struct cc_flow must begin with CC_FLOW")
        if c_firmware.named_by(self.file) and (why := c_firmware.refused(library)):
            raise BadInput(f"'{self.file}' declares {why}, which the card of the rack does not take")
        return found

    @property
    def name(self) -> str:
        """As it is called if it does not say."""
        return self.file.name if self.file.is_dir() else self.file.stem

    @property
    def compiler(self) -> str:
        """Which one has made it, as it calls itself."""
        told: bytes = self.c.compiler
        text = told.decode(errors="replace")
        return text if "clang" in text.lower() else f"GCC {text}"

    @cached_property
    def options(self) -> list[Option]:
        """Raises BadInput."""
        return declared(self.file, self.c.options)

    @property
    def layout(self) -> np.dtype[Any]:
        """Of a flow's record, `struct cc_flow`."""
        c, names = self.c, [*CONTROLLER.decided, "options", "path"]
        formats: list[Any] = ["f8", "f8", "f8", "u8", PATH]
        offsets = [0, 8, 16, c.options_at, c.path_at]
        if rest := c.flow_size - c.path_at - PATH.itemsize:
            names, formats, offsets = [*names, "state"], [*formats, f"V{rest}"], [*offsets, c.flow_size - rest]
        return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": c.flow_size})

    def line_of(self, name: str) -> int:
        """Where the source defines a function; 1 if nobody knows."""
        if self.file.suffix != SOURCE:
            return 1
        text = self.file.read_text(encoding="utf-8", errors="replace")
        found = re.search(rf"^[^\S\n]*[\w*][\w \t*]*\b{name}\s*\(", text, re.MULTILINE)
        return text.count("\n", 0, found.start()) + 1 if found else 1

    def line_at(self, instruction: int) -> int | None:
        """Which line of the source an address in this process is of, if that can be found out."""
        tool = shutil.which("addr2line")
        bases = [
            line.split("-")[0] for line in Path("/proc/self/maps").read_text().splitlines() if str(self.library) in line
        ]
        if not (tool and bases and instruction):
            return None
        command = [tool, "-e", str(self.library), hex(instruction - int(bases[0], 16))]
        said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        file, _, line = said.strip().partition(" ")[0].rpartition(":")
        return int(line) if line.isdigit() and Path(file).name == self.file.name else None


def native(file: Path) -> Native:
    """A C file or a program for a card, compiled if it has changed, or a shared object.

    Raises BadInput with what the compiler says.
    """
    if not sources(file):
        return Native(file, _kept(file))
    flags = (*FLAGS, *flags_of(file))
    unit = Unit(f"controller-{file.stem}", sources(file), SHARED, flags, included(file), (HEADER,))
    if file.suffix == SOURCE and not unit.target().exists():
        _alone(file)
    return Native(file, _compiled(unit))


def sources(file: Path) -> tuple[Path, ...]:
    """What a controller is compiled from; nothing for a shared object."""
    if c_firmware.named_by(file):
        return (*c_firmware.OURS, *c_firmware.sources(file))
    return (file,) if file.suffix == SOURCE else ()


def included(file: Path) -> tuple[Path, ...]:
    """Folders with headers, beside that of testbed_cc.h."""
    return c_firmware.headers(file) if c_firmware.named_by(file) else ()


def flags_of(file: Path) -> tuple[str, ...]:
    """What the compiler is told of it beside what it is told of all."""
    folders = tuple(f"-I{folder}" for folder in included(file))
    return (*folders, *c_firmware.telemetry(file)) if folders else ()


def _compiled(unit: Unit) -> Path:
    target = unit.target()

    def make() -> None:
        try:
            said = compile_to(target, unit.sources, unit.flags)
        except TestbedError as error:
            raise BadInput(str(error)) from None
        if said:
            log.warning("%s", said)

    return made_once(target, make)


def _alone(file: Path) -> None:
    try:
        read = local_includes(file, FLAGS)
    except TestbedError as error:
        raise BadInput(str(error)) from None
    for one in read:
        if one != file and one.read_bytes() != HEADER.read_bytes():
            raise BadInput(
                f"'{file}' includes '{one}': a controller is one file, whose SHA-256 says what decided; write it into "
                "the file (the C library's headers and this testbed's testbed_cc.h may be included)"
            )


def _kept(file: Path) -> Path:
    """A copy, named by its content: a library that is loaded already would be found again under its old name."""
    content = file.read_bytes()
    target = cache_folder() / f"controller-so-{file.stem}-{hashlib.sha256(content).hexdigest()[:16]}.so"
    return made_once(target, partial(atomic_write, target, content, 0o755))
