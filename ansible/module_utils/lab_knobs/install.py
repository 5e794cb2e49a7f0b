"""Leave this package on the host, for the dead man's switch and for boot: they must not need anybody else."""

from __future__ import annotations

from importlib.resources import files

from . import place
from .target import Target

SCRIPTS = {"restore.py": "restore", "settings.py": "settings"}
SCRIPT = """#!/usr/bin/env python3
\"\"\"Written by testbed's rollout; see lab_knobs/{module}.py.\"\"\"

from lab_knobs.{module} import main

if __name__ == "__main__":
    raise SystemExit(main())
"""


def install(target: Target) -> bool:
    """Write package and scripts below /usr/local/lib/testbed; returns whether anything was not yet there."""
    folder = target.path(place.PROGRAM)
    wanted = {
        f"lab_knobs/{source.name}": source.read_text(encoding="utf-8")
        for source in files(__package__ or "lab_knobs").iterdir()
        if source.name.endswith(".py")
    }
    wanted.update({name: SCRIPT.format(module=module) for name, module in SCRIPTS.items()})
    changed = False
    for name, text in wanted.items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            place.replace(path, text, mode=0o644)
            changed = True
    return changed
