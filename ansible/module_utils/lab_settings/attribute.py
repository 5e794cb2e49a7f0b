"""Attributes of the kernel: small text files that answer with EINVAL and cannot be created, truncated or replaced."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from .errors import LabError

MEANINGS = {
    errno.EINVAL: "the kernel or the firmware does not accept this value",
    errno.EACCES: "not permitted; a virtual function has no say in this",
    errno.ENOENT: "this host has no such setting",
}


def read(path: Path) -> str | None:
    """The text without its newline; None if there is no such file."""
    try:
        return path.read_text(encoding="ascii").rstrip("\n")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise LabError(_explain(path, "read", error)) from None


def write(path: Path, text: str) -> None:
    """One write to a file that exists. Raises LabError with the kernel's reason."""
    try:
        file = os.open(path, os.O_WRONLY)  # neither O_CREAT nor O_TRUNC: sysfs knows neither
        try:
            os.write(file, f"{text}\n".encode("ascii"))
        finally:
            os.close(file)
    except OSError as error:
        raise LabError(_explain(path, f"write '{text}'", error)) from None


def _explain(path: Path, deed: str, error: OSError) -> str:
    meaning = MEANINGS.get(error.errno or 0)
    return f"{path}: {deed}: {error.strerror}" + (f" ({meaning})" if meaning else "")
