"""A program for a card that was just written, beside the controller that it is made of, decision by decision.

Before each the card's flow gets the state of the controller's, so that what is found is the error of one decision, and
not what a run makes of it. Where a condition falls to the other side by a rounding, the two decide differently: such
decisions are counted, and not part of the bound.
"""

from __future__ import annotations

import ctypes
import math
import shutil
import struct
import tempfile
from collections.abc import Callable, Iterator
from ctypes import c_uint32
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from testbed.base.compiler import compile_to
from testbed.controller import Ack, CompiledController, Hop
from testbed.registry import Plugin
from testbed.sdk.export.card.functions import NOW
from testbed.sdk.export.card.places import Place
from testbed.sdk.export.card.reals import COUNTERS, word
from testbed.sdk.export.card.source import WORDS, CardSource
from testbed.sdk.export.check import FLAGS, Answer
from testbed.sdk.export.numbers import LINE_RATE

FLOWS, DECISIONS = 20, 500
BOUND, OTHERWISE = 1e-5, 0.01  # of a decision, and of how many may be on the other side of a condition
WORD = 1 << 32
SMALLEST = 1e-6  # what an error is a share of, at least: differences of RTTs cancel out


@dataclass(frozen=True)
class CardCompared:
    """What was found."""

    text: str
    data: dict[str, Any]
    wrong: str


@dataclass
class Told:
    """An answer, or an event."""

    now: float
    rtt: float
    losses: int
    marks: int
    packets: int
    number: int
    hop: Hop


def compared(device: Path, made: CardSource, plugin: Plugin, begin: Callable[[], CompiledController]) -> CardCompared:
    """Of an export in ``device``; ``begin`` makes a flow."""
    if shutil.which("clang") is None:
        return CardCompared("not checked: there is no clang on this machine", {}, "")
    errors = np.array(list(_errors(device, made, begin)))
    close = errors <= BOUND
    least, apart = float(errors[close].max(initial=0.0)), int((~close).sum())
    text = (
        f"checked: {len(errors) - apart:,} of {len(errors):,} decisions leave rate (beyond a unit of 1/2^20) and state "
        f"within {least:.1e} of {plugin.name}'s; {apart} fall to the other side of a condition"
    )
    data = {"decisions": len(errors), "error": least, "otherwise": apart}
    wrong = f"{apart:,} of {len(errors):,} decisions are not {plugin.name}'s" if apart > OTHERWISE * len(errors) else ""
    return CardCompared(text, data, wrong)


def _errors(device: Path, made: CardSource, begin: Callable[[], CompiledController]) -> Iterator[float]:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "controller.so"
        compile_to(
            target, tuple(one for one in sorted(device.glob("*.c")) if one.name != "program.c"), (*FLAGS, f"-I{device}")
        )
        library = ctypes.CDLL(str(target))
    values = [one.initial for one in made.parameters]
    parameters, met = (c_uint32 * (len(values) + 1))(LINE_RATE // 16, *values), c_uint32()
    for seed in range(FLOWS):
        flow, asked_at = begin(), 0.0
        for told in _made_up(flow, seed):
            if not made.probes:
                asked_at = told.now // 8e-3 * 8e-3
            own = (c_uint32 * WORDS[made.probes])()
            for place, value in _packed(made, flow, asked_at):
                own[place.word] |= value << (16 if place.half == 1 else 0)
            card = library.controller_decide(
                own, parameters, ctypes.byref(_answer(told, made, asked_at)), ctypes.byref(met)
            )
            wanted = _decided(flow, told, made) / flow.path.line_rate * LINE_RATE
            wanted = min(max(wanted, 1.0), float(LINE_RATE))
            yield max(max(abs(card - wanted) - 1, 0.0) / wanted, *_kept_errors(made, flow, own))
            asked_at = told.now


def _kept_errors(made: CardSource, flow: CompiledController, own: Any) -> Iterator[float]:
    """Of what the flow keeps, but for times and counters, which are told in whole ns and bytes."""
    yield 0.0
    for place in made.places:
        if place.half >= 0 or made.origins.get(place.field.name):
            continue
        value: Any = getattr(flow, place.field.name)
        value = value[place.element] if place.field.length else value
        (found,) = struct.unpack("<f", struct.pack("<I", own[place.word]))
        if found != value:
            yield abs(found - value) / max(abs(value), SMALLEST)


def _packed(made: CardSource, flow: CompiledController, asked_at: float) -> Iterator[tuple[Place, int]]:
    """The flow's state as words."""
    for place in made.places:
        value: Any = getattr(flow, place.field.name)
        value = value[place.element] if place.field.length else value
        origin = made.origins.get(place.field.name, "")
        if place.half >= 0:
            yield place, min(max(int(value), -(1 << 15)), (1 << 15) - 1) & 0xFFFF
        elif origin in COUNTERS:
            yield place, round(value / float(f"1e{COUNTERS[origin]}")) % WORD
        else:
            yield place, word(value - asked_at if origin == NOW else value)


def _answer(told: Told, made: CardSource, asked_at: float) -> Answer:
    hop = (1, told.hop.node, round(told.hop.queue), round(told.hop.tx_bytes) % WORD, round(told.hop.ts * 1e9) % WORD)
    rate, since = LINE_RATE, round((told.now - asked_at) * 1e9)
    sent = 0 if made.probes else told.packets * 1024
    others = (told.marks, told.packets, sent, told.number, since, rate, *hop)
    return Answer(round(told.rtt * 1e9) if made.probes else 0, told.losses, (c_uint32 * 11)(*others))


def _decided(flow: CompiledController, told: Told, made: CardSource) -> float:
    """The rate (bit/s) that the controller has after it was told the same."""
    kept = {one.field.name for one in made.places}
    for name in {"rate", "window"} - kept:
        setattr(flow, name, math.inf)
    if told.losses:
        flow.on_loss(told.now, told.losses)
    for _ in range(told.marks):
        flow.on_cnp(told.now)
    if told.now >= flow.timer:
        flow.on_timer(told.now)
    if not made.probes:
        flow.on_sent(told.now, told.packets * 1024)
        return flow.rate
    size = flow.path.wire_size
    ack = Ack(
        told.now, told.packets, told.packets * size, told.number, told.number + 1, 0, told.rtt,
        min(told.marks, told.packets), (told.hop,),
    )  # fmt: skip
    flow.on_ack(ack)
    rate = min(flow.rate, 8 * flow.window / told.rtt)
    return rate if math.isfinite(rate) else flow.path.line_rate


def _made_up(flow: CompiledController, seed: int) -> Iterator[Told]:
    """Whole ns, as a card has them: congestion that comes and goes, and now and then a loss."""
    rng, path = np.random.default_rng(seed), flow.path
    now, sent, queueing = 0.0, 0.0, 0.0
    for number in range(DECISIONS):
        queueing = max(0.0, 0.9 * queueing + rng.normal(0.05, 0.3)) if rng.random() < 0.95 else 0.0
        rtt = round(path.base_rtt * (1 + queueing) * 1e9) * 1e-9
        now = round((now + rtt * (1 if rng.random() < 0.9 else 1.5)) * 1e9) * 1e-9
        sent += round(rtt * path.line_rate / 8 * min(1.0, 0.5 + queueing))
        marks, packets = int(rng.random() < min(queueing, 0.5)), int(rng.integers(1, 200))
        queue = float(int(queueing * path.bdp) // 256 * 256)
        hop = Hop(0, now - round(path.base_rtt / 2 * 1e9) * 1e-9, sent, queue, path.line_rate)
        yield Told(now, rtt, int(rng.random() < 0.02), marks, packets, 2 * number, hop)
