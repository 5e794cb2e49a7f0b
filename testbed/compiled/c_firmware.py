"""A program for DOCA PCC as a controller: its sources as they are, compiled with the card of the rack (doca_pcc/).

It is a folder; if there is a folder ``device`` in it, as in an export and in NVIDIA's own tree, that has the sources.
"""

from __future__ import annotations

import ctypes
import json
import os
import zipfile
from ctypes import c_char_p
from itertools import islice
from pathlib import Path

from testbed.base.code import ARCHIVE, unpacked
from testbed.errors import BadInput

CARD = Path(__file__).with_name("doca_pcc")
OURS = (CARD / "card.c", CARD / "rack.c")
MANIFEST = "manifest.json"
READS_INT = "doca_pcc_dev_get_rtt_raw_data"
ENTRY = "doca_pcc_dev_user_algo"
FILES = 10_000  # in a program's folder: it has a few, a home or / would be read for minutes


def named_by(file: Path) -> bool:
    """Whether it is a program for a card: a folder, or the archive of one that travels with results."""
    return file.is_dir() or file.suffix == ARCHIVE


def sources(program: Path) -> tuple[Path, ...]:
    """Of the program, in order. Raises BadInput if there is none."""
    try:
        folder = program if program.is_dir() else unpacked(program)
    except zipfile.BadZipFile as error:
        raise BadInput(f"'{program}': {error}") from None
    device = folder / "device"
    places = os.walk(device if device.is_dir() else folder)
    files = [*islice((Path(place, name) for place, _, names in places for name in names), FILES + 1)]
    if len(files) > FILES:
        raise BadInput(f"'{program}' has more than {FILES:,} files: name a program's own folder, or a file: ./my_cc.py")
    found = tuple(sorted(file for file in files if file.suffix == ".c"))
    if not any(ENTRY in one.read_text(encoding="utf-8", errors="replace") for one in found):
        raise BadInput(
            f"'{program}' has no program for DOCA PCC: no C file in it defines {ENTRY} (docs/howto/export.md); a "
            "plugin is a file, as in ./my_cc.py, or such a folder"
        )
    return found


def headers(program: Path) -> tuple[Path, ...]:
    """The folders in which its headers are looked for."""
    own = {one.parent for source in sources(program) for one in [source, *source.parent.glob("*/*.h")]}
    return (CARD, *sorted(own))


def telemetry(program: Path) -> tuple[str, ...]:
    """Flags of the compiler: packets have INT if the program reads what answers bring of it."""
    read = {header for folder in headers(program)[1:] for header in folder.glob("*.h")}.union(sources(program))
    reads = any(READS_INT in one.read_text(encoding="utf-8", errors="replace") for one in read)
    return ("-DCARD_TELEMETRY",) if reads else ()


def made_for(program: Path) -> dict[str, float]:
    """Line rate (bit/s) and base RTT (s) of the network that its parameters are for, as far as its manifest says so."""
    try:
        manifest = json.loads((program / MANIFEST).read_text(encoding="utf-8"))
        return {name: float(value) for name, value in manifest["network"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def refused(library: ctypes.CDLL) -> str:
    """What a card would not take of the program, if anything."""
    return (c_char_p.in_dll(library, "card_refused").value or b"").decode()
