"""What no run, table or page needs of bundled packages goes: 63 of pyarrow's 170 MB.

Flight and S3 have libraries of their own, which nothing else links; headers and sources are for who compiles against
Arrow. ``python slim.py FOLDER`` does so below a folder, and imports nothing: the image's build has only this file.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

PYARROW = ("include", "includes", "src", "tests", "*flight*", "*s3*", "*.pyx", "*.pxi", "*.pxd")


def slim(folder: Path) -> None:
    """Remove it from each pyarrow below the folder."""
    for package in [one for one in folder.rglob("pyarrow") if (one / "__init__.py").exists()]:
        for unneeded in {one for pattern in PYARROW for one in package.glob(pattern)}:
            if unneeded.is_dir():
                shutil.rmtree(unneeded)
            else:
                unneeded.unlink()


if __name__ == "__main__":
    slim(Path(sys.argv[1]))
