"""The exports, compiled for this machine."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from testbed_controllers.adpg.export.job import ExportConfig, export

from testbed.sdk.jobs import JobContext
from tests.controllers.adpg.loops import BASE_RTT

HERE = Path(__file__).parent
UNDEFINED = ("-fsanitize=undefined", "-fsanitize-undefined-trap-on-error")  # whatever C leaves open ends the process
STRICT = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-Wdouble-promotion")


def exported(to: str, folder: Path, **options: object) -> Path:
    given = {"to": to, "base_rtt": f"{BASE_RTT} s", **options}
    export(ExportConfig.model_validate(given), JobContext(folder))
    return folder


def compiled(out: Path, sources: Sequence[Path], *flags: str) -> ctypes.CDLL:
    """A shared library by gcc."""
    command = ["gcc", *STRICT, "-shared", "-fPIC", *flags, *map(str, sources), "-o", str(out), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(out))


@pytest.fixture(scope="session")
def portable_export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported("c", tmp_path_factory.mktemp("portable"))


@pytest.fixture(scope="session")
def portable(portable_export: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    sources = [*portable_export.glob("*.c"), HERE / "portable.c"]
    out = tmp_path_factory.mktemp("lib") / "portable.so"
    return compiled(out, sources, "-pedantic", "-ffp-contract=off", f"-I{portable_export}")


@pytest.fixture(scope="session")
def doca_export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported("doca-pcc", tmp_path_factory.mktemp("doca"))


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
