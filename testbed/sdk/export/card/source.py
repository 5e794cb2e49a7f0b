"""The C file of a program for a card: head, declarations, the controller's functions, entries."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from testbed.compiled.events import CONTROLLER
from testbed.controller import CompiledController, Signal
from testbed.errors import BadInput
from testbed.registry import Plugin
from testbed.sdk.export.c.functions import Function, snake
from testbed.sdk.export.c.library import member
from testbed.sdk.export.c.options import macros
from testbed.sdk.export.c.source import bracketed, commented
from testbed.sdk.export.c.terms import Term
from testbed.sdk.export.c.whole import Thing
from testbed.sdk.export.card.entries import entries
from testbed.sdk.export.card.functions import NOW, CardFunctions, Known
from testbed.sdk.export.card.places import Place, placed
from testbed.sdk.export.card.reals import COUNTERS
from testbed.sdk.export.program import Parameter

C_TYPES: dict[type, str] = {float: "real", int: "int32_t", bool: "bool"}
GIVEN: dict[str, tuple[Term | Thing, ...]] = {
    "on_loss": (Term("now", "double"), Term("packets", "int64_t")), "on_cnp": (Term("now", "double"),),
    "on_timer": (Term("now", "double"),), "on_sent": (Term("now", "double"), Term("bytes", "int64_t")),
    "on_ack": (Thing("ack", "ack"),), "on_start": (Term("now", "double"),),
}  # fmt: skip
ACK = (
    "struct cc_hop {\n\tint32_t node;\n\tuint32_t ts, tx_bytes; /* counters, ns and bytes */\n\treal queue;\n};\n\n"
    "struct cc_ack {\n\treal now, rtt;\n\tint32_t packets, bytes, seq, next_seq, ce_packets, hop_count;\n"
    "\tstruct cc_hop hops[1];\n};"
)
READERS = {
    "nano": "static real nano(uint32_t word, int32_t bits)\n{\n\treturn real_mul(real_scaled(word, bits), NANO);\n}",
    "mega": "static real mega(uint32_t word, int32_t bits)\n{\n\treturn real_mul(real_scaled(word, bits), MILLION);\n}",
}
PROBED = Signal.RTT | Signal.CE | Signal.INT
WORDS = {True: 8, False: 10}  # of a flow's own, with probes and without (controller.h)


@dataclass(frozen=True)
class CardSource:
    """An export."""

    text: str
    parameters: tuple[Parameter, ...]
    places: tuple[Place, ...]
    origins: dict[str, str]  # of the fields
    probes: bool
    telemetry: bool


def source(plugin: Plugin, controller: CompiledController) -> CardSource:
    """One controller. Raises CannotExport, and BadInput if a flow keeps more than a card has."""
    form, known = type(controller), Known()
    probes, telemetry = bool(form.signals & PROBED), Signal.INT in form.signals
    if Signal.SRC in form.signals:
        raise BadInput(f"{plugin.title} cannot be exported to doca-pcc: no card hears what switches say (SRC)")
    while True:
        before, known = known, known.next()
        whole = CardFunctions(controller, snake(plugin.name), known=known)
        told = dict(_callbacks(whole, probes))
        whole.told("path", "flow->path", "line_rate")
        if known.settled(before.next()):
            break
    places = tuple(placed(whole, probes))
    words = 1 + max((one.word for one in places), default=-1)
    if words > WORDS[probes]:
        raise BadInput(
            f"{plugin.title} cannot be exported to doca-pcc: its flows keep {words} words of 32 bits, and a card has "
            f"room for {WORDS[probes]} of a controller's own"
        )
    functions = [one.text for one in whole.needed(list(told.values()))]
    body = [*functions, *entries(whole, places, told, probes)]
    parts = [
        _head(plugin, controller),
        '#include "controller.h"\n#include "real.h"',
        *_declared(whole, body, probes),
        *body,
    ]
    parameters = tuple(sorted(whole.registered.values(), key=lambda one: one.name))
    return CardSource("\n\n".join(parts) + "\n", parameters, places, dict(known.origins), probes, telemetry)


def _callbacks(whole: CardFunctions, probes: bool) -> Iterator[tuple[str, Function]]:
    form = whole.form
    for event, given in GIVEN.items():
        if getattr(form, event) is getattr(CompiledController, event) or (event == "on_ack" and not probes):
            continue
        function, of = whole.method(form, event)
        if isinstance(given[0], Term):
            _, now, *_ = function.__code__.co_varnames
            whole.origin(f"{function.__qualname__}.{now}", NOW)
        yield event, whole.function(function, of, [Thing("self", "flow"), *given], name=f"{whole.prefix}_{event}")


def _head(plugin: Plugin, controller: CompiledController) -> str:
    said = (inspect.getdoc(sys.modules[type(controller).__module__]) or "").splitlines()
    lines = [
        f"{plugin.name} for a card, written by testbed export {plugin.name} --to doca-pcc",
        f"from {plugin.file.name}, SHA-256 {plugin.digest}.", "", *said,
    ]  # fmt: skip
    text = "\n".join(f" * {line}".rstrip() for line in commented(lines))
    return f"/* SPDX-License-Identifier: Apache-2.0 */\n/*\n{text}\n */"


def _declared(whole: CardFunctions, body: list[str], probes: bool) -> Iterator[str]:
    text = "\n".join(body)
    known = {"NANO": 1e-9, "MILLION": 1e6, "EIGHT": 8.0}
    lines = [f"#define {name} {whole.arithmetic.literal(value).text}" for name, value in known.items()]
    lines += [f"#define {name} {bracketed(term)}" for name, term in sorted(whole.constants.items())]
    lines += [line for line in macros(whole.choices) if line.split()[1] in text]
    yield "\n".join(lines)
    yield _state(whole)
    if probes:
        yield ACK
    for name, how in READERS.items():
        if re.search(rf"\b{name}\(", text):
            yield how
    yield "static int32_t int32(uint32_t word)\n{\n\treturn word > INT32_MAX ? INT32_MAX : (int32_t)word;\n}"
    yield from (text for name, text in whole.arithmetic.shared.items() if name in whole.arithmetic.helpers)


def _state(whole: CardFunctions) -> str:
    lines = ["/* A flow while something is decided about it. */", "struct cc_flow {", "\tconst uint32_t *parameters;"]
    lines.append("\treal rate, window, timer; /* bit/s, bytes, s */")
    for name, one in whole.fields.items():
        if name in CONTROLLER.decided or one.constant or name not in whole.known.changed:
            continue
        kind = "uint32_t" if whole.origin(name) in COUNTERS else C_TYPES[one.kind]
        size = f"[{whole.size(one)}]" if one.length else ""
        comment = f" /* {commented([whole.comments[name]])[0]} */" if name in whole.comments else ""
        lines.append(f"\t{kind} {member(name)}{size};{comment}")
    return "\n".join([*lines, "};"])
