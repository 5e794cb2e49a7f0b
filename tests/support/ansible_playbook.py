"""ansible-playbook, with what it packs of a module for the hosts kept from one call to the next.

Packing reads and parses all that a module imports, a quarter of a second for each module of a playbook.
"""

from __future__ import annotations

import gc
import hashlib
import os
import sys
from pathlib import Path

from ansible.cli.playbook import main
from ansible.release import __version__

from ansible import constants


def packed_of(sources: Path) -> Path:
    """Where the modules are kept that these sources and this Ansible make."""
    digest = hashlib.sha256(f"{__version__} {sys.version}".encode())
    for file in sorted([*sources.glob("library/*.py"), *sources.glob("module_utils/**/*.py")]):
        digest.update(f"{file.relative_to(sources)}\0".encode() + file.read_bytes())
    return Path(os.environ["LAB_PYCACHE"]) / f"packed-{digest.hexdigest()[:16]}"


gc.disable()  # a fifth of a short play's time; what it makes stays until the end

if __name__ == "__main__":
    kept = packed_of(Path.cwd())
    kept.mkdir(exist_ok=True)
    (Path(constants.DEFAULT_LOCAL_TMP) / "ansiballz_cache").symlink_to(kept)
    main()
