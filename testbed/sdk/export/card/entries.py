"""What program.c asks of a controller (controller.h): how a flow starts, moves on in time, and decides on an answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from testbed.sdk.export.c.functions import Function
from testbed.sdk.export.card.functions import NOW, NUMBER, CardFunctions
from testbed.sdk.export.card.places import Place, kept

# Of a callback: its arguments, where the first comes from, and when it is called.
CALLED: dict[str, tuple[str, str]] = {
    "on_loss": ("now, int32(answer->losses)", "answer->losses"),
    "on_cnp": ("now", "answer->marks"),
    "on_timer": ("now", "!real_less(now, flow.timer)"),
    "on_sent": ("now, int32(answer->bytes)", "answer->bytes"),
    "on_ack": ("&ack", ""),
}


def entries(whole: CardFunctions, places: tuple[Place, ...], told: dict[str, Function], probes: bool) -> Iterator[str]:
    """All of them, after what they need."""
    yield from kept(places)
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
