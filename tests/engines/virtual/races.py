"""ThreadSanitizer over racks that are cut: ``python -m tests.engines.virtual.races`` says what two threads touch.

Needs gcc and its libtsan, which must be there before everything else: the script starts itself again with it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from unittest import mock

from testbed.base.compiler import Unit
from testbed.engines.virtual import run as virtual_run
from testbed.engines.virtual.run import VirtualRun
from testbed.runs.overrides import resolve
from testbed.sdk.conformance.trial import Unwatched

RACKS = (
    ("leaf-spine", ()),
    ("leaf-spine", ("routing=spray",)),
    ("leaf-spine", ("receiver=eqds",)),
    ("trimming", ()),
    ("incast-64-lossless", ()),
    ("sonic-switch", ()),
)
USUAL = ("engine=virtual", "record.decisions=0", "time.duration=200 us", "time.warmup=50 us")
compiled = Unit.compiled


def _watched(unit: Unit) -> Path:
    if not unit.name.startswith("world"):
        return compiled(unit)
    made = Path(tempfile.mkdtemp()) / "world.so"
    flags = [flag for flag in unit.flags if flag != "-Werror"]
    sources = map(str, unit.sources)
    clean = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    command = ["gcc", *flags, "-w", "-fsanitize=thread", "-o", str(made), *sources, "-lm"]
    subprocess.run(command, check=True, env=clean)
    return made


def main() -> int:
    """What it finds goes to stderr; 66 if anything."""
    if "LD_PRELOAD" not in os.environ:
        told = subprocess.run(["gcc", "-print-file-name=libtsan.so"], check=True, capture_output=True, text=True)
        os.environ |= {"LD_PRELOAD": told.stdout.strip(), "TSAN_OPTIONS": "ignore_noninstrumented_modules=1"}
        os.execv(sys.executable, [sys.executable, "-m", "tests.engines.virtual.races"])
    parts = mock.patch.object(virtual_run, "useful_parts", return_value=5)  # which change their threads
    with parts, mock.patch.object(Unit, "compiled", _watched):
        for name, settings in RACKS:
            run = VirtualRun(resolve(name, {}, {}, [*USUAL, *settings]), (), Unwatched(), threads=2)
            run.follow()
            assert run.parts
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
