"""Decisions become a file piece by piece: how large the pieces are cannot be seen in it."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.engines.virtual import run
from testbed.errors import TestbedError
from testbed.results.decisions import Encoder
from testbed.results.record import RunRecord
from tests.support.simulated import simulated

PIECE = 64  # rows
FORMS = pytest.mark.parametrize("controller", ["hpcc", "adpg-int8"], ids=["told in C", "told in Python"])


def recorded(rows: int, controller: str, monkeypatch: pytest.MonkeyPatch, room: int = PIECE) -> RunRecord:
    """Of some 100 us; no piece is smaller than the rack has flows."""
    monkeypatch.setattr(run, "ROOM", room)
    settings = ["time.duration=150 us", "time.warmup=50 us", f"record.decisions={rows}"]
    return simulated("incast-4", settings, controller=controller)


@FORMS
def test_pieces_make_the_same_file(controller: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, pieces = (recorded(10_000, controller, monkeypatch, room) for room in (10_000, PIECE))
    assert whole.decisions_kept["rows"] > 3 * PIECE
    assert pieces.decisions_kept == whole.decisions_kept
    assert pieces.decisions_file.tobytes() == whole.decisions_file.tobytes()


@FORMS
@pytest.mark.parametrize("rows", [PIECE // 2, 2 * PIECE, 2 * PIECE + 3])
def test_the_record_ends_where_it_was_asked_to(controller: str, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = recorded(rows, controller, monkeypatch).decisions_kept
    assert rows - 3 <= kept["rows"] <= rows  # a call is about four flows at most
    assert "cut for agent 0" in kept["cut"]


@FORMS
def test_a_run_says_why_they_cannot_be_kept(controller: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """C, which asks for room, cannot pass an exception on."""

    add, calls = Encoder.add, []

    def full(*arguments: Any) -> None:
        calls.append(arguments)
        if len(calls) == 1:
            raise TestbedError("no space left")
        add(*arguments)

    monkeypatch.setattr(Encoder, "add", full)
    with pytest.raises(TestbedError, match="no space left"):
        recorded(10_000, controller, monkeypatch)
