"""The exports, compiled for this machine."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from testbed_controllers.adpg.export.job import EXPORT, AdpgExportConfig

from testbed.sdk.jobs import JobContext
from tests.controllers.adpg.loops import BASE_RTT

HERE = Path(__file__).parent
UNDEFINED = ("-fsanitize=undefined", "-fsanitize-undefined-trap-on-error")  # whatever C leaves open ends the process
STRICT = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-Wdouble-promotion")


def exported(folder: Path, **options: object) -> Path:
    given = {"base_rtt": f"{BASE_RTT} s", **options}
    EXPORT.run(AdpgExportConfig.model_validate(given), JobContext(folder))
    return folder


def compiled(out: Path, sources: Sequence[Path], *flags: str) -> ctypes.CDLL:
    """A shared library by gcc."""
    command = ["gcc", *STRICT, "-shared", "-fPIC", *flags, *map(str, sources), "-o", str(out), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(out))


@pytest.fixture(scope="session")
def doca_export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported(tmp_path_factory.mktemp("doca"))


@pytest.fixture(scope="session")
def parts(doca_export: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The arithmetic alone, with floating point forbidden in the export."""
    folder = tmp_path_factory.mktemp("lib")
    strict = subprocess.run(
        ["gcc", *STRICT, "-ffreestanding", "-mgeneral-regs-only", "-fPIC", *UNDEFINED, "-c",
         doca_export / "device" / "adpg_fixed.c", "-o", folder / "fixed.o"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert strict.returncode == 0, strict.stderr
    return compiled(
        folder / "parts.so", [folder / "fixed.o", HERE / "parts.c"], f"-I{doca_export / 'device'}", *UNDEFINED
    )
