"""Flows of the HPCC family."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.errors import BadInput
from testbed.experiment.load import load
from testbed.experiment.traffic.tracefile import TraceFile, form_of, read

FLOWS = "3\n3 5 3 100 20000 2.01\n\n4 5 3 101 0 2.0\n3 4 3 100 1000 2.0\n"
RACK = "6 2 5\n0 1\n2 0 1Gbps 1us 0\n3 0 1Gbps 1us 0\n4 1 1Gbps 1us 0\n5 1 1Gbps 1us 0\n0 1 1Gbps 1us 0\n"


def written(folder: Path, text: str) -> Path:
    (folder / "flow.txt").write_text(text)
    return folder / "flow.txt"


def test_without_a_file_of_the_rack_node_0_is_h1(tmp_path: Path) -> None:
    trace = TraceFile(pattern="trace", file=str(written(tmp_path, FLOWS)))
    assert trace.hosts_needed() == 6
    assert trace.inputs()[0].form == "flows of the HPCC family: 3 flows; the first flow starts at 0, there at 2 s"


def test_hosts_of_the_racks_file(tmp_path: Path) -> None:
    written(tmp_path, FLOWS)
    (tmp_path / "t.txt").write_text(RACK)
    (tmp_path / "x.yaml").write_text(
        "rack: {kind: custom, file: t.txt}\ntraffic: {pattern: mix, parts: [{pattern: trace, file: flow.txt}]}\n"
        "controller: swift\n"
    )
    experiment = load(str(tmp_path / "x.yaml")).experiment
    plan = experiment.plan
    assert experiment.hosts == 4
    assert (plan.src, plan.dst) == (["h2", "h2", "h3"], ["h4", "h3", "h4"])
    assert plan.size.tolist() == [20000, 1000, 1]
    assert plan.start == pytest.approx([0.01, 0, 0])


def test_a_flow_to_a_switch_of_the_racks_file(tmp_path: Path) -> None:
    written(tmp_path, FLOWS.replace("3 4 3", "3 1 3"))
    (tmp_path / "t.txt").write_text(RACK)
    (tmp_path / "x.yaml").write_text(
        "rack: {kind: custom, file: t.txt}\ntraffic: {pattern: trace, file: flow.txt}\ncontroller: swift\n"
    )
    with pytest.raises(BadInput, match=r"flow\.txt, line 5: expected hosts of the rack's file, got nodes 3 and 1"):
        _ = load(str(tmp_path / "x.yaml")).experiment


def test_conweave_has_no_port(tmp_path: Path) -> None:
    found = read(written(tmp_path, "1\n0 1 3 5000 0.5\nsomething else\n"))
    assert form_of(found).endswith("there at 0.5 s; without what follows its 1 flows, from line 3 on")
    assert found.plan().size.tolist() == [5000]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("-3\n", "flow.txt, line 1: expected the number of flows, a whole number of 1 to 1,048,576"),
        ("10000000\n0 1 3 100 1 0\n", "line 1: expected the number of flows"),
        ("2\n0 1 3 100 1 0\n", "line 1: expected as many flows as it says, but there are 1, got '2'"),
        ("1\n0 1 3 100 -5 0\n", "line 2: expected bytes, a whole number of 0 to"),
        ("1\n0 1 3 100 5 soon\n", "line 2: expected a start in seconds as word 6"),
        ("1\n0 1 3 100 5 -1\n", "line 2: expected a start in seconds as word 6"),
        ("1\n0 1 3\n", "line 2: expected a flow: source, destination, priority, port (may be missing), bytes, start"),
        ("1\n7 7 3 100 5 0\n", "line 2: expected two nodes, but both are 7"),
        ("1\n99999999 7 3 100 5 0\n", "line 2: expected a node, a whole number of 0 to 69,629"),
    ],
)
def test_bad_ones(text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="flow") as caught:
        read(written(tmp_path, text))
    assert says in str(caught.value)
