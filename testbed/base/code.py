"""Code in a file, or in a folder as one file: which code it was is the SHA-256 of that, and it can be copied."""

from __future__ import annotations

import hashlib
import io
import zipfile
from functools import partial
from pathlib import Path

from testbed.base.atomic import folder_once
from testbed.base.compiler import cache_folder

SOURCES = (".py", ".c", ".h")
MOST_UNPACKED = 1 << 26  # bytes
ARCHIVE = ".zip"


def content(place: Path) -> bytes:
    """Of a file; of a folder an archive of its sources, always the same for the same."""
    if not place.is_dir():
        return place.read_bytes()
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for source in sources(place):
            archive.writestr(zipfile.ZipInfo(str(source.relative_to(place))), source.read_bytes())
    return held.getvalue()


def sources(folder: Path) -> list[Path]:
    """In order."""
    return sorted(one for one in folder.rglob("*") if one.suffix in SOURCES)


def digest(place: Path) -> str:
    """SHA-256 of the content."""
    return hashlib.sha256(content(place)).hexdigest()


def unpacked(archive: Path) -> Path:
    """The folder again, in the cache. Raises zipfile.BadZipFile for what `content` has not made."""
    with zipfile.ZipFile(archive) as held:
        return folder_once(cache_folder() / "code" / digest(archive)[:16], partial(_unpack, held))


def _unpack(held: zipfile.ZipFile, folder: Path) -> None:
    """An archive may be a stranger's: sources alone, and none outside the folder."""
    if sum(one.file_size for one in held.infolist()) > MOST_UNPACKED:
        raise zipfile.BadZipFile(f"its sources would take more than {MOST_UNPACKED / 1e6:.0f} MB")
    for name in held.namelist():
        place = folder / name
        if place.suffix not in SOURCES or ".." in place.parts or folder not in place.parents:
            raise zipfile.BadZipFile(f"no folder of sources has a file {name!r}")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(held.read(name))
