"""Connection matrices of htsim."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from testbed.experiment.traffic.tracefile import TraceFile, read

MATRIX = """Nodes 5
Connections 4
Triggers 1
0->1 id 1 start 0 size 2000 send_done_trigger 1
2->1 id 2 start 2000000 size 3000 recv_done_trigger 1 prio 3
1->3 id 3 trigger 1 size 4000
3->4 id 4 msg 7 start 0 size 0
trigger id 1 barrier count 2
failure switch_type TOR switch_id 1 link_id 2
"""


def trace(folder: Path, text: str) -> TraceFile:
    (folder / "x.cm").write_text(text)
    return TraceFile(pattern="trace", file=str(folder / "x.cm"))


def refused(folder: Path, text: str) -> str:
    (folder / "x.cm").write_text(text)
    with pytest.raises(ValueError, match="cm") as caught:
        read(folder / "x.cm")
    return str(caught.value).replace(f"{folder}/", "")


def test_a_matrix(tmp_path: Path) -> None:
    one = trace(tmp_path, MATRIX)
    plan = one._plan
    assert (plan.src, plan.dst) == (["h1", "h2", "h3", "h4"], ["h2", "h4", "h2", "h5"])
    assert plan.size.tolist() == [2000, 4000, 3000, math.inf]
    assert plan.start.tolist() == [0, 0, 2e-6, 0]
    assert sorted(map(tuple, plan.tasks.edges.tolist())) == [(-1, 1), (0, -1), (2, -1)]
    assert one.inputs()[0].form == (
        "a connection matrix of htsim: 4 flows; a trigger goes off when messages have been received; without its "
        "priorities; without its 1 failures; see events"
    )


def test_a_chain(tmp_path: Path) -> None:
    chain = "".join(f"0->1 id {n} trigger {n - 1} size 10 send_done_trigger {n}\n" for n in range(2, 500))
    ends = "".join(f"trigger id {n} oneshot\n" for n in range(1, 500))
    text = f"Nodes 2\nConnections 499\n0->1 id 1 start 0 size 10 send_done_trigger 1\n{chain}{ends}"
    assert int(trace(tmp_path, text)._plan.waits.sum()) == 498


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("Nodes 5", "Nodes -5", "x.cm, line 1: expected the number of Nodes, a whole number of 1 to 65,535"),
        ("Connections 4", "Connections 5", "line 9: expected as many connections as it says, 5, but there are 4"),
        ("Connections 4", "Connections 3", "line 7: expected no more than the 3 connections that it says"),
        ("3->4", "3->5", "line 7: expected SRC->DST, nodes from 0 to 4"),
        ("3->4", "3->3", "line 7: expected two nodes, but both are 3"),
        ("size 2000 ", "size -2 ", "line 4: expected a connection: SRC->DST, then pairs of id, start, size"),
        ("size 4000", "size", "line 6: expected a connection"),
        ("size 4000", "", "line 6: expected a size in bytes"),
        ("trigger 1 size 4000", "trigger 1 start 0 size 4000", "line 6: expected either a start or a trigger"),
        ("count 2", "count 3", "line 8: expected as many flows as set it off, 2: a barrier of that count, or one flow"),
        ("barrier count 2", "oneshot", "line 8: expected as many flows as set it off, 2"),
        ("barrier count 2", "oneshot count 2", "line 8: expected a count for a barrier, and for no other kind"),
        ("barrier count 2", "", "line 8: expected trigger id N, and oneshot, multishot or barrier count N"),
        ("trigger id 1 barrier count 2\n", "", "line 6: expected a line for trigger 1"),
        ("failure", "trigger id 1 oneshot\nfailure", "line 9: expected trigger 1 once; it is in line 8 already"),
        ("failure", "success", "line 9: expected SRC->DST ..., trigger ..., failure ..., or once and first of all"),
        (
            "id 1 start 0 size 2000 send_done_trigger 1",
            "id 1 trigger 1 size 2000 send_done_trigger 1",
            "x.cm: flows wait for each other: line 4",
        ),
    ],
)
def test_bad_ones(old: str, new: str, says: str, tmp_path: Path) -> None:
    assert says in refused(tmp_path, MATRIX.replace(old, new, 1))
