"""GOAL's binary form: the same schedule as the text."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from testbed.experiment.traffic.jobs.files import GoalFile
from testbed.experiment.traffic.jobs.goal import Goal
from testbed.experiment.traffic.jobs.goal_binary import COOKIE, GoalBinary

TEXT = """num_ranks 2
rank 0 {
c: calc 1500 cpu 1
s: send 100000b to 1 tag 7
e: calc 20
s requires c
e irequires s
}
rank 1 {
v: recv 100000b from 0 tag 7
d: calc 300
d requires v
}
"""
SEND, RECV, CALC = 1, 2, 3


def operation(  # noqa: PLR0917 - a field each
    kind: int, peer: int, size: int, tag: int, cpu: int, waiting: tuple[int, int, int, int]
) -> bytes:
    """One of a rank: how many wait for its end and where they are in the appendix, and for its beginning."""
    return struct.pack("<IBIQIBB4I", 0, kind, peer, size, tag, cpu, 0, *waiting)


def part(roots: list[int], operations: list[bytes], appendix: list[int]) -> bytes:
    head = struct.pack(f"<{2 + len(roots)}I", len(operations), len(roots), *roots)
    return head + b"".join(operations) + struct.pack(f"<{len(appendix)}I", *appendix)


def content(parts: list[bytes], ranks: int | None = None) -> bytes:
    at = 6 + 16 * len(parts)
    bounds = b""
    for one in parts:
        bounds += struct.pack("<QQ", at, at + len(one))
        at += len(one)
    return COOKIE + struct.pack("<IBB", len(parts) if ranks is None else ranks, 1, 0) + bounds + b"".join(parts)


FIRST = [
    operation(CALC, 0, 1500, 0, 1, (1, 0, 0, 1)),
    operation(SEND, 1, 100_000, 7, 0, (0, 1, 1, 1)),
    operation(CALC, 0, 20, 0, 0, (0, 2, 0, 2)),
]
SECOND = part([0], [operation(RECV, 0, 100_000, 7, 0, (1, 0, 0, 1)), operation(CALC, 0, 300, 0, 0, (0,) * 4)], [1])


def test_the_same_as_the_text(tmp_path: Path) -> None:
    (tmp_path / "x.goal").write_text(TEXT)
    (tmp_path / "x.bin").write_bytes(content([part([0], FIRST, [1, 2]), SECOND]))
    text, binary = Goal(tmp_path / "x.goal").read(1e-9), GoalBinary(tmp_path / "x.bin").read(1e-9)
    for name in ("ranks", "what", "rank", "peer", "tag", "size", "length", "cpu", "waits", "follows"):
        assert np.array_equal(getattr(text, name), getattr(binary, name)), name
    assert binary.where(4) == f"{tmp_path}/x.bin, rank 1, operation 1"
    job = GoalFile(pattern="goal", file=str(tmp_path / "x.bin"))
    assert (job.hosts_needed(), job.inputs()[0].form) == (2, "a schedule in GOAL, binary")


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (COOKIE, "rank 0 (byte 8): expected the numbers of ranks, CPUs and NICs"),
        (content([SECOND], ranks=4_000_000_000), "expected where each of its 4,000,000,000 ranks begins and ends"),
        (content([SECOND])[:-40], "rank 0 (byte 30): expected a part within the file's"),
        (
            content([struct.pack("<II", 1 << 31, 0)]),
            "expected room for 2,147,483,648 operations, 0 of which wait for none",
        ),
        (
            content([part([0], [operation(9, 0, 1, 0, 0, (0,) * 4)], [])]),
            "expected operations that send, receive or comp",
        ),
        (content([part([0], [operation(CALC, 0, 1 << 60, 0, 0, (0,) * 4)], [])]), "with sizes up to 2^53"),
        (
            content([part([0], [operation(CALC, 0, 1, 0, 0, (1, 0, 0, 0))], [])]),
            "expected an appendix of 0 numbers that",
        ),
        (
            content([part([0], [operation(CALC, 0, 1, 0, 0, (1, 0, 0, 0))], [5])]),
            "expected numbers of operations below 1",
        ),
        (
            content([part([0], [operation(CALC, 0, 1, 0, 0, (1, 0, 0, 0))], [0])]),
            "operations wait for each other: x.bin, rank 0, operation 0",
        ),
        (
            content([part([0], [operation(SEND, 7, 1, 0, 0, (0,) * 4)], [])]),
            "x.bin, rank 0, operation 0: there is no rank 7; allowed: 0 to 0",
        ),
    ],
)
def test_bad_ones(made: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(made)
    with pytest.raises(ValueError, match="rank") as caught:
        GoalBinary(tmp_path / "x.bin").read(1e-9).check()
    assert says in str(caught.value).replace(f"{tmp_path}/", "")
