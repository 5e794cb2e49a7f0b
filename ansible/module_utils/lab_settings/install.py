"""Leave this package on the host, for the dead man's switch and for boot: they must not need anybody else."""

from __future__ import annotations

from importlib.resources import files

from . import host_files
from .target import Target

SCRIPTS = {"restore.py": "restore", "reapply.py": "reapply"}
SCRIPT = """#!/usr/bin/env python3
\"\"\"Written by testbed's rollout; see lab_settings/{module}.py.\"\"\"

from lab_settings.{module} import main

if __name__ == "__main__":
    raise SystemExit(main())
"""


def install(target: Target) -> bool:
    """Write package and scripts below /usr/local/lib/testbed; returns whether anything was not yet there."""
    folder = target.path(host_files.PROGRAM)
    wanted = {
        f"lab_settings/{source.name}": source.read_text(encoding="utf-8")
        for source in files(__package__ or "lab_settings").iterdir()
        if source.name.endswith(".py")
    }
    wanted.update({name: SCRIPT.format(module=module) for name, module in SCRIPTS.items()})
    changed = False
    for name, text in wanted.items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            host_files.write(path, text, mode=0o644)
            changed = True
    return changed
