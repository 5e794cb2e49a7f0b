"""Jobs from GOAL and Chakra files: what they say, and one message for what is wrong."""

from __future__ import annotations

import struct
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from testbed.experiment.model import Experiment
from testbed.experiment.traffic.jobs.files import GoalFile
from testbed.experiment.traffic.jobs.goal import MOST
from testbed.experiment.traffic.pattern import Context
from testbed.experiment.traffic.tasks import Kind
from tests.support.chakra import COLL, COMP, RECV, SEND, node, write

PING = """num_ranks 2
// a message, and its answer
rank 0 {
l1: calc 1500 cpu 0
l2: send 4000b to 1 tag 7 cpu 0 nic 0
l3: recv 8b from 1 tag 8
l2 requires l1
l3 irequires l2
}
/* the
   other one */
rank 1 {
a: recv 4000b from 0 tag 7
b: calc 200
c: send 8b to 0 tag 8
b requires a
c requires b
}
"""


def experiment(file: Path, pattern: str = "goal", **keys: Any) -> Experiment:
    traffic = {"pattern": pattern, "file": str(file), **keys}
    return Experiment.model_validate({"controller": "dcqcn", "traffic": traffic})


def goal(folder: Path, text: str) -> Experiment:
    file = folder / "job.goal"
    file.write_text(text)
    return experiment(file)


def test_goal_becomes_flows_and_steps(tmp_path: Path) -> None:
    plan = goal(tmp_path, PING).plan
    assert list(zip(plan.src, plan.dst, plan.size, strict=True)) == [("h1", "h2", 4000), ("h2", "h1", 8)]
    steps = plan.tasks.steps
    computing = steps.length[steps.kind == Kind.COMPUTE]
    assert sorted(computing[computing > 0].tolist()) == pytest.approx([200e-9, 1500e-9])
    assert plan.tasks.jobs[0].hosts == ("h1", "h2")
    # The way from the first computing to the last receive has all lengths on it.
    nodes = len(plan) + len(steps)
    length = np.concatenate((np.ones(len(plan)), steps.length))  # a second per message
    over = length.copy()
    graph = plan.tasks.numbered(len(plan))
    for _ in range(nodes):
        for before, after in graph.tolist():
            over[after] = max(over[after], over[before] + length[after])
    assert over.max() == pytest.approx(2 + 1700e-9)


@pytest.mark.parametrize(
    ("calcs", "takes"),
    [
        ("l1: calc 100000 cpu 0\nl2: calc 100000 cpu 0", 200e-6),  # LogGOPSim's answer
        ("l1: calc 100000\nl2: calc 100000", 200e-6),
        ("l1: calc 100000 cpu 0\nl2: calc 100000 cpu 1", 100e-6),
        ("l1: calc 100000\nl2: calc 1\nl3: calc 100000 cpu 1\nl2 requires l3\nl4: calc 5\nl4 requires l1", 100.006e-6),
    ],
)
def test_a_core_computes_one_thing_after_the_other(tmp_path: Path, calcs: str, takes: float) -> None:
    made = goal(tmp_path, f"num_ranks 2\nrank 0 {{\n{calcs}\ns: send 8b to 1\n}}\nrank 1 {{\nr: recv 8b from 0\n}}\n")
    steps, graph = made.plan.tasks.steps, made.plan.tasks.numbered(len(made.plan))
    length = np.concatenate((np.zeros(len(made.plan)), steps.length))
    over = length.copy()
    for _ in range(len(length)):
        for before, after in graph.tolist():
            over[after] = max(over[after], over[before] + length[after])
    assert over.max() == pytest.approx(takes)


@pytest.mark.parametrize(
    ("change", "blamed"),
    [
        (("a: recv 4000b from 0 tag 7", "a: recv 4000b from 0 tag 9"), "line 5: nobody receives this message"),
        (("c: send 8b to 0 tag 8", "c: calc 1"), "line 6: nobody sends this message: rank 1 has no send"),
        (("a: recv 4000b", "a: recv 4001b"), "line 13: expects 4001 B, but .*line 5 sends 4000 B"),
        (("to 1 tag 7", "to 5 tag 7"), "line 5: there is no rank 5; allowed: 0 to 1"),
        (("num_ranks 2", "num_ranks 3"), "num_ranks is 3, but rank 2 is missing"),
        (("rank 1 {", "rank 2 {"), "line 12: rank 2 is beyond num_ranks 2"),
        (("b: calc 200", "b: think 200"), "line 14: expected 'LABEL: send.*got 'b: think 200'"),
        (("b requires a", "b requires x"), "line 16: this rank has no operation 'x'"),
        (("b: calc", "a: calc"), "line 14: label 'a' is there twice"),
        (("b requires a", "b requires a\na requires c"), "wait for each other: .*line 1[345] > .*line 1[345]"),
        (("num_ranks 2", "ranks 2"), "line 1: expected 'num_ranks N'"),
        (("num_ranks 2", "num_ranks 999999999"), "line 1: expected 'num_ranks N' with 1 to 65,535 ranks"),
        (("num_ranks 2", f"num_ranks {'9' * 5000}"), "line 1: expected 'num_ranks N' with 1 to 65,535 ranks"),
        (("calc 200", f"calc {'9' * 400}"), "line 14: expected 'LABEL: send"),
        (("rank 1 {", ":" * MOST), "expected at most 4,194,304 operations, got 4,194,310"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, change: tuple[str, str], blamed: str) -> None:
    with pytest.raises(ValidationError, match=blamed):
        goal(tmp_path, PING.replace(*change))


def test_a_message_of_a_goal_file_takes_half_a_kilobyte(tmp_path: Path) -> None:
    """So that a million of them are within 1 GB with all that Python and numpy need."""
    ranks, messages = 16, 1500
    lines = [f"num_ranks {ranks}"]
    for rank in range(ranks):
        right, left = (rank + 1) % ranks, (rank - 1) % ranks
        lines.append(f"rank {rank} {{")
        for k in range(messages):
            lines += [f"s{k}: send 64b to {right} tag {k}", f"r{k}: recv 64b from {left} tag {k}"]
            lines += [f"s{k} requires r{k - 1}"] * (k > 0)
        lines.append("}")
    (file := tmp_path / "ring.goal").write_text("\n".join(lines))
    tracemalloc.start()
    try:
        plan = GoalFile(pattern="goal", file=str(file)).plan(Context(ranks, 100e9, 1.0, (1,)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(plan) == ranks * messages
    assert peak / len(plan) < 500
    done = np.flatnonzero(plan.tasks.steps.kind == Kind.DONE)
    awaited = np.isin(plan.tasks.edges[:, 1], -1 - done).sum()
    assert awaited == ranks * (
        messages + 2
    )  # its begin, its sends, and the last receive: a send waits for each other one


def test_chakra_computes_sends_and_carries_out_collectives(tmp_path: Path) -> None:
    reduce = {"comm_type": 0, "comm_size": 4000}
    ranks = [
        [
            node(1, COMP, micros=5),
            node(2, COLL, after=(1,), packed=rank == 1, **reduce),
            *([node(3, SEND, after=(2,), comm_dst=1, comm_tag=3, comm_size=999)] if rank == 0 else []),
            *([node(3, RECV, after=(2,), comm_src=0, comm_tag=3, comm_size=999)] if rank == 1 else []),
        ]
        for rank in range(4)
    ]
    plan = experiment(write(tmp_path, ranks), "chakra").plan
    assert sorted(plan.size.tolist()) == [999] + [1000] * 24  # a ring allreduce among 4: 6 steps of 4 messages
    steps = plan.tasks.steps
    assert (np.abs(steps.length[steps.kind == Kind.COMPUTE] - 5e-6) < 1e-12).sum() == 4
    assert plan.tasks.jobs[0].hosts == ("h1", "h2", "h3", "h4")


@pytest.mark.parametrize(
    ("kind", "messages", "size"),
    [
        (2, 4 * 3, 8000),  # all-gather: each rank passes on what every other one puts in
        (7, 4 * 3, 2000),  # reduce-scatter: of the quarter that each rank gets
        (6, 4 * 3, 2000),  # all-to-all
        (0, 4 * 6, 2000),
        (8, 4 * 3, 2000),  # reduce-scatter-block
        (1, 3 * 8, 1000),  # reduce: eight chunks from rank to rank
        (5, 3 * 8, 1000),  # broadcast
        (3, 3, 8000),  # gather
        (4, 3, 2000),  # scatter
    ],
)
def test_the_size_of_a_collective_is_what_each_rank_puts_in(
    tmp_path: Path, kind: int, messages: int, size: float
) -> None:
    """As ASTRA-sim takes it (system/astraccl/native_collectives, Ring) and the PyTorch converter gives it."""
    ranks = [[node(1, COLL, comm_type=kind, comm_size=8000)]] * 4
    assert experiment(write(tmp_path, ranks), "chakra").plan.size.tolist() == [size] * messages


@pytest.mark.parametrize(
    ("second", "blamed"),
    [
        ([node(1, COMP, after=(7,))], r"llm.1.et: node 1 'n1' waits for node 7, which is not there"),
        ([node(1, SEND, comm_dst=0, comm_size=8)], r"llm.1.et: node 1 'n1': nobody receives this message"),
        ([node(1, SEND, comm_size=8)], "has no attribute comm_dst"),
        ([node(1, 42)], "is of type 42, which neither computes nor communicates"),
        ([node(1, COLL, comm_type=10, comm_size=8)], "comm_type 10; those that can be carried out: 0 .all-reduce"),
        ([node(1, COMP, after=(2,)), node(2, COMP, after=(1,))], "operations wait for each other: .*node 1 .*node 2"),
        ([b"\x0f"], r"llm.1.et, message 2 \(byte 8\): it is no protobuf message"),
        ([struct.pack("<B", 200)], r"llm.1.et, message 2 \(byte 8\): the file ends within it"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_trace_is_named_with_its_node(tmp_path: Path, second: list[bytes], blamed: str) -> None:
    with pytest.raises(ValidationError, match=blamed):
        experiment(write(tmp_path, [[node(1, COMP)], second]), "chakra")


def test_a_missing_rank_is_named(tmp_path: Path) -> None:
    prefix = write(tmp_path, [[node(1, COMP)]] * 3)
    (tmp_path / "llm.1.et").unlink()
    with pytest.raises(ValidationError, match=r"llm.1.et is missing: there are ranks up to 2"):
        experiment(prefix, "chakra")
