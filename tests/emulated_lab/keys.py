"""Keys of a lab: one to log in with, and one per node to be known by."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.emulated_lab.spec import NodeSpec


def make(folder: Path, specs: list[NodeSpec]) -> tuple[Path, Path]:
    """Returns the paths of the private key and of known_hosts."""
    key = folder / "id_ed25519"
    files = [key, *(folder / f"{spec.name}.key" for spec in specs)]
    making = [
        subprocess.Popen(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "testbed-lab", "-f", str(file)])
        for file in files
    ]
    for process in making:
        if process.wait() != 0:
            raise subprocess.CalledProcessError(process.returncode, process.args)
    lines = []
    for spec in specs:
        kind, public, *_ = (folder / f"{spec.name}.key.pub").read_text().split()
        lines.append(f"{spec.name},{spec.address} {kind} {public}\n")
    known = folder / "known_hosts"
    known.write_text("".join(lines))
    return key, known
