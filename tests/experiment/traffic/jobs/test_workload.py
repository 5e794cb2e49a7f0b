"""Workloads of SimAI as jobs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testbed.experiment.critical_path import critical_path
from testbed.experiment.layout import Layout
from testbed.experiment.load import load
from testbed.experiment.traffic.jobs.workload import SimAIWorkload
from testbed.experiment.traffic.pattern import Context

HEAD = "HYBRID_TRANSFORMER model_parallel_NPU_group: {tensor} ep: {expert} pp: 1 all_gpus: {ranks}\n{layers}\n"
CONTEXT = Context(8, 100e9, 1.0, (1,))


def job(folder: Path, layers: list[str], ranks: int = 8, tensor: int = 2, expert: int = 2) -> SimAIWorkload:
    head = HEAD.format(tensor=tensor, expert=expert, ranks=ranks, layers=len(layers))
    (folder / "w.txt").write_text(head + "".join(f"l -1 {layer} 1\n" for layer in layers))
    return SimAIWorkload(pattern="simai", file=str(folder / "w.txt"))


@pytest.mark.parametrize(
    ("collective", "pairs"),
    [
        ("ALLGATHER", {(1, 2), (2, 1), (3, 4), (4, 3), (5, 6), (6, 5), (7, 8), (8, 7)}),
        ("ALLGATHER_EP", {(1, 3), (3, 1), (2, 4), (4, 2), (5, 7), (7, 5), (6, 8), (8, 6)}),
        ("ALLGATHER_DP_EP", {(1, 5), (5, 1), (2, 6), (6, 2), (3, 7), (7, 3), (4, 8), (8, 4)}),
    ],
)
def test_who_takes_part(collective: str, pairs: set[tuple[int, int]], tmp_path: Path) -> None:
    plan = job(tmp_path, [f"0 {collective} 1000 0 NONE 0 0 NONE 0"]).plan(CONTEXT)
    assert {(int(src[1:]), int(dst[1:])) for src, dst in plan.pairs} == pairs
    assert plan.size.tolist() == [500.0] * 8


def test_data_parallelism_is_of_weights(tmp_path: Path) -> None:
    one = job(tmp_path, ["0 NONE 0 0 NONE 0 0 ALLREDUCE 4000"])
    plan = one.plan(CONTEXT)
    assert len(plan) == one.flow_count(CONTEXT) == 8 * 2 * 3  # rings of four
    assert {int(src[1:]) % 2 == int(dst[1:]) % 2 for src, dst in plan.pairs} == {True}


def test_everybody_of_a_group_of_one_sends_nothing(tmp_path: Path) -> None:
    one = job(tmp_path, ["5 ALLREDUCE 1000 0 NONE 0 0 NONE 0"], tensor=1, expert=1)
    assert len(one.plan(CONTEXT)) == one.flow_count(CONTEXT) == 0


def length(folder: Path, *layers: str, iterations: int = 1) -> float:
    """s, of the critical path if messages had the rack to themselves."""
    job(folder, list(layers), ranks=2, tensor=1, expert=1)
    (folder / "x.yaml").write_text(
        f"traffic: {{pattern: simai, file: w.txt, iterations: {iterations}}}\ncontroller: swift\nengine: virtual\n"
    )
    path = critical_path(Layout(load(str(folder / "x.yaml")).experiment))
    assert path is not None
    return float(path.total)


def test_the_sum_of_weights_goes_on_beside_the_next_layers(tmp_path: Path) -> None:
    alone = length(tmp_path, "0 NONE 0 0 NONE 0 0 ALLREDUCE 1000000")
    beside = length(tmp_path, "0 NONE 0 3000000 NONE 0 0 NONE 0", "0 NONE 0 0 NONE 0 0 ALLREDUCE 1000000")
    assert 0 < alone < 1e-3
    assert beside == pytest.approx(3e-3, rel=0.01)  # the first layer's gradient is computed meanwhile


def test_the_next_iteration_waits_for_it(tmp_path: Path) -> None:
    layer = "0 NONE 0 0 NONE 0 0 ALLREDUCE 1000000"
    assert np.isclose(length(tmp_path, layer, iterations=3), 3 * length(tmp_path, layer), rtol=1e-6)


def test_blocking_phases_add_up(tmp_path: Path) -> None:
    assert length(tmp_path, "1000000 ALLREDUCE_DP_EP 2 2000000 NONE 0 500000 NONE 0") == pytest.approx(3.5e-3, rel=0.02)


def test_stages_pass_on_what_a_pipeline_does(tmp_path: Path) -> None:
    """Data parallelism is within a stage; each rank sends to its like of the next stage, and back."""
    file = tmp_path / "w.txt"
    head = "HYBRID_TRANSFORMER model_parallel_NPU_group: 1 ep: 1 pp: 2 vpp: 2 ga: 4 all_gpus: 4 pp_comm: 1000\n1\n"
    file.write_text(f"{head}l -1 0 NONE 0 0 NONE 0 0 ALLGATHER 500 1\n")
    one = SimAIWorkload(pattern="simai", file=str(file))
    plan = one.plan(CONTEXT)
    assert len(plan) == one.flow_count(CONTEXT)
    sent = {(src, dst, size) for src, dst, size in zip(plan.src, plan.dst, plan.size.tolist(), strict=True)}
    within = {("h1", "h2"), ("h2", "h1"), ("h3", "h4"), ("h4", "h3")}
    between = {("h1", "h3"), ("h2", "h4"), ("h3", "h1"), ("h4", "h2")}
    assert sent == {(*pair, 250.0) for pair in within} | {(*pair, 8000.0) for pair in between}


def test_a_bubble_and_what_is_computed_again_take_time(tmp_path: Path) -> None:
    layer = "l -1 1000000 NONE 0 0 NONE 0 0 NONE 0 1\n"
    head = "HYBRID_TRANSFORMER model_parallel_NPU_group: 1 ep: 1 pp: 2 ga: 2 all_gpus: 2 pp_comm: 1"
    (tmp_path / "w.txt").write_text(f"{head} checkpoints: 1 0 checkpoint_initiates: 1 2\n3\n{3 * layer}")
    (tmp_path / "x.yaml").write_text("traffic: {pattern: simai, file: w.txt}\ncontroller: swift\nengine: virtual\n")
    path = critical_path(Layout(load(str(tmp_path / "x.yaml")).experiment))
    assert path is not None
    assert float(path.total) == pytest.approx(3e-3 + 2e-3 + 3e-3 / 2, rel=0.01)
