"""GOAL's binary form, as txt2bin of LogGOPSim and ATLAHS writes it (github.com/spcl/LogGOPSim, `Parser.hpp`).

Little endian. A cookie of 8 bytes; behind it the number of ranks, of CPUs and of NICs, and where each rank's part
begins and ends. A part has the counts of its operations and of those that wait for none, the numbers of the latter, the
operations, and an appendix: the numbers of the operations that wait for each of them, to end and to begin.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Ints
from testbed.experiment.traffic.jobs.operations_file import Listed, What

COOKIE = struct.pack("<Q", 4223)
HEAD = struct.Struct("<IBB")  # ranks, CPUs, NICs
WORD, BOUNDS = 4, 16  # bytes of a number, and of a rank's entry in the table
OPERATION = np.dtype(
    {
        "names": ["type", "peer", "size", "tag", "cpu", "ends", "ends_at", "begins", "begins_at"],
        "formats": ["u1", "<u4", "<u8", "<u4", "u1", "<u4", "<u4", "<u4", "<u4"],
        "offsets": [4, 5, 9, 17, 21, 23, 27, 31, 35],
        "itemsize": 39,
    }
)
KINDS = {1: What.SEND, 2: What.RECV, 3: What.CALC}
LARGEST = 1 << 53  # bytes or units that a float holds exactly


def is_one(file: Path) -> bool:
    """Whether a file begins so. Raises OSError."""
    with file.open("rb") as content:
        return content.read(len(COOKIE)) == COOKIE


class GoalBinary:
    """The operations of a file, rank by rank. Raises ValueError with rank and byte, or OSError."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.content = file.read_bytes()[len(COOKIE) :]
        self.first = [0]  # number of each rank's first operation, and of all

    def read(self, unit: float) -> Listed:
        """Computing is in ``unit`` seconds."""
        if len(self.content) < HEAD.size:
            self._refuse(0, "the numbers of ranks, CPUs and NICs")
        ranks = HEAD.unpack_from(self.content)[0]
        if not ranks or len(self.content) < HEAD.size + BOUNDS * ranks:
            self._refuse(0, f"where each of its {ranks:,} ranks begins and ends")
        bounds = np.frombuffer(self.content, "<u8", 2 * ranks, HEAD.size).reshape(-1, 2)
        parts, waits, follows = [], [], []
        for rank, (begins, ends) in enumerate(bounds.tolist()):
            operations, over, begun = self._rank(rank, begins, ends)
            parts.append(operations)
            waits.append(over + self.first[-1])
            follows.append(begun + self.first[-1])
            self.first.append(self.first[-1] + len(operations))
        made = np.concatenate(parts)
        what = np.select([made["type"] == kind for kind in KINDS], list(KINDS.values())).astype(np.int8)
        calc = what == What.CALC
        size = made["size"].astype(np.float64)
        return Listed(
            ranks=ranks,
            what=what,
            rank=np.repeat(np.arange(ranks, dtype=np.int32), np.diff(self.first)),
            peer=np.where(calc, -1, made["peer"].astype(np.int64)).clip(-1, 1 << 30).astype(np.int32),
            tag=made["tag"].astype(np.int64),
            size=np.where(calc, 0.0, size),
            cpu=np.where(calc, made["cpu"].astype(np.int64), -1),
            length=np.where(calc, size * unit, 0.0),
            waits=np.concatenate(waits),
            follows=np.concatenate(follows),
            where=self._where,
        )

    def _rank(self, rank: int, begins: int, ends: int) -> tuple[NDArray[np.void], Ints, Ints]:
        if not begins <= ends <= len(self.content) or ends - begins < 2 * WORD:
            self._refuse(rank, f"a part within the file's {len(self.content):,} bytes", begins)
        count, roots = struct.unpack_from("<II", self.content, begins)
        at = begins + (2 + roots) * WORD
        appendix = at + count * OPERATION.itemsize
        if appendix > ends:
            self._refuse(rank, f"room for {count:,} operations, {roots:,} of which wait for none", begins)
        operations = np.frombuffer(self.content, OPERATION, count, at)
        if not np.isin(operations["type"], list(KINDS)).all() or (operations["size"] > LARGEST).any():
            self._refuse(rank, "operations that send, receive or compute, with sizes up to 2^53", at)
        told = np.frombuffer(self.content, "<u4", (ends - appendix) // WORD, appendix).astype(np.int64)
        if len(told) and told.max() >= count:
            self._refuse(rank, f"numbers of operations below {count:,} in its appendix", appendix)
        edges = []
        for many, first in (("ends", "ends_at"), ("begins", "begins_at")):
            before, places = _spread(operations[many].astype(np.int64), operations[first].astype(np.int64), len(told))
            if before is None:
                self._refuse(rank, f"an appendix of {len(told):,} numbers that holds all that wait", appendix)
            edges.append(np.stack((before, told[places]), axis=1))
        return operations, edges[0], edges[1]

    def _refuse(self, rank: int, expected: str, at: int = 0) -> NoReturn:
        raise ValueError(f"{self.file}, rank {rank} (byte {len(COOKIE) + at:,}): expected {expected}")

    def _where(self, operation: int) -> str:
        rank = int(np.searchsorted(self.first, operation, side="right")) - 1
        return f"{self.file}, rank {rank}, operation {operation - self.first[rank]}"


def _spread(many: Ints, first: Ints, there: int) -> tuple[Ints | None, Ints]:
    """Each operation as often as others wait for it, and the places of these in the appendix; None if not in it."""
    used = many > 0
    if (first[used] + many[used] > there).any():
        return None, many
    before = np.repeat(np.arange(len(many)), many)
    behind = np.arange(len(before)) - np.repeat(np.cumsum(many) - many, many)
    return before, np.repeat(first, many) + behind
