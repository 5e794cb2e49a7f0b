"""`ninja`: "builds" an exported project: a `doca_pcc` whose algorithm is that of the project's manifest.json.

Nothing is compiled: that the sources compile is tested with the exporter.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from tests.emulated_lab import ppcc
from tests.emulated_lab.store import Store


def main(arguments: list[str], _store: Store) -> int:
    build = Path(arguments[arguments.index("-C") + 1] if "-C" in arguments else ".")
    if not (build / "build.ninja").exists():
        print("ninja: error: loading 'build.ninja': No such file or directory", file=sys.stderr)
        return 1
    source = Path((build / "build.ninja").read_text().removeprefix("# ").strip())
    manifest = json.loads((source / "manifest.json").read_text())
    program = build / manifest["binary"]
    shutil.copy(shutil.which("doca_pcc") or "", program)
    Path(f"{program}.json").write_text(json.dumps(_algorithm(manifest)))
    return 0


def _algorithm(manifest: dict[str, object]) -> ppcc.Algorithm:
    parameters, names = manifest["parameters"], manifest["counters"]
    assert isinstance(parameters, list)
    assert isinstance(names, list)
    return ppcc.algorithm(
        int(str(manifest["algorithm_id"])) << 16 | 0x0100,
        f"{str(manifest['controller']).upper()}, built from {manifest['digest']}",
        [ppcc.parameter(f"{p['name']}, {p['text']}", p["initial"], p["least"], p["most"]) for p in parameters],
        [f"{name}, counted" for name in names],
    )
