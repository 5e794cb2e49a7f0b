"""The register PPCC (0x506e): what a get answers and what a set does.

Source: mstflint, tools_layouts/adb/prm/hca/ext/register_access_table.adb, ppcc_reg_ext.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.emulated_lab import counters, ppcc
from tests.emulated_lab.cards import CARDS
from tests.emulated_lab.store import State

WORDS = 55  # of the field text
Numbers = dict[str, int]


@dataclass(frozen=True)
class Answer:
    """Fields that are not zero, and the words of the field text."""

    fields: Numbers
    words: list[int] = field(default_factory=list)


def get(state: State, operation: Numbers, indexes: Numbers) -> Answer | None:
    """None for a slot without algorithm or an unknown command, which the firmware calls a bad parameter."""
    command, index = operation.get("cmd_type", 0), indexes.get("algo_param_index", 0)
    if command == 0x10:
        numbers = [state["ppcc"].get(str(slot), {"number": 0})["number"] for slot in range(ppcc.SLOTS)]
        return Answer({"text_length": 4 * ppcc.SLOTS}, numbers)
    if command == 0xF0:
        return Answer({"value": 0b11 if CARDS[state["card"]].pcc else 0})
    slot = state["ppcc"].get(str(indexes.get("algo_slot", 0)))
    if slot is None:
        return None
    parameters, names = slot["parameters"], slot["counters"]
    of_one = parameters if command in (0x5, 0x6, 0x7) else names if command == 0xF else None
    if of_one is not None and index >= len(of_one):
        return None
    switches = {"counter_en": slot["counter_en"], "trace_en": slot["trace_en"]}
    answers: dict[int, Callable[[], Answer]] = {
        0x0: lambda: _text({"value": slot["number"]}, slot["text"]),
        0x3: lambda: Answer({"value": int(slot["enabled"]), **switches}),
        0x4: lambda: Answer({"value": len(parameters)}),
        0x5: lambda: _info(parameters[index]),
        0x6: lambda: Answer({"value": parameters[index]["value"]}),
        0x7: lambda: Answer({"value": _get_and_clear(parameters[index])}),
        0xA: lambda: _bulk([parameter["value"] for parameter in parameters], operation),
        0xC: lambda: _bulk(_counters(state, slot), operation),
        0xD: lambda: _bulk(_clear(state, slot), operation),
        0xE: lambda: Answer({"value": len(names)}),
        0xF: lambda: _text({"param_value3": ppcc.UINT32, "prm": ppcc.READ_CLEAR}, names[index]),
    }
    return answers[command]() if command in answers else None


def set_(state: State, fields: Numbers, indexes: Numbers) -> bool:
    """What a set does; False for a slot or command that is not there. A bad value is ignored and not a failure."""
    command, index = fields.get("cmd_type", 0), indexes.get("algo_param_index", 0)
    slot = state["ppcc"].get(str(indexes.get("algo_slot", 0)))
    if slot is None:
        return False
    if command in (0x1, 0x2):
        slot["enabled"] = command == 0x1
        if command == 0x1:
            slot["counter_en"], slot["trace_en"] = fields.get("counter_en", 0), fields.get("trace_en", 0)
        return True
    if command == 0x8:
        if index < len(slot["parameters"]):
            _assign(slot["parameters"][index], fields.get("value", 0), state)
        return True
    if command == 0xB:
        for number, chosen in enumerate(slot["parameters"][: fields.get("text_length", 0) // 4]):
            _assign(chosen, fields.get(f"text[{number}]", 0), state)
        return True
    return False


def _assign(chosen: dict[str, Any], value: int, state: State) -> None:
    name = chosen["text"].split(",")[0]
    allowed = chosen["permission"] == ppcc.READ_WRITE and chosen["min"] <= value <= chosen["max"]
    if allowed and state["faults"]["files"].get(name) != "ignored":
        chosen["value"] = value


def _info(chosen: dict[str, Any]) -> Answer:
    fields = {"param_value1": "default", "param_value2": "min", "param_value3": "max", "prm": "permission"}
    return _text({name: chosen[key] for name, key in fields.items()}, chosen["text"])


def _get_and_clear(chosen: dict[str, Any]) -> int:
    value: int = chosen["value"]
    if chosen["permission"] != ppcc.READ_ONLY:
        chosen["value"] = 0
    return value


def _counters(state: State, slot: ppcc.Algorithm) -> list[int]:
    """All zero while they are not enabled."""
    names = [ppcc.counter(slot, index) for index in range(len(slot["counters"]))]
    return [counters.value(state, name) & ppcc.UINT32 if slot["counter_en"] else 0 for name in names]


def _clear(state: State, slot: ppcc.Algorithm) -> list[int]:
    values = _counters(state, slot)
    for index, value in enumerate(values):
        counters.tell(state, ppcc.counter(slot, index), add=-value)
    return values


def _bulk(values: list[int], operation: Numbers) -> Answer:
    """As many as the text_length that was asked for has room for; all without."""
    chosen = values[: operation.get("text_length", 0) // 4 or None]
    return Answer({"text_length": 4 * len(chosen)}, chosen)


def _text(fields: Numbers, text: str) -> Answer:
    """A string as words of four letters, the first in the highest byte."""
    data = text.encode()[: 4 * WORDS]
    padded = data.ljust(-(-len(data) // 4) * 4, b"\0")
    words = [int.from_bytes(padded[at : at + 4], "big") for at in range(0, len(padded), 4)]
    return Answer(fields | {"text_length": len(data)}, words)
