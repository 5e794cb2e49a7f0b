"""The C file of a program for a card: the controller's functions, and what program.c asks of them (controller.h)."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from testbed.base.fields import StateField
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
from testbed.sdk.export.card.functions import NOW, NUMBER, CardFunctions, Known
from testbed.sdk.export.card.reals import COUNTERS
from testbed.sdk.export.program import Parameter

C_TYPES: dict[type, str] = {float: "real", int: "int32_t", bool: "bool"}
# Of a callback: its arguments, where the first comes from, and when it is called.
CALLED: dict[str, tuple[str, str]] = {
    "on_loss": ("now, int32(answer->losses)", "answer->losses"),
    "on_cnp": ("now", "answer->marks"),
    "on_timer": ("now", "!real_less(now, flow.timer)"),
    "on_sent": ("now, int32(answer->bytes)", "answer->bytes"),
    "on_ack": ("&ack", ""),
}
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
class Place:
    """Where a flow keeps a number: a word, or one half of it; half -1 is all of it."""

    field: StateField
    element: int
    word: int
    half: int = -1

    @property
    def name(self) -> str:
        """In struct cc_flow."""
        return member(self.field.name) + (f"[{self.element}]" if self.field.length else "")


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
    places = tuple(_places(whole, probes))
    words = 1 + max((one.word for one in places), default=-1)
    if words > WORDS[probes]:
        raise BadInput(
            f"{plugin.title} cannot be exported to doca-pcc: its flows keep {words} words of 32 bits, and a card has "
            f"room for {WORDS[probes]} of a controller's own"
        )
    functions = [one.text for one in whole.needed(list(told.values()))]
    body = [*functions, *_own(whole, places, told, probes)]
    parts = [
        _head(plugin, controller),
        '#include "controller.h"\n#include "real.h"',
        *_declared(whole, body, probes),
        *body,
    ]
    parameters = tuple(_numbered(whole))
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


def _places(whole: CardFunctions, probes: bool) -> Iterator[Place]:
    """Numbers with a fraction take a word each, whole ones half of one."""
    kept = [(one, i) for one in whole.kept(not probes) for i in range(whole.size(one) if one.length else 1)]
    reals = [pair for pair in kept if pair[0].kind is float]
    for at, (one, i) in enumerate(reals):
        yield Place(one, i, at)
    for at, (one, i) in enumerate(pair for pair in kept if pair[0].kind is not float):
        yield Place(one, i, len(reals) + at // 2, at % 2)


def _numbered(whole: CardFunctions) -> Iterator[Parameter]:
    yield from sorted(whole.registered.values(), key=lambda one: one.name)


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


def _own(whole: CardFunctions, places: tuple[Place, ...], told: dict[str, Function], probes: bool) -> Iterator[str]:
    """What program.c calls, and a flow's words."""
    yield from _words(places)
    moments = sorted({one.word for one in places if whole.origin(one.field.name) == NOW})
    moved = [f"\town[{at}] = real_sub(own[{at}], by);" for at in moments] or ["\t(void)own;\n\t(void)by;"]
    yield "\n".join([
        "void controller_moves_on(uint32_t own[OWN_WORDS], uint32_t ns)", "{",
        "\tconst real by = nano(ns, 0);", "", *moved, "}",
    ])  # fmt: skip
    yield "\n".join(_starts(whole, places, told))
    if NUMBER in {whole.origin(one.field.name) for one in places}:
        yield (
            "/* Numbers of answers go back by half of MOST_NUMBER; what was long ago stays so. */\n"
            "static int32_t renumbered(int32_t number)\n{\n\tif (number < 0)\n\t\treturn number;\n"
            "\treturn number > MOST_NUMBER / 2 ? number - MOST_NUMBER / 2 : 0;\n}"
        )
    if probes:
        yield "\n".join(_ack(whole, places))
    window = [
        "\tif (answer->rtt) /* a card has no window */",
        "\t\trate = real_min(rate, real_div(real_mul(EIGHT, flow->window), nano(answer->rtt, 0)));",
    ]  # fmt: skip
    yield "\n".join([
        "/* The rate as a share of line rate; the present one if nothing was decided. */",
        "static uint32_t as_share(const struct cc_flow *flow, const struct answer *answer)", "{",
        f"\tconst real line = {whole.told('path', 'flow->path', 'line_rate').text};",  # type: ignore[union-attr]
        "\treal rate = flow->rate;", "", *(window if probes else []),
        "\tif (real_is_infinite(rate))", "\t\treturn answer->rate;",
        "\treturn limited(real_word(real_div(rate, line), 20), 1, LINE_RATE);", "}",
    ])  # fmt: skip
    yield "\n".join(_decides(whole, told, probes))


def _words(places: tuple[Place, ...]) -> Iterator[str]:
    halves = any(one.half >= 0 for one in places)
    load, store = [], []
    for one in places:
        if one.half < 0:
            load.append(f"\tflow->{one.name} = own[{one.word}];")
            store.append(f"\town[{one.word}] = flow->{one.name};")
            continue
        part = f"half(own[{one.word}]{' >> 16' if one.half else ''})"
        load.append(f"\tflow->{one.name} = {part}{' != 0' if one.field.kind is bool else ''};")
        packed = f"packed(flow->{one.name})"
        store.append(f"\town[{one.word}] {f'|= {packed} << 16' if one.half else f'= {packed}'};")
    if halves:
        yield (
            "/* Whole numbers are kept in 16 bits. */\nstatic int32_t half(uint32_t word)\n{\n"
            "\treturn (int32_t)(int16_t)(uint16_t)(word & 0xffff);\n}"
        )
        yield (
            "static uint32_t packed(int32_t number)\n{\n"
            "\treturn (uint32_t)(number < INT16_MIN ? INT16_MIN : number > INT16_MAX ? INT16_MAX : number) & 0xffff;\n}"
        )
    kept = {member(one.field.name) for one in places}
    unset = [f"\tflow->{name} = REAL_INFINITY;" for name in CONTROLLER.decided if name not in kept]
    yield "\n".join([
        "static void load(struct cc_flow *flow, const uint32_t own[OWN_WORDS], const uint32_t *parameters)", "{",
        "\t*flow = (struct cc_flow){.parameters = parameters};", *unset, *load, "}",
    ])  # fmt: skip
    yield "\n".join(["static void store(const struct cc_flow *flow, uint32_t own[OWN_WORDS])", "{", *store, "}"])


def _starts(whole: CardFunctions, places: tuple[Place, ...], told: dict[str, Function]) -> Iterator[str]:
    yield "uint32_t controller_start(uint32_t own[OWN_WORDS], const uint32_t *parameters)"
    yield "{"
    yield "\tstruct cc_flow flow;\n"
    yield "\tload(&flow, own, parameters);"
    for one in places:
        value: Any = getattr(whole.controller, one.field.name)
        value = value[one.element] if one.field.length else value
        if value:
            yield f"\tflow.{one.name} = {whole.arithmetic.literal(one.field.kind(value)).text};"
    if "on_start" in told:
        yield f"\t{told['on_start'].name}(&flow, 0);"
    yield "\tstore(&flow, own);"
    yield "\treturn parameters[START_RATE_FXP20];"
    yield "}"


def _ack(whole: CardFunctions, places: tuple[Place, ...]) -> Iterator[str]:
    numbered = [one for one in places if whole.origin(one.field.name) == NUMBER]
    yield "/* One answer stands for the packets that were sent since the one before. */"
    flow = "struct cc_flow *flow, " if numbered else ""
    yield f"static struct cc_ack acknowledged({flow}const struct answer *answer, real now, int32_t wire_size)"
    yield "{"
    yield "\tconst struct cc_hop hop = {int32(answer->hop.hop), answer->hop.at, answer->hop.sent,"
    yield "\t\t\t\t   real_scaled(answer->hop.queue, 0)};"
    yield "\tconst int32_t packets = answer->packets ? int32(answer->packets) : 1;"
    yield "\tconst int32_t marks = int32(answer->marks);"
    yield "\tint32_t number = int32(answer->number);\n"
    yield "\tif (number >= MOST_NUMBER) {"
    yield "\t\tnumber -= MOST_NUMBER / 2;"
    yield from (f"\t\tflow->{one.name} = renumbered(flow->{one.name});" for one in numbered)
    yield "\t}"
    yield "\treturn (struct cc_ack){.now = now, .rtt = nano(answer->rtt, 0), .packets = packets,"
    yield "\t\t\t       .bytes = packets * wire_size, .seq = number, .next_seq = number + 1,"
    yield "\t\t\t       .ce_packets = marks < packets ? marks : packets,"
    yield "\t\t\t       .hop_count = answer->hop.valid != 0, .hops = {hop}};"
    yield "}"


def _decides(whole: CardFunctions, told: dict[str, Function], probes: bool) -> Iterator[str]:
    yield "uint32_t controller_decide(uint32_t own[OWN_WORDS], const uint32_t *parameters, const struct answer *answer,"
    yield "\t\t\t   uint32_t *met)"
    yield "{"
    yield "\tconst real now = nano(answer->now, 0);"
    yield "\tstruct cc_flow flow;"
    numbered = NUMBER in whole.known.origins.values()
    if probes:
        yield "\tstruct cc_ack ack;"
    yield "\n\t(void)met;"
    yield "\tload(&flow, own, parameters);"
    if probes:
        size = whole.told("path", "(&flow)->path", "wire_size")
        assert size
        text = size.text.replace("(&flow)->", "flow.")
        yield f"\tack = acknowledged({'&flow, ' if numbered else ''}answer, now, {text});"
    for event, (given, when) in CALLED.items():
        if event not in told:
            continue
        if event == "on_cnp":
            yield "\tfor (uint32_t i = 0; i < answer->marks && i < MOST_NUMBER; i++)"
            yield f"\t\t{told[event].name}(&flow, {given});"
        elif when:
            yield f"\tif ({when})\n\t\t{told[event].name}(&flow, {given});"
        else:
            yield f"\t{told[event].name}(&flow, {given});"
    yield "\tstore(&flow, own);"
    yield "\treturn as_share(&flow, answer);"
    yield "}"
