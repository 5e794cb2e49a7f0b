"""The engine's C under macOS: Apple's headers, which zig brings, and none of Linux's. What is compiled was not run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from testbed.base.compiler import LINKING, Unit
from testbed.engines.fluid.core import MODEL
from testbed.engines.virtual.build import CLASSES_MANY_PATHS, LINUX, MACOS, WORLD, plain

pytest.importorskip("ziglang", reason="comes with `make dist`")
ZIG = (sys.executable, "-m", "ziglang", "cc", "-target", "aarch64-macos", "-c")


@pytest.mark.parametrize("unit", [WORLD, CLASSES_MANY_PATHS, MODEL], ids=lambda unit: unit.name)
def test_it_is_compiled_without_a_warning(unit: Unit, tmp_path: Path) -> None:
    flags = [flag for flag in plain(unit).flags if flag not in LINUX and not flag.startswith(LINKING)]
    done = subprocess.run(
        [*ZIG, *flags, *MACOS, *unit.sources], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
