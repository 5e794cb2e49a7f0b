"""`make fuzz`: for some minutes each, all targets or some. What is found is written down, and the exit code is 1."""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.fuzz import Finding, fuzz
from tests.fuzz.targets import TARGETS

BATCH = 200  # inputs
MOST = 1500  # characters of what is said of each finding


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    options.add_argument("targets", nargs="*", choices=[*TARGETS, []], metavar="TARGET", help=", ".join(TARGETS))
    options.add_argument("--minutes", type=float, default=1.0, help="for each target")
    options.add_argument("--out", type=Path, default=Path("build/fuzz"), help="folder for inputs that make trouble")
    told = options.parse_args()
    found = 0
    for name in told.targets or TARGETS:
        findings = _minutes(name, told.minutes)
        for finding in findings.values():
            file = told.out / f"{name}-{hashlib.sha256(finding.what.encode()).hexdigest()[:8]}"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(finding.content)
            print(f"{file}: {finding.what}\n{finding.detail[-MOST:]}", flush=True)
        found += len(findings)
    return 1 if found else 0


def _minutes(name: str, minutes: float) -> dict[str, Finding]:
    found: dict[str, Finding] = {}
    target = TARGETS[name]()
    end, inputs, number = time.monotonic() + 60 * minutes, 0, time.time_ns()
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end:
            found |= fuzz(target, BATCH, number + inputs, Path(folder))
            inputs += BATCH
    print(f"{name}: {inputs:,} inputs, {len(found)} findings", file=sys.stderr, flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
