"""Jobs from GOAL files, the language of LogGOPSim and ATLAHS (Hoefler, Siebert, Lumsdaine: "Group Operation Assembly
Language", ICPP 2009).

    num_ranks 2
    rank 0 {
    l1: calc 1500
    l2: send 1000000b to 1 tag 7
    l2 requires l1
    }
    rank 1 {
    l1: recv 1000000b from 0 tag 7
    }
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Ints
from testbed.errors import nearest
from testbed.experiment.topology.any_rack import MOST_HOSTS
from testbed.experiment.traffic.jobs.operations_file import Listed, What

COMMENT = re.compile(rb"/\*.*?\*/|(?://|#)[^\n]*", re.DOTALL)
OPERATION = re.compile(
    rb"^[ \t]*(\w+)[ \t]*:[ \t]*(send|recv|calc)[ \t]+(\d{1,18})b?(?:[ \t]+(?:to|from)[ \t]+(\d{1,9}))?"
    rb"(?:[ \t]+tag[ \t]+(\d{1,18}))?((?:[ \t]+(?:cpu|nic)[ \t]+\d{1,9})*)[ \t]*;?[ \t\r]*$",
    re.MULTILINE,
)
CPU = re.compile(rb"cpu[ \t]+(\d+)")
WAITING = re.compile(rb"^[ \t]*(\w+)[ \t]+(i?requires)[ \t]+(\w+)[ \t]*;?[ \t\r]*$", re.MULTILINE)
RANK = re.compile(rb"rank[ \t]+(\d{1,9})[ \t\r\n]*\{([^}]*)\}")
HEAD = re.compile(rb"\A\s*num_ranks[ \t]+(\d{1,9})\b")
MOST = 1 << 22  # operations; reading them takes 400 B each
KINDS = {b"calc": What.CALC, b"send": What.SEND, b"recv": What.RECV}


class Goal:
    """The operations of a file, rank by rank."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.text = self._content()
        self.found: list[list[NDArray[np.bytes_]]] = []  # per rank: kind, amount, peer, tag, place of its operations
        self.count = 0
        self.places: list[
            tuple[int, int, int]
        ] = []  # of each rank: its first operation, where its block begins and ends
        self.rank: list[Ints] = []
        self.waits: list[Ints] = []
        self.follows: list[Ints] = []

    def _content(self) -> bytes:
        """Without comments."""
        content = self.file.read_bytes()
        commented = b"#" in content or b"/" in content
        return COMMENT.sub(lambda found: b"\n" * found[0].count(b"\n"), content) if commented else content

    def read(self, unit: float) -> Listed:
        """Once. Computing is in ``unit`` seconds. Raises ValueError with the line."""
        head = HEAD.search(self.text)
        if not head or not 1 <= int(head[1]) <= MOST_HOSTS:
            raise ValueError(f"{self.file}, line 1: expected 'num_ranks N' with 1 to {MOST_HOSTS:,} ranks")
        if (operations := self.text.count(b":")) > MOST:
            raise ValueError(f"{self.file}: expected at most {MOST:,} operations, got {operations:,}")
        ranks, seen = int(head[1]), set()
        end = head.end()
        for block in RANK.finditer(self.text):
            self._nothing_between(end, block.start())
            end = block.end()
            rank = int(block[1])
            if rank >= ranks or rank in seen:
                why = "is there twice" if rank in seen else f"is beyond num_ranks {ranks}"
                raise ValueError(f"{self._line(block.start())}: rank {rank} {why}")
            seen.add(rank)
            self._block(rank, block[2], block.start(2))
        self._nothing_between(end, len(self.text))
        if missing := sorted(set(range(ranks)) - seen):
            raise ValueError(f"{self.file}: num_ranks is {ranks}, but rank {missing[0]} is missing")
        self.text = b""  # it may be large, and is only needed again to say where something is
        return self._listed(ranks, unit)

    def _listed(self, ranks: int, unit: float) -> Listed:
        if not self.found:
            raise ValueError(f"{self.file}: no operation in it")
        kinds, sizes, peers, tags, places = (np.concatenate(column) for column in zip(*self.found, strict=True))
        what = np.select([kinds == kind for kind in KINDS], list(KINDS.values())).astype(np.int8)
        amount = sizes.astype(np.float64)
        return Listed(
            ranks=ranks,
            what=what,
            rank=np.concatenate(self.rank),
            peer=np.where(peers == b"", b"-1", peers).astype(np.int32),
            tag=np.where(tags == b"", b"0", tags).astype(np.int64),
            size=np.where(what == What.CALC, 0.0, amount),
            length=np.where(what == What.CALC, amount * unit, 0.0),
            waits=np.concatenate(self.waits),
            follows=np.concatenate(self.follows),
            cpu=np.where(what == What.CALC, _cpus(places), -1),
            where=self._where,
        )

    def _block(self, rank: int, body: bytes, begins: int) -> None:
        operations, waiting = OPERATION.findall(body), WAITING.findall(body)
        lines = sum(map(bool, map(bytes.strip, body.split(b"\n"))))
        if len(operations) + len(waiting) != lines:
            self._blame(body, begins)
        first = self.count
        number = {found[0]: first + i for i, found in enumerate(operations)}
        if len(number) != len(operations):
            self._blame_label(body, begins)
        if operations:
            _, *columns = zip(*operations, strict=True)
            self.found.append([np.array(column) for column in columns])
            self.count += len(operations)
        self.places.append((first, begins, begins + len(body)))
        self.rank.append(np.full(len(operations), rank, np.int32))
        try:
            pairs = [(number[before], number[after]) for after, _, before in waiting]
        except KeyError:
            self._blame_waiting(body, begins, number)
        edges = np.array(pairs, np.int64).reshape(-1, 2)
        over = np.array([kind == b"requires" for _, kind, _ in waiting], np.bool_)
        self.waits.append(edges[over])
        self.follows.append(edges[~over])

    def _line(self, at: int) -> str:
        before = self.text.count(b"\n", 0, at)
        return f"{self.file}, line {before + 1}"

    def _where(self, operation: int) -> str:
        self.text = self._content()
        first, begins, ends = next(place for place in reversed(self.places) if place[0] <= operation)
        for number, found in enumerate(OPERATION.finditer(self.text[begins:ends])):
            if first + number == operation:
                return self._line(begins + found.start(1))
        raise AssertionError(operation)

    def _nothing_between(self, begin: int, end: int) -> None:
        rest = self.text[begin:end]
        if rest.strip():
            at = begin + len(rest) - len(rest.lstrip())
            shown = self.text[at : at + 40].split(b"\n")[0].decode(errors="replace").strip()
            raise ValueError(f"{self._line(at)}: expected 'rank N {{ ... }}', got '{shown}'")

    def _blame(self, body: bytes, begins: int) -> None:
        at = begins
        for line in body.split(b"\n"):
            if line.strip() and not OPERATION.match(line) and not WAITING.match(line):
                raise ValueError(
                    f"{self._line(at)}: expected 'LABEL: send|recv SIZEb to|from RANK tag N', 'LABEL: calc N' or "
                    f"'LABEL requires|irequires LABEL', got '{line.decode(errors='replace').strip()[:60]}'"
                )
            at += len(line) + 1

    def _blame_label(self, body: bytes, begins: int) -> None:
        seen: set[bytes] = set()
        for found in OPERATION.finditer(body):
            if found[1] in seen:
                raise ValueError(f"{self._line(begins + found.start(1))}: label '{found[1].decode()}' is there twice")
            seen.add(found[1])

    def _blame_waiting(self, body: bytes, begins: int, known: dict[bytes, int]) -> None:
        for found in WAITING.finditer(body):
            for label in (found[1], found[3]):
                if label not in known:
                    names = nearest(label.decode(), [one.decode() for one in known])
                    raise ValueError(
                        f"{self._line(begins + found.start(1))}: this rank has no operation '{label.decode()}'; {names}"
                    )


def _cpus(places: NDArray[np.bytes_]) -> Ints:
    """Number of the core that computes; 0 where nothing is said, as in LogGOPSim."""
    known, number = np.unique(places, return_inverse=True)
    said = [CPU.search(place) for place in known.tolist()]
    return np.array([int(found[1]) if found else 0 for found in said], np.int64)[number]
