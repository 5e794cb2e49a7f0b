"""The files that simulators of others read, as `testbed` reads them: the flows of each cell end here."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.peers import Cell, Tree, allreduce, incast, permutation
from bench.peers_built import Peer
from testbed.errors import TestbedError
from testbed.runs.overrides import from_user, overridden


@pytest.mark.parametrize(
    ("cell", "flows"), [(permutation(Tree(3, 2)), 6), (incast(Tree(9, 8), 2), 64), (allreduce(Tree(2, 2), 64), 4 * 6)]
)
def test_a_cell_is_read_here(cell: Cell, flows: int, tmp_path: Path) -> None:
    (tmp_path / "tree.topo").write_text(cell.tree.text())
    (tmp_path / "flows.cm").write_text(cell.text())
    settings = [f"rack={{kind: custom, file: {tmp_path}/tree.topo}}", "engine=virtual"]
    settings.append(f"traffic={{pattern: trace, file: {tmp_path}/flows.cm, payload: 4 kB}}")
    plan = overridden(from_user("incast-2"), {"controller": "fixed", "tuner": ""}, {}, settings).experiment.plan
    assert len(plan) == len(cell.flows) == flows
    assert len(plan.tasks.edges) == 2 * cell.triggers  # of the flow before, and to the one that it sets off


def test_what_cannot_be_had_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTBED_CACHE", str(tmp_path))
    nowhere = Peer("none", str(tmp_path / "nowhere"), "0" * 40, (), (), Path())
    with pytest.raises(TestbedError, match=r"git clone .* ended with 128 .*nowhere"):
        nowhere.program("none")
