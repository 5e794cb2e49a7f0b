"""The C of this folder, compiled into one that is gone with the process; blaster.c and drop.bpf.c for Python."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from ctypes import c_double, c_int, c_int64, c_void_p
from functools import cache
from pathlib import Path

from testbed.base.compiler import LIBRARY_FLAGS
from testbed.dataplane.build import BPF_FLAGS
from testbed.dataplane.build import SOURCE as DATAPLANE

HERE = Path(__file__).parent
_folder = tempfile.TemporaryDirectory(prefix="testbed-bench-")


@cache
def library() -> ctypes.CDLL:
    """``blast`` and ``keep_full``; they let other threads run meanwhile."""
    loaded = ctypes.CDLL(str(compiled("blaster.c", "blaster.so", LIBRARY_FLAGS)))
    loaded.blast.restype, loaded.blast.argtypes = c_int64, [c_int, c_void_p, c_int64, c_int64, c_double]
    loaded.keep_full.restype = c_int64
    loaded.keep_full.argtypes = [
        c_void_p, c_void_p, c_int64, c_int64, c_void_p, c_int64, c_void_p, c_void_p, c_int64, c_int64, c_double
    ]  # fmt: skip
    return loaded


@cache
def dropper() -> Path:
    """The object file with the program ``drop``."""
    multiarch = [f"-I{folder}" for folder in sorted(Path("/usr/include").glob("*-linux-gnu"))]
    return compiled("drop.bpf.c", "drop.o", (*BPF_FLAGS, f"-I{DATAPLANE}", *multiarch))


def compiled(source: str, target: str, flags: tuple[str, ...]) -> Path:
    """A source of this folder."""
    output = Path(_folder.name) / target
    subprocess.run(["clang", str(HERE / source), "-o", str(output), *flags], check=True)
    return output
