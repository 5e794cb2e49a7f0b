"""The controller as a program for NVIDIA's DOCA PCC: C files as they are, and tables made from the trees.

What it has to keep to is in `testbed.sdk.export.program`. A NIC has no window: the controller's becomes a rate.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from testbed.base.arrays import Ints
from testbed.sdk.export.program import Parameter, Program

from ..observation import AdpgConfig
from ..tree import Trees
from .fixed import (
    DOCA_RATE_BITS,
    HIGHEST,
    ONE,
    ROOT_BITS,
    ROOTS,
    STEEPEST_FACTOR,
    STEPS,
    FixedFlows,
    FixedTrees,
    Parameters,
)

SOURCE = Path(__file__).with_name("doca_pcc")
FILES = ("adpg_controller.c", "adpg_fixed.h", "adpg_fixed.c")
LINE = 1 << DOCA_RATE_BITS
MOST_NS = 1_000_000_000
PER_LINE = 12
NOTES = """\
ADPG (Tessler et al., IAAI 2022) as {trees} trees of depth {depth}: each answer to a probe multiplies the flow's rate
by what the trees make of the last two RTTs and decisions. In closed loop with 2 to 1024 flows the fixed point's queue
is within 5 % of where x is 0 (measured with the shipped policy: within 0.1 % of the floating form's); the signal x
(-0.8 to 8) is within 1e-4 of the testbed's, a multiplier within 1/2^16. CNPs and NACKs are counted and not used.

**BASE_RTT_NS has to be measured on your network**: it is the round trip of a probe through empty queues, and the
controller holds queues at about THRESHOLD_NS above it. 0 takes the least that each flow has seen, which grows wrong if
the queue never drains: prefer a number. THRESHOLD_NS must stay well above the jitter of the probes, or the rate
collapses.

A NIC has no window. WINDOW_FXP16 stands for it: the rate is at most so many base RTTs at line rate per RTT, which puts
as much in flight as the window of the testbed's controller does, one round trip late. 0 takes it away, and many flows
that begin near line rate then lose packets until their rates have come down.

RAMP_FXP16 is not the papers': a flow whose line was idle for 44 RTTs adds so much per further RTT to its factor, up to
0.1, until it sees congestion. 0 is the policy as published.
"""


class _Model:
    """controller_start and controller_decide for some flows."""

    def __init__(self, trees: FixedTrees, parameters: Parameters, flows: int) -> None:
        self.flows, self.every = FixedFlows(trees, parameters, flows), np.arange(flows)

    def start(self) -> Ints:
        return np.full(len(self.every), self.flows.parameters.start_rate)

    def decide(self, rtt: Ints, losses: Ints) -> Ints:  # noqa: ARG002 - ADPG hears RTTs only
        self.flows.decide(self.every, rtt)
        return self.flows.told(self.every, rtt)


def program(trees: Trees, config: AdpgConfig, base_rtt: float) -> Program:
    """The program for the card; ``base_rtt`` in s. Raises BadInput for trees or options that do not fit."""
    fixed, parameters = FixedTrees.of(trees), Parameters.of(config, base_rtt)
    sources = {name: (SOURCE / name).read_text(encoding="utf-8") for name in FILES}
    sources["adpg_tables.h"] = tables(fixed)
    return Program(
        controller="adpg",
        title="ADPG, learned congestion control as decision trees",
        number=0xAD96,
        probes=True,
        parameters=_parameters(parameters),
        sources=sources,
        model=lambda flows: _Model(fixed, parameters, flows),
        notes=NOTES.format(trees=len(fixed.leaves), depth=fixed.feature.shape[1]),
        made_of={"policy_sha256": hashlib.sha256(sources["adpg_tables.h"].encode()).hexdigest()},
        network={"base_rtt": base_rtt} if base_rtt else {},
    )


def _parameters(initial: Parameters) -> tuple[Parameter, ...]:
    of_share, factor = "share of line rate", "factor of one decision"
    return (
        Parameter("START_RATE_FXP20", initial.start_rate, 1, LINE, f"of a new flow, {of_share}"),
        Parameter("LEAST_RATE_FXP20", initial.least_rate, 1, LINE, f"of any flow, {of_share}"),
        Parameter("BASE_RTT_NS", initial.base_rtt, 0, MOST_NS, "through empty queues, ns; 0: least seen"),
        Parameter("THRESHOLD_NS", initial.threshold, 0, MOST_NS, "queueing without congestion, ns"),
        Parameter("INVERSE_RTT_FXP32", initial.inverse_rtt, 1, (1 << 23) - 1, "1 / reference RTT, 1/ns"),
        Parameter("AIM_FXP16", initial.aim, 1, HIGHEST, "12.5 times the target"),
        Parameter("LEAST_FACTOR_FXP16", initial.least_factor, ONE // 2, ONE, f"least {factor}"),
        Parameter("MOST_FACTOR_FXP16", initial.most_factor, ONE, 2 * ONE, f"greatest {factor}"),
        Parameter("WINDOW_FXP16", initial.window, 0, 64 * ONE, "most in flight, base RTTs at line rate; 0: no limit"),
        Parameter("RAMP_FXP16", initial.ramp, 0, STEEPEST_FACTOR, f"per RTT after 44 without congestion, {factor}"),
    )


def tables(trees: FixedTrees) -> str:
    """``adpg_tables.h``: the trees, and the table of square roots. For one file to include."""
    count, depth = trees.feature.shape
    lines = [f"#define ADPG_TREES {count}", f"#define ADPG_DEPTH {depth}", f"#define ADPG_BIAS {trees.bias}", ""]
    lines += ["/* Is this feature greater? The answers are the bits of a leaf's number. */", "struct adpg_question {"]
    lines += ["\tuint32_t feature;", "\tint32_t border;", "};", ""]
    lines += ["static const struct adpg_question adpg_questions[ADPG_TREES][ADPG_DEPTH] = {"]
    for features, borders in zip(trees.feature.tolist(), trees.border.tolist(), strict=True):
        pairs = ", ".join(f"{{{feature}, {border}}}" for feature, border in zip(features, borders, strict=True))
        lines.append(f"\t{{{pairs}}},")
    lines += ["};", "", "static const int32_t adpg_leaves[ADPG_TREES][1 << ADPG_DEPTH] = {"]
    lines += [f"\t{{{', '.join(map(str, leaves))}}}," for leaves in trees.leaves.tolist()]
    lines += ["};", "", f"/* Square roots of 1 to 4 in steps of 1/{STEPS}, {ROOT_BITS} bits of fraction. */"]
    lines += [f"static const uint32_t adpg_roots[{len(ROOTS)}] = {{", *_wrapped(ROOTS), "};"]
    return _header("ADPG_TABLES_H", lines)


def _header(guard: str, lines: list[str]) -> str:
    top = [
        "/* Generated by testbed export. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#include <stdint.h>",
        "",
    ]
    return "\n".join([*top, *lines, "", "#endif", ""])


def _wrapped(numbers: Ints) -> Iterator[str]:
    for first in range(0, len(numbers), PER_LINE):
        yield "\t" + ", ".join(str(number) for number in numbers[first : first + PER_LINE].tolist()) + ","
