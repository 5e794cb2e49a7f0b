"""Workloads of SimAI (github.com/aliyun/SimAI, as AICB writes them): a line about the parallelism, the number of
layers, and twelve words for each layer.

    HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 16
    1
    attention -1 556000 ALLREDUCE 16777216 1 NONE 0 1 NONE 0 1

Behind name and dependency these are for the forward pass, the gradient of the input and that of the weights: ns of
computing, a collective and its bytes; and ns of an update, which SimAI does not use. With pipelines the layers are
those of any stage, all micro-batches in them; `pp_comm: BYTES` is what a micro-batch passes on, `vpp` times per stage.
`checkpoints: N A B ...` are layers from which the forward pass is done again before the backward pass of those in
`checkpoint_initiates: N A B ...`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import NamedTuple

from testbed.experiment.lines import Line, lines
from testbed.experiment.topology.any_rack import MOST_HOSTS

KINDS = ("HYBRID_TRANSFORMER", "HYBRID_TRANSFORMER_FWD_IN_BCKWD")
WORDS = 12
MOST_LAYERS = 100_000
COLLECTIVES = ("ALLREDUCE", "ALLGATHER", "REDUCESCATTER", "ALLTOALL")
NOTHING = ("NONE", "BROADCAST")  # SimAI carries neither out
GROUPS = ("", "EP", "DP_EP")  # what follows a collective's name: who takes part; without it TP, of weights DP
LAYER = "a layer: name, dependency, three times ns of computing, a collective and bytes, ns of an update"
HEAD = f"{' or '.join(KINDS)}, then 'model_parallel_NPU_group: N ... all_gpus: N'"


class Phase(NamedTuple):
    """Computing of a layer, and the collective behind it."""

    ns: int
    collective: str  # one of `COLLECTIVES`, or "" for none
    group: str  # TP, DP, EP or DP_EP
    size: int  # bytes; without a collective, those that are left out


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
    stages: int = 1
    passed: int = 0  # bytes that a rank passes on to the next stage, and as many back
    bubble: float = 0.0  # share of its computing for which a stage waits for the others
    again: Mapping[int, int] = field(default_factory=dict)  # layer: from which one on to go forward again before it


def is_one(begin: Line) -> bool:
    """Whether a file that begins so is one of these."""
    return begin.words[:1] != [] and begin.words[0] in KINDS


def fewest(head: Line) -> int | None:
    """How few ranks make its groups, if the file does not say how many there are. Raises ValueError."""
    keys = ("model_parallel_NPU_group:", "ep:", "pp:")
    return None if "all_gpus:" in head.words else max(prod(_said(head, key, 1, MOST_HOSTS, usual=1) for key in keys), 2)


def read(file: Path, ranks: int | None = None) -> Workload:
    """``ranks`` if the file does not say it. Raises ValueError with the line, or OSError."""
    found = lines(file)
    head = next(found, Line(file, 1, []))
    if not is_one(head):
        head.refuse(HEAD)
    if ranks is None and "all_gpus:" not in head.words:
        head.refuse("'all_gpus: N', or that traffic says 'ranks'")
    ranks = ranks or _said(head, "all_gpus:", 2, MOST_HOSTS)
    tensor, expert = _said(head, "model_parallel_NPU_group:", 1, ranks), _said(head, "ep:", 1, ranks, usual=1)
    stages, virtual, batches = (_said(head, key, 1, 1 << 20, usual=1) for key in ("pp:", "vpp:", "ga:"))
    if ranks % (tensor * expert * stages):
        several = f"{tensor} x {expert} x {stages}, the ranks of tensor, expert and pipeline parallelism"
        head.refuse(f"all_gpus: a multiple of {several}")
    layers = list(_layers(found, head))
    times = virtual * batches
    passed = times * _passed_on(head) if stages > 1 else 0
    return Workload(ranks, tensor, expert, layers, stages, passed, (stages - 1) / times, _again(head, len(layers)))


def _passed_on(head: Line) -> int:
    """Bytes; AICB divides, and writes a fraction."""
    at = next((place for place, word in enumerate(head.words) if word.rstrip(":") == "pp_comm"), len(head.words))
    words = [word.removesuffix(".0") for word in head.words]
    return head._replace(words=words).whole(at + 1, "bytes of pp_comm", 1, 1 << 40)


def _again(head: Line, layers: int) -> dict[int, int]:
    """From which checkpoint, for each layer that asks for it."""
    kept, asking = (_numbers(head, key, layers) for key in ("checkpoints:", "checkpoint_initiates:"))
    found = {}
    for layer in asking:
        before = [one for one in kept if one < layer]
        if not before:
            head.refuse(f"checkpoints: a layer before {layer}, which checkpoint_initiates names")
        found[layer] = max(before)
    return found


def _numbers(head: Line, key: str, layers: int) -> list[int]:
    if key not in head.words:
        return []
    at = head.words.index(key) + 1
    return [
        head.whole(place, f"layers of {key}", 0, layers - 1)
        for place in range(at + 1, at + 1 + head.whole(at, key, 0, layers))
    ]


def _said(head: Line, key: str, least: int, most: int, usual: int = 0) -> int:
    if key not in head.words:
        if usual:
            return usual
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
    if name in NOTHING:
        return Phase(ns, "", usual, size if name != "NONE" else 0)
    if name not in COLLECTIVES or group not in GROUPS:
        line.refuse(f"NONE or {', '.join(COLLECTIVES)}, alone or with _EP or _DP_EP, as word {at + 2}")
    return Phase(ns, name if size else "", group or usual, size)
