"""Congestion control algorithms in a card's slots, with their parameters and counters."""

from __future__ import annotations

from typing import Any

from tests.emulated_lab.cards import CARDS

SLOTS = 16
INTERNAL = 15  # where the firmware's own algorithm sits
READ_ONLY, READ_WRITE, READ_CLEAR = 0, 1, 2  # permissions
UINT32 = 0xFFFFFFFF
Algorithm = dict[str, Any]


def parameter(
    text: str, default: int, low: int = 0, high: int = UINT32, permission: int = READ_WRITE
) -> dict[str, Any]:
    """``text``: name, comma, description."""
    return {"text": text, "default": default, "min": low, "max": high, "permission": permission, "value": default}


def algorithm(
    number: int, text: str, parameters: list[dict[str, Any]], counter_texts: list[str], enabled: bool = True
) -> Algorithm:
    """``number``: id << 16 | major << 8 | minor. Its counters are in the state's counters as ppcc/ID/INDEX."""
    return {
        "number": number, "text": text, "enabled": enabled, "counter_en": 0, "trace_en": 0,
        "parameters": parameters, "counters": counter_texts,
    }  # fmt: skip


def dcqcn() -> Algorithm:
    return algorithm(0x00010100, "DCQCN, firmware's rate control by CNP", [], [])


def ztr_rttcc() -> Algorithm:
    """Zero-touch RoCE, with the defaults that NVIDIA documents."""
    fields = [
        ("BW_G, link speed in Gb/s", 200), ("ALPHA, fxp16", 6553), ("MAX_DEC, fxp16", 63570),
        ("MAX_INC, fxp16", 69468), ("AI, fxp20", 96), ("HAI, fxp20", 1700), ("HAI_PERIOD, ns", 2_000_000),
        ("DELAY_THRESHOLD, ns", 13_000), ("MAX_DELAY, ns", 250_000), ("RATE_ON_FIRST_CONGESTION, fxp20", 524_288),
        ("DELAY_ONLY, bool", 0), ("CNP_VALID, bool", 1), ("TX_DEC, step", 0), ("FIXED_RATE, fxp20", 0),
        ("SCHEDULING, factor", 2_097_152),
    ]  # fmt: skip
    return algorithm(
        0x00020100, "ZTR_RTTCC, zero-touch RTT congestion control",
        [parameter(text, default, high=1 << 22) for text, default in fields], ["CNP, handled", "RTT, responses"],
    )  # fmt: skip


def rtt_template() -> Algorithm:
    """DOCA's sample program, which a programmable card runs until it gets another one."""
    fields = [
        ("UPDATE_FACTOR, update factor", 6553, 1, 65536), ("AI, additive increase", 52428, 1, 1 << 20),
        ("BASE_RTT, base relative RTT", 13_000, 1, 131_072), ("NEW_FLOW_RATE, rate of a new flow", 1 << 20, 1, 1 << 20),
        ("MIN_RATE, minimum rate", 1 << 6, 1, 1 << 20), ("MAX_DELAY, maximum delay", 150_000, 1, UINT32),
    ]  # fmt: skip
    return algorithm(
        0xBFFF0100, "RTT_TEMPLATE, sample program",
        [parameter(text, default, low, high) for text, default, low, high in fields],
        ["TX_EVENTS, of transmission", "RTT_EVENTS, of round trips"],
    )  # fmt: skip


def new(card: str) -> dict[str, Algorithm]:
    """By slot, as after a reset. A programmable card has nothing in slot 0 while no program runs."""
    slots = {str(INTERNAL): dcqcn()}
    if not CARDS[card].pcc:
        slots["0"] = ztr_rttcc()
    return slots


def counter(slot: Algorithm, index: int) -> str:
    """The name of a slot's counter in the state."""
    return f"ppcc/{slot['number'] >> 16:#06x}/{index}"
