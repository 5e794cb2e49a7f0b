"""Which lines of C ran: a compiler that counts, for the tests, and what its programs have counted."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).parent
Lines = dict[int, bool]  # of a file: those with code, and whether they ran


def counting(folder: Path) -> dict[str, str]:
    """The environment in which `testbed` compiles C that counts; folders for it are made."""
    (notes := folder / "notes").mkdir(parents=True, exist_ok=True)
    preload = folder / "exiting.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-o", preload, HERE / "exiting.c", "-ldl"], check=True)
    return {
        "TESTBED_CACHE": str(folder / "cache"),
        "COVERAGE_NOTES": str(notes),
        "CC": str(HERE / "gcc"),
        "LD_PRELOAD": str(preload),
        "ASAN_OPTIONS": "verify_asan_link_order=0",  # programs under the sanitizer get the preloaded library, too
    }


def lines_of_c(folder: Path, root: Path, packages: Sequence[str]) -> Mapping[Path, Lines]:
    """By file below ``root``, of all that was compiled so: a line ran if it did in one of the ways to compile it."""
    ours = [root / one for one in packages]
    found: dict[Path, Lines] = {}
    gcov = shutil.which("gcov")
    assert gcov, "gcov comes with gcc"
    for note in sorted((folder / "notes").glob("*/*.gcno")):
        said = subprocess.run([gcov, "--json-format", "--stdout", note], capture_output=True, text=True, check=True)
        for document in said.stdout.splitlines():
            for file in json.loads(document)["files"]:
                path = Path(file["file"])
                if any(map(path.is_relative_to, ours)):
                    lines = found.setdefault(path.relative_to(root), {})
                    for line in file["lines"]:
                        number = line["line_number"]
                        lines[number] = lines.get(number, False) or line["count"] > 0
    return found
