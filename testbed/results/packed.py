"""Results in a report: manifest, summary, the experiment's own files, and the tables that there is room for.

A zip archive in an element of the page. A table that has no room is known by its SHA-256, which the manifest has.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from testbed.base.atomic import folder_once
from testbed.base.compiler import cache_folder
from testbed.errors import BadInput
from testbed.results import differences
from testbed.results.brought import FOLDER
from testbed.results.folder import MANIFEST, SUMMARY
from testbed.results.tables import QUEUE_SERIES, QUEUES, TUNERS

MOST = 3_000_000  # bytes of a page with the tables that it carries; more is not sent by mail
TABLES = ("flows.parquet", "ports.parquet", QUEUES, "histograms.parquet", TUNERS)
SERIES = ("port_series.parquet", "flow_series.parquet", QUEUE_SERIES)
MOST_UNPACKED = 100_000_000  # bytes; ours are some MB
_SHRUNK = ".differences"
_OURS = re.compile(rf"(?:{FOLDER}/)?(?!\.\.?\Z)[^/\\\x00]+")  # in the folder, or among the copies
_INDEX = 4000  # bytes of the archive that are no file
_AT_BEST = 4  # times smaller are a table's differences
_ELEMENT = '<script type="application/octet-stream" id="results">'
_FOUND = re.compile(rf"{_ELEMENT}([A-Za-z0-9+/=]*)</script>")


def into(page: str, run: Path) -> str:
    """The page with the results of a folder in it."""
    room = (MOST - len(page.encode())) * 3 // 4 - _INDEX  # in base64
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in (run / MANIFEST, run / SUMMARY, *sorted((run / FOLDER).glob("*"))):
            _add(archive, str(file.relative_to(run)), file.read_bytes())
        for name, content in _tables(run, room):
            if held.tell() + len(content) < room:
                _add(archive, name, content)
    before, end, after = page.rpartition("</body>")
    return f"{before}{_ELEMENT}{base64.b64encode(held.getvalue()).decode()}</script>\n{end}{after}"


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Without the time of day, so that the same results make the same page."""
    archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


def _tables(run: Path, room: int) -> Iterator[tuple[str, bytes]]:
    """What matters most comes first."""
    for name in TABLES:
        if (run / name).is_file():
            yield name, (run / name).read_bytes()
    for name in SERIES:
        if (run / name).is_file() and (run / name).stat().st_size < _AT_BEST * room:
            yield name + _SHRUNK, differences.shrunk(run / name)


def at(path: Path) -> Path:
    """A results folder: this one, or what a report carries, unpacked into the cache. Raises BadInput."""
    return path if path.is_dir() else _unpacked(path)


def _unpacked(report: Path) -> Path:
    try:
        content = report.read_bytes()
    except OSError as error:
        raise BadInput(f"no results at {report}: {error.strerror}") from None
    found = _FOUND.search(content.decode(errors="replace"))
    if found is None:
        raise BadInput(f"{report} carries no results: it is no report of a run, or an older testbed wrote it")
    target = cache_folder() / "reports" / hashlib.sha256(content).hexdigest()[:16]
    try:
        return folder_once(target, lambda folder: _unpack(base64.b64decode(found[1]), folder))
    except (ValueError, KeyError, zlib.error, zipfile.BadZipFile) as error:
        raise BadInput(f"{report} is cut short or damaged: {error}") from None


def _unpack(content: bytes, folder: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if sum(one.file_size for one in archive.infolist()) > MOST_UNPACKED:
            raise ValueError(f"its results would take more than {MOST_UNPACKED / 1e6:.0f} MB")
        for name in archive.namelist():
            if not _OURS.fullmatch(name):
                raise ValueError(f"no result has a file {name!r}")
            if name.endswith(_SHRUNK):
                differences.restore(archive.read(name), folder / name.removesuffix(_SHRUNK))
            else:
                archive.extract(name, folder)
