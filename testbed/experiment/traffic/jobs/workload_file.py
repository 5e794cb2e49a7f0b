"""Workloads of SimAI (github.com/aliyun/SimAI, as AICB writes them): a line about the parallelism, the number of
layers, and twelve words for each layer.

    HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 16
    1
    attention -1 556000 ALLREDUCE 16777216 1 NONE 0 1 NONE 0 1

Behind name and dependency these are for the forward pass, the gradient of the input and that of the weights: ns of
computing, a collective and its bytes; and ns of an update, which SimAI does not use.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from testbed.experiment.lines import Line, lines
from testbed.experiment.topology.any_rack import MOST_HOSTS

KINDS = ("HYBRID_TRANSFORMER", "HYBRID_TRANSFORMER_FWD_IN_BCKWD")
WORDS = 12
MOST_LAYERS = 100_000
COLLECTIVES = ("ALLREDUCE", "ALLGATHER", "REDUCESCATTER", "ALLTOALL")
GROUPS = ("", "EP", "DP_EP")  # what follows a collective's name: who takes part; without it TP, of weights DP
LAYER = "a layer: name, dependency, three times ns of computing, a collective and bytes, ns of an update"
HEAD = f"{' or '.join(KINDS)}, then 'model_parallel_NPU_group: N ... all_gpus: N'"


class Phase(NamedTuple):
    """Computing of a layer, and the collective behind it."""

    ns: int
    collective: str  # one of `COLLECTIVES`, or "" for none
    group: str  # TP, DP, EP or DP_EP
    size: int  # bytes


class Layer(NamedTuple):
    """One layer."""

    forward: Phase
    inputs: Phase  # the gradient of its input
    weights: Phase


@dataclass(frozen=True)
class Workload:
    """What a file says."""

    ranks: int
    tensor: int  # ranks that share a layer
    expert: int
    layers: list[Layer]


def is_one(begin: Line) -> bool:
    """Whether a file that begins so is one of these."""
    return begin.words[:1] != [] and begin.words[0] in KINDS


def read(file: Path) -> Workload:
    """Raises ValueError with the line, or OSError."""
    found = lines(file)
    head = next(found, Line(file, 1, []))
    if not is_one(head):
        head.refuse(HEAD)
    ranks = _said(head, "all_gpus:", 2, MOST_HOSTS)
    tensor, expert = _said(head, "model_parallel_NPU_group:", 1, ranks), _said(head, "ep:", 1, ranks)
    for key, only in (("pp:", 1), ("checkpoints:", 0)):
        if key in head.words and _said(head, key, 0, 1 << 20) != only:
            head.refuse(f"{key} {only}, as pipelines and recomputing are not carried out")
    if ranks % (tensor * expert):
        head.refuse(f"all_gpus: a multiple of {tensor} x {expert}, the ranks of tensor and expert parallelism")
    return Workload(ranks, tensor, expert, list(_layers(found, head)))


def _said(head: Line, key: str, least: int, most: int) -> int:
    if key not in head.words:
        head.refuse(f"'{key} N'")
    return head.whole(head.words.index(key) + 1, key, least, most)


def _layers(found: Iterator[Line], head: Line) -> Iterator[Layer]:
    counted = next(found, head)
    count = counted.whole(0, "the number of layers", 1, MOST_LAYERS)
    for number in range(count):
        line = next(found, None)
        if line is None:
            counted.refuse(f"as many layers as it says, but there are {number}")
        if len(line.words) != WORDS:
            line.refuse(LAYER)
        yield Layer(_phase(line, 2, "TP"), _phase(line, 5, "TP"), _phase(line, 8, "DP"))


def _phase(line: Line, at: int, usual: str) -> Phase:
    ns, size = line.whole(at, "ns of computing", 0, 1 << 53), line.whole(at + 2, "bytes", 0, 1 << 53)
    name, _, group = line.words[at + 1].partition("_")
    if name == "NONE":
        return Phase(ns, "", usual, 0)
    if name not in COLLECTIVES or group not in GROUPS:
        line.refuse(f"NONE or {', '.join(COLLECTIVES)}, alone or with _EP or _DP_EP, as word {at + 2}")
    return Phase(ns, name if size else "", group or usual, size)
