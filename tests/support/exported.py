"""Exported C as its reader meets it."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path


def example_of(folder: Path) -> list[tuple[float, float]]:
    """The example of an export, compiled and run as its README says: what it prints, RTTs in us and rates in Gbit/s."""
    (line,) = [line for line in (folder / "README.md").read_text().splitlines() if "./example" in line]
    said = ""
    for part in line.split("&&"):
        done = subprocess.run(shlex.split(part), cwd=folder, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        said += done.stdout
    return [(float(rtt), float(rate)) for rtt, rate in re.findall(r"RTT +(\S+) us: send at +(\S+) Gbit/s", said)]
