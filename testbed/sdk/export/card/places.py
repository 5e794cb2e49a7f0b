"""Where a card keeps a flow's numbers: words of 32 bits or halves of them, and how C reads and writes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from testbed.base.fields import StateField
from testbed.compiled.events import CONTROLLER
from testbed.sdk.export.c.library import member
from testbed.sdk.export.card.functions import CardFunctions


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


def placed(whole: CardFunctions, probes: bool) -> Iterator[Place]:
    """Numbers with a fraction take a word each, whole ones half of one."""
    kept = [(one, i) for one in whole.kept(not probes) for i in range(whole.size(one) if one.length else 1)]
    reals = [pair for pair in kept if pair[0].kind is float]
    for at, (one, i) in enumerate(reals):
        yield Place(one, i, at)
    for at, (one, i) in enumerate(pair for pair in kept if pair[0].kind is not float):
        yield Place(one, i, len(reals) + at // 2, at % 2)


def kept(places: tuple[Place, ...]) -> Iterator[str]:
    """``load`` and ``store``."""
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
