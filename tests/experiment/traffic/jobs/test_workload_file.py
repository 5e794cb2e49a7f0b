"""Workloads of SimAI as files."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.experiment.traffic.jobs.workload_file import Phase, read

HEAD = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 1 ga: 1 all_gpus: 8 checkpoints: 0"
TEXT = f"{HEAD}\n1\nmoe -1 500 ALLTOALL_EP 4096 30 ALLREDUCE 0 7 REDUCESCATTER_DP_EP 900 1\n"


def test_a_layer(tmp_path: Path) -> None:
    (tmp_path / "w.txt").write_text(TEXT)
    found = read(tmp_path / "w.txt")
    assert (found.ranks, found.tensor, found.expert) == (8, 2, 2)
    assert found.layers == [
        (Phase(500, "ALLTOALL", "EP", 4096), Phase(30, "", "TP", 0), Phase(7, "REDUCESCATTER", "DP_EP", 900))
    ]


def test_a_broadcast_is_left_out_as_there(tmp_path: Path) -> None:
    (tmp_path / "w.txt").write_text(TEXT.replace("ALLTOALL_EP", "BROADCAST"))
    assert read(tmp_path / "w.txt").layers[0].forward == Phase(500, "", "TP", 4096)


def test_who_else_says_how_many_ranks_there_are(tmp_path: Path) -> None:
    (tmp_path / "w.txt").write_text(TEXT.replace("ep: 2 pp: 1 vpp: 1 ga: 1 all_gpus: 8", ""))
    found = read(tmp_path / "w.txt", 16)
    assert (found.ranks, found.tensor, found.expert, found.stages) == (16, 2, 1, 1)


def test_a_pipeline_whose_layers_are_computed_again(tmp_path: Path) -> None:
    head = (
        "model_parallel_NPU_group: 2 ep: 1 pp: 4 vpp: 3 ga: 2 all_gpus: 8 checkpoints: 2 0 2 checkpoint_initiates: 1 3"
    )
    layers = "l -1 0 NONE 0 0 NONE 0 0 NONE 0 1\n" * 5
    (tmp_path / "w.txt").write_text(f"HYBRID_TRANSFORMER_FWD_IN_BCKWD {head} pp_comm: 100.0\n5\n{layers}")
    found = read(tmp_path / "w.txt")
    assert (found.stages, found.passed, found.bubble, found.again) == (4, 3 * 2 * 100, 3 / 6, {3: 2})


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("HYBRID_TRANSFORMER_FWD_IN_BCKWD", "DLRM", "line 1: expected HYBRID_TRANSFORMER or HYBRID_TRANSFORMER_FWD"),
        ("all_gpus: 8", "", "line 1: expected 'all_gpus: N', or that traffic says 'ranks'"),
        ("all_gpus: 8", "all_gpus: -8", "line 1: expected all_gpus:, a whole number of 2 to 65,535"),
        ("all_gpus: 8", "all_gpus: 6", "line 1: expected all_gpus: a multiple of 2 x 2"),
        ("pp: 1", "pp: 4", "line 1: expected all_gpus: a multiple of 2 x 2 x 4, the ranks of tensor, expert and pipe"),
        ("pp: 1", "pp: 2", "line 1: expected bytes of pp_comm, a whole number of 1 to"),
        ("checkpoints: 0", "checkpoints: 3 0", "line 1: expected checkpoints:, a whole number of 0 to 1, as word 15"),
        ("checkpoints: 0", "checkpoint_initiates: 1 0", "line 1: expected checkpoints: a layer before 0"),
        ("\n1\n", "\n2\n", "line 2: expected as many layers as it says, but there are 1"),
        ("\n1\n", "\n10000000\n", "line 2: expected the number of layers, a whole number of 1 to 100,000"),
        ("900 1\n", "900\n", "line 3: expected a layer: name, dependency, three times ns of computing"),
        ("ALLTOALL_EP", "SCATTER", "line 3: expected NONE or ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL, alone"),
        ("ALLTOALL_EP", "ALLTOALL_PP", "line 3: expected NONE or ALLREDUCE"),
        ("4096", "-4096", "line 3: expected bytes, a whole number of 0 to"),
    ],
)
def test_bad_ones(old: str, new: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "w.txt").write_text(TEXT.replace(old, new, 1))
    with pytest.raises(ValueError, match="expected") as caught:
        read(tmp_path / "w.txt")
    assert says in str(caught.value)
