"""``testbed export NAME --to doca-pcc`` for controllers that bring no program of their own: from their Python."""

from __future__ import annotations

import hashlib
from typing import Any

from pydantic import create_model

from testbed.controller import CompiledController
from testbed.plugin import PluginConfig
from testbed.registry import Plugin
from testbed.sdk.export.c.functions import snake
from testbed.sdk.export.card.check import compared
from testbed.sdk.export.card.source import WORDS, CardSource, source
from testbed.sdk.export.job import DOCA_PCC, CardConfig, from_python, of_a_probe, write
from testbed.sdk.export.numbers import LINE_RATE
from testbed.sdk.export.program import REALS, Parameter, Program
from testbed.sdk.export.stack import stack_use
from testbed.sdk.jobs import Job, JobContext, Result

NOTES = """\
{name}, written by the tool from its Python: the same statements, with numbers of 32 bits that real.c computes with
(IEEE 754's single precision in whole numbers, to the bit), times that count from the last request, and whole numbers
of 16 bits. {how}

What a flow keeps beside program.c's words: {kept}.
"""
PROBED = """\
One answer to a probe stands for all packets that were sent since the one before: it is one on_ack, with their number.
A NACK is told before it (on_loss), and so is each CNP; a CNP is also what stands for a marked packet, for cards see no
ECN echo: set the receivers' `min_time_between_cnps` to 0 if the controller counts marks. The card has no window: the
rate is at most window / RTT."""
TELEMETRY = """
INT is that of one switch, the last, as NVIDIA's example of a receiver's program (np/switch_telemetry of doca-samples)
puts it into the answer: probes must be IFA2, switches must insert, and a program must answer at the receiver. Its two
counters must be the port's own, and not differences."""
ON_EVENTS = """\
Every event is a decision: TX (on_sent), CNP (on_cnp), NACK (on_loss). A timer is looked at whenever one comes, for
cards have none; no probe is sent."""


def of(name: str) -> Plugin:
    """The job for a controller; its options and presets are the controller's. Raises BadInput."""
    plugin = from_python(name, DOCA_PCC)
    form: Any = plugin.form
    config = create_model(f"{form.__name__}CardConfig", __base__=(CardConfig, form.Config))

    def run(given: PluginConfig, context: JobContext) -> Result:
        assert isinstance(given, CardConfig)
        controller = like(plugin, given)
        made = source(plugin, controller)
        result = write(program(plugin, given, made), context)
        device = context.out / "device"
        found = compared(device, made, plugin, lambda: like(plugin, given))
        words = (
            f"{1 + max((one.word for one in made.places), default=-1)} of {WORDS[made.probes]} words of a flow's own"
        )
        own = [one for one in sorted(device.glob("*.c")) if one.name != "program.c"]
        stack = stack_use(own, ("-std=c99", "-O2", "-ffreestanding", f"-I{device}"))
        lines = [*result.lines, found.text, f"state: {words}", f"stack: {stack}"]
        data = {**result.data, **found.data, "state": words, "stack": stack}
        return Result(lines, data, result.refused or found.wrong)

    job = Job(f"{plugin.name} as a program for a NIC, written from its Python.", config, run, form.presets)
    return Plugin("export", plugin.name, job, plugin.origin, plugin.file)


def like(plugin: Plugin, config: CardConfig) -> CompiledController:
    """A flow of the controller as the rack would have it."""
    form: type[CompiledController] = plugin.form
    return form(config, config.path())


def program(plugin: Plugin, config: CardConfig, made: CardSource) -> Program:
    """The program for the card."""
    start = Parameter(
        "START_RATE_FXP20",
        max(1, round(config.start_rate * LINE_RATE)),
        1,
        LINE_RATE,
        "of a new flow, share of line rate",
    )
    kept = ", ".join(dict.fromkeys(one.field.name for one in made.places)) or "nothing"
    how = (PROBED + (TELEMETRY if made.telemetry else "")) if made.probes else ON_EVENTS
    return Program(
        controller=plugin.name,
        title=f"{plugin.name}, written from its Python",
        number=0x8000 | int(hashlib.sha256(plugin.name.encode()).hexdigest()[:4], 16) >> 1,
        probes=made.probes,
        parameters=(start, *made.parameters),
        sources={f"{snake(plugin.name)}.c": made.text},
        model=None,
        notes=NOTES.format(name=plugin.name, how=how, kept=kept),
        needs=REALS,
        on_events=not made.probes,
        telemetry=made.telemetry,
        keeps_time=True,
        made_of={"source_sha256": plugin.digest},
        network={"line_rate": config.line_rate, "base_rtt": of_a_probe(config.base_rtt)},
    )
