"""A controller as a program for DOCA PCC: what a plugin brings, and the files that are made of it.

What the DPA demands (the headers of DOCA PCC's device API): no float, 12 words per flow, at most 38 parameters and 63
counters of 32 bits, rates with 20 bits of fraction, every slot handled.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from string import Template
from typing import Any, Protocol

import numpy as np

from testbed import __version__
from testbed.base.arrays import Ints
from testbed.errors import BadInput
from testbed.sdk.export import numbers

SOURCE = Path(__file__).with_name("doca_pcc")
DEVICE = ("controller.h", "program.c")
NUMBERS = ("numbers.c", "numbers.h")
REALS = ("real.c", "real.h")
TELEMETRY = ("telemetry.h",)
MOST_PARAMETERS = 38
PATIENCE_NS = 300_000  # until a probe counts as lost; NVIDIA's own sample waits as long
START_SHARE = 1 / 16  # of line rate: flows that all start at line rate at once lose packets

COUNTERS = {
    "RTT_EVENTS": "answers to probes",
    "TX_EVENTS": "bursts sent",
    "CNP_EVENTS": "congestion notifications",
    "NACK_EVENTS": "losses that the receiver reported",
    "OTHER_EVENTS": "events of other types",
    "NEW_FLOWS": "flows started",
    "DECISIONS": "rates decided",
    "DECREASES": "decisions that lowered the rate",
    "INCREASES": "decisions that raised the rate",
    "FACTORS_LIMITED": "factors of the controller beyond its limits",
    "AT_LEAST": "decisions that met the controller's lower end",
    "AT_MOST": "decisions that met the controller's upper end",
    "STEPS_LIMITED": "rates that wanted to move further than one step",
    "LATE_ANSWERS": "answers to probes from before the last request",
    "PROBES_AGAIN": "probes that had no answer in time",
    "INTERNAL_SLOT": "events of connections without a slot of ours",
}


@dataclass(frozen=True)
class Parameter:
    """What an operator can change on the card: 32 bits without a sign. The name ends in its unit."""

    name: str
    initial: int
    least: int
    most: int
    text: str

    def __post_init__(self) -> None:
        if not self.least <= self.initial <= self.most:
            raise BadInput(
                f"{self.name} ({self.text}) would be {self.initial}; the card takes {self.least} to {self.most}"
            )


class Model(Protocol):
    """Some flows under the same arithmetic in Python (controller.h); columns of shape (n,)."""

    def start(self) -> Ints:
        """The rates of new flows, 20 bits of fraction."""
        ...

    def decide(self, rtt: Ints, losses: Ints) -> Ints:
        """The rates that they should have after an answer each; ``rtt`` in ns."""
        ...


class OneFlow(Protocol):
    """The same for one flow."""

    def start(self) -> int:
        """The rate of a new flow."""
        ...

    def decide(self, rtt: int, losses: int) -> int:
        """The rate after an answer."""
        ...


class EachFlow:
    """A `Model` of many flows made of `OneFlow`."""

    def __init__(self, flows: Sequence[OneFlow]) -> None:
        self.flows = flows

    def start(self) -> Ints:
        return np.array([flow.start() for flow in self.flows])

    def decide(self, rtt: Ints, losses: Ints) -> Ints:
        rows = zip(self.flows, rtt.tolist(), losses.tolist(), strict=True)
        return np.array([flow.decide(*answer) for flow, *answer in rows])


@dataclass(frozen=True)
class Program:
    """One controller for the card."""

    controller: str  # name of the plugin
    title: str
    number: int  # the algorithm's id in PPCC, 16 bits
    probes: bool  # decides on answers to probes; else whenever PATIENCE_NS are over
    parameters: tuple[Parameter, ...]  # its own, numbered from 0
    sources: Mapping[str, str]  # files beside program.c, by name
    model: Callable[[int], Model] | None  # of so many flows; None: real.c is IEEE's arithmetic, and has no other
    notes: str  # for the README
    needs: tuple[str, ...] = NUMBERS  # files beside program.c that it computes with
    on_events: bool = False  # without probes: decides on every event
    telemetry: bool = False  # answers to probes carry INT
    keeps_time: bool = False  # has controller_moves_on
    patience: int = PATIENCE_NS
    made_of: Mapping[str, str] = field(default_factory=dict)  # e.g. the policy's SHA-256, for the manifest
    network: Mapping[str, float] = field(default_factory=dict)  # line_rate (bit/s), base_rtt (s): what it is made for

    @property
    def every_parameter(self) -> tuple[Parameter, ...]:
        """Also program.c's."""
        what = "until a probe counts as lost, ns" if self.probes else "from one step to the next, ns"
        return (
            *self.parameters,
            Parameter("PATIENCE_NS", self.patience, 1_000, 60_000_000, what),
            Parameter("LEAST_STEP_FXP16", 1 << 15, 1 << 14, 1 << 16, "least factor of one decision on a rate"),
            Parameter("MOST_STEP_FXP16", 1 << 17, 1 << 16, 1 << 18, "greatest factor of one decision on a rate"),
        )


def files(program: Program) -> dict[str, str]:
    """Path within the export to text. Two exports of the same are the same."""
    assert len(program.every_parameter) <= MOST_PARAMETERS
    device = {name: _shipped(f"device/{name}") for name in DEVICE} | dict(program.sources)
    device |= {name: _shipped(f"device/{name}") for name in (*program.needs, *(TELEMETRY if program.telemetry else ()))}
    if program.needs == NUMBERS:
        device["numbers_tables.h"] = numbers.tables()
    device["parameters.h"] = _parameters_header(program)
    device = dict(sorted(device.items()))
    made = {f"device/{name}": text for name, text in device.items()}
    made |= {name: _shipped(name) for name in ("host/main.c", "build_device.sh", "attributes.yaml")}
    made["meson_options.txt"] = _shipped("meson_options.txt")
    listed = {end: ", ".join(f"'{path}'" for path in made if path.endswith(end)) for end in (".h", ".c")}
    sources = listed[".c"].removesuffix(", 'host/main.c'")
    made["meson.build"] = _filled("meson.build", version=__version__, sources=sources, headers=listed[".h"])
    manifest = _manifest(program, device)
    made["README.md"] = _readme(program, manifest["digest"])
    manifest["files"] = {name: _sha256(text) for name, text in made.items()}
    made["manifest.json"] = json.dumps(manifest, indent=2) + "\n"
    return made


def _manifest(program: Program, device: Mapping[str, str]) -> dict[str, Any]:
    """``digest`` stands for all that runs on the card: code, policy, and what parameters begin with."""
    everything = "".join(f"{_sha256(text)}  {name}\n" for name, text in device.items())
    return {
        "format": 1,
        "controller": program.controller,
        "version": __version__,
        "target": "doca-pcc",
        "algorithm_id": program.number,
        "digest": _sha256(everything),
        "made_of": dict(program.made_of),
        "network": dict(program.network),
        "probes": program.probes,
        "binary": "testbed-pcc",
        "parameters": [
            {"number": number, **asdict(parameter)} for number, parameter in enumerate(program.every_parameter)
        ],
        "counters": list(COUNTERS),
    }


def _parameters_header(program: Program) -> str:
    """``parameters.h``: names, defaults, ranges and texts, as tables for the preprocessor."""
    parameters = [
        f'X({one.name}, {one.initial}u, {one.least}u, {one.most}u, "{one.text}")' for one in program.every_parameter
    ]
    counters = [f'X({name}, "{text}")' for name, text in COUNTERS.items()]
    major = __version__.partition(".")[0]
    lines = [
        "/* Generated by testbed export. */",
        "#ifndef PARAMETERS_H",
        "#define PARAMETERS_H",
        "",
        f'#define CONTROLLER_TITLE "{program.title}"',
        f"#define CONTROLLER_ID {program.number:#x}",
        f"#define CONTROLLER_VERSION {major}",
        f"#define CONTROLLER_PROBES {int(program.probes)}",
        f"#define CONTROLLER_ON_EVENTS {int(program.on_events)}",
        f"#define CONTROLLER_TELEMETRY {int(program.telemetry)}",
        f"#define CONTROLLER_KEEPS_TIME {int(program.keeps_time)}",
        "",
        "/* Name, default, least, most, text. */",
        "#define PARAMETERS(X) \\",
        *_continued(parameters),
        "",
        "#define COUNTERS(X) \\",
        *_continued(counters),
        "",
        "enum {",
        *(f"\t{one.name}," for one in program.every_parameter),
        "\tPARAMETER_COUNT",
        "};",
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def _continued(rows: list[str]) -> list[str]:
    return [f"\t{row} \\" for row in rows[:-1]] + [f"\t{rows[-1]}"]


def _readme(program: Program, digest: str) -> str:
    rows = (
        f"| {number} | {one.name} | {one.text} | {one.initial} | {one.least} | {one.most} |"
        for number, one in enumerate(program.every_parameter)
    )
    return _filled(
        "README.md",
        title=program.title,
        controller=program.controller,
        version=__version__,
        digest=digest,
        device_files=", ".join(f"`device/{name}`" for name in sorted(program.sources)),
        notes=program.notes.strip(),
        parameters="\n".join(rows),
        counters=", ".join(COUNTERS),
    )


def _shipped(name: str) -> str:
    return (SOURCE / name).read_text(encoding="utf-8")


def _filled(name: str, **values: str) -> str:
    return Template(_shipped(name)).substitute(values)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
