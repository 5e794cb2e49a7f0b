"""The files of captures: nameless while the run goes on, so that a run that is killed leaves nothing of them."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from testbed.capture.point import Point
from testbed.errors import BadInput
from testbed.units import SIZE_UNITS, parse

WHOLE = 65_535  # bytes of a packet: more than any has
LEAST = 336  # all headers with eight hops of INT and an RETH are 334


def snap_of(text: str) -> int:
    """Bytes to keep of each packet; everything if the text is empty. Raises BadInput."""
    if not text:
        return WHOLE
    try:
        size = parse(text, SIZE_UNITS, "a size")
    except ValueError as error:
        raise BadInput(f"--snap {text}: {error}") from None
    if not LEAST <= size <= WHOLE:
        raise BadInput(f"--snap {text}: expected {LEAST} B, which all headers fit in, to {WHOLE} B")
    return round(size)


@dataclass(frozen=True)
class Capture:
    """A point and the file for its packets, which the sandbox inherits."""

    point: Point
    file: BinaryIO
    snap: int  # bytes kept of each packet
    outgoing: bool = True  # also what leaves there, not only what comes in


class Captures:
    """All captures of a run whose results go to ``target``. Raises BadInput if there is no room beside it."""

    def __init__(self, points: Sequence[Point], target: Path, snap: int = WHOLE) -> None:
        self.problems: list[str] = []
        folder = next(parent for parent in target.parents if parent.is_dir())
        try:
            self.all = [Capture(point, tempfile.TemporaryFile(dir=folder), snap) for point in points]  # noqa: SIM115
        except OSError as error:
            raise BadInput(f"--pcap: captures cannot be written to {folder}: {error.strerror}") from None

    def keep(self, folder: Path) -> None:
        """Copy them into the results folder. One that does not fit is left out and reported; the results come first."""
        for one in self.all:
            path = folder / one.point.file
            try:
                if one.file.seek(0, 2) > 0:  # else it has failed, and is reported
                    one.file.seek(0)
                    with path.open("wb") as kept:
                        shutil.copyfileobj(one.file, kept, 1 << 20)
            except OSError as error:
                path.unlink(missing_ok=True)
                self.problems.append(
                    f"the capture of {one.point.name} is not kept: {error.strerror}; it needs room twice"
                )
            finally:
                one.file.close()

    def messages(self, reports: Sequence[dict[str, Any]]) -> list[str]:
        """What the user must know; ``reports`` are what `Recording.end` returned."""
        found = [
            f"the capture of {one['point']} failed: {one['problem']}; the results are kept"
            for one in reports
            if one["problem"]
        ]
        found += [
            f"the capture of {one['point']} misses {one['dropped']} of {one['packets']} packets: its process did not "
            "get enough CPU; a higher --dilation or fewer points help"
            for one in reports
            if one["dropped"]
        ]
        return found + self.problems
