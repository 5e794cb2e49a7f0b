"""Memory of a whole run: the sum of proportional set sizes (PSS) of all its processes, sampled until it ends.

PSS counts a page that n processes share as 1/n in each, so that the sum counts it once. Kernel memory (maps, queues)
is not in it.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

from bench.command import TESTBED

INTERVAL = 0.1  # s
KIB = 1024


def peak(*arguments: str) -> int:
    """Bytes at the highest of all samples of ``testbed run`` with these arguments."""
    highest = 0
    with tempfile.TemporaryDirectory() as folder:
        command = [TESTBED, "run", *arguments, "--out", f"{folder}/out"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
        while process.poll() is None:
            highest = max(highest, sum(map(_pss, family(process.pid))))
            time.sleep(INTERVAL)
    assert process.returncode in {0, 3}, f"{' '.join(command)} ended with {process.returncode}"
    return highest


def family(root: int) -> list[int]:
    """A process and all its descendants."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it ended meanwhile
            continue
        children.setdefault(parent, []).append(int(stat.parent.name))
    family = [root]
    for member in family:  # grows while we walk
        family += children.get(member, [])
    return family


def _pss(pid: int) -> int:
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * KIB for line in rollup.splitlines() if line.startswith("Pss:"))
