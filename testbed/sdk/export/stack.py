"""How much stack an export takes, by what gcc says of each function."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path


def stack_use(sources: Sequence[Path], flags: Sequence[str]) -> str:
    """All its functions' frames together, which no chain of calls exceeds: none calls itself."""
    if not shutil.which("gcc"):
        return "not measured: there is no gcc"
    used = 0
    for source in sources:
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "one.o"
            command = ["gcc", *flags, "-c", "-fstack-usage", str(source), "-o", str(target)]
            subprocess.run(command, check=True, capture_output=True)
            used += sum(int(line.split("\t")[1]) for line in target.with_suffix(".su").read_text().splitlines())
    return f"at most {used} bytes, all functions together (gcc -O2)"
