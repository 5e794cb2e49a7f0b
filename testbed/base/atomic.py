"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def atomic_write(file: Path, content: bytes) -> None:
    """Write beside ``file`` and move into place; readable by all. Raises OSError, and then nothing has changed."""
    descriptor, name = tempfile.mkstemp(prefix=f".{file.name}-", dir=file.parent)
    unfinished = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as sink:
            sink.write(content)
        unfinished.chmod(0o644)
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)
