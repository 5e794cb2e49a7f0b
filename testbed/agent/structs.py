"""The structs of the compiled datapath (datapath.h, decisions.h, tasks.h, trace.h) and its functions, for ctypes."""

from __future__ import annotations

import ctypes
from ctypes import c_double, c_int64, c_void_p
from functools import cache

from testbed.agent.build import DATAPATH, MANY_PATHS
from testbed.base.compiler import Signature

SWAPS = 64  # as in datapath.h
SETTINGS = ("flows", "hosts", "epoch_ns")
TIMES = ("seconds_per_ns", "credit", "quantum", "awake_by", "relook")
MORE_SETTINGS = ("wire_size", "burst", "segment", "wake_by_ring", "first", "int_on", "at_once", "payload")
ROWS = (
    "row_flow", "row_acked", "row_bytes", "row_ce", "row_inc", "row_cnps", "row_lost", "row_hops", "row_last",
    "row_next", "row_inflight",
)  # fmt: skip
GIVE_UP = "give_up"  # is there if it was compiled for many paths
HOPS = ("hop_node", "hop_ts", "hop_tx", "hop_queue", "hop_rate")


class CHistogram(ctypes.Structure):
    _fields_ = [
        *((name, c_void_p) for name in ("counts", "top", "bottom")),
        *((name, c_int64) for name in ("bins", "per_octave")),
    ]


class CRing(ctypes.Structure):
    _fields_ = [
        *((name, c_void_p) for name in ("consumer", "producer", "data")),
        ("mask", c_int64),
        ("delay", c_double),
        ("taken", ctypes.c_uint64 * SWAPS),
        ("taken_length", c_int64),
        ("swapped_until", ctypes.c_uint64),
        ("looked_at", ctypes.c_uint64),
    ]


class CHeap(ctypes.Structure):
    """struct heap of heap.h."""

    _fields_ = [*((name, c_void_p) for name in ("events", "place")), ("length", c_int64)]


class CTrace(ctypes.Structure):
    """struct trace of trace.h."""

    Full = ctypes.CFUNCTYPE(None)
    _fields_ = [
        *((name, c_void_p) for name in ("words", "headers", "state")), ("at", c_int64), ("left", c_int64),
        ("full", Full),
    ]  # fmt: skip


class CTasks(ctypes.Structure):
    """struct tasks of tasks.h."""

    _fields_ = [
        ("flows", c_int64),
        *((name, c_void_p) for name in ("first", "next", "missing", "ready", "length", "link")),
        *((name, c_void_p) for name in ("packets", "one_way", "received", "done", "agent", "released")),
        *((name, c_void_p) for name in ("first_flow", "wake", "count")),
    ]


class CCore(ctypes.Structure):
    """struct core of core.h."""

    _fields_ = [
        ("cost", c_void_p), ("queue", c_void_p), *((name, c_int64) for name in ("size", "first", "last")),
        ("newest", c_void_p),
    ]  # fmt: skip


class CDecisions(ctypes.Structure):
    """struct decisions of decisions.h."""

    _fields_ = [
        *((name, c_void_p) for name in ("of", "trace")),
        *((name, c_int64) for name in ("wants_int", "wants_sent", "wants_src")),
        *((name, c_double) for name in ("longest_sleep", "gather", "next_report")),
        ("due", c_void_p),
        ("core", CCore),
        ("counts", c_void_p),
        ("steps", c_int64),
        *((name, c_void_p) for name in ("seconds", "times")),
        *((name, c_int64) for name in ("first_cycles", "first_ns", "failed")),
    ]


class CPaths(ctypes.Structure):
    """struct paths of paths.h."""

    _fields_ = [
        *((name, c_void_p) for name in ("flights", "known", "chooser")),
        *((name, c_double) for name in ("timeout", "now")), ("failed", c_int64),
    ]  # fmt: skip


class CTransport(ctypes.Structure):
    """struct transport of recovery.h."""

    _fields_ = [
        *((name, c_int64) for name in ("recovery", "bitmap", "retries")), ("timeout", c_double), ("pairs", c_void_p),
        ("in_error", c_int64),
    ]  # fmt: skip


class CMessages(ctypes.Structure):
    """struct messages of messages.h."""

    _fields_ = [
        ("every", c_int64), ("begun", c_void_p), ("times", c_void_p), ("reth", c_int64),
    ]  # fmt: skip


class CCredits(ctypes.Structure):
    """struct credits of credits.h."""

    _fields_ = [
        *((name, c_void_p) for name in ("spenders", "accounts", "granters", "decider", "fd")),
        *((name, c_int64) for name in ("flows", "hosts", "first_id", "failed")),
    ]


class CDatapath(ctypes.Structure):
    """struct datapath, field by field."""

    _fields_ = [
        *((name, c_int64) for name in SETTINGS),
        *((name, c_double) for name in TIMES),
        *((name, c_int64) for name in MORE_SETTINGS),
        *((name, c_void_p) for name in ("flow", "rtt_counts", "srcs")),
        *((name, c_void_p) for name in ("line_free", "first_waiting", "last_waiting", "arrivals", "interface")),
        *((name, c_void_p) for name in ("answered", "uplink", "arrived_before", "handed")),
        ("bucket", c_int64),
        ("given_up", c_void_p),
        *((name, c_void_p) for name in ("pause_at", "pauses", "gate", "first_held", "last_held")),
        *((name, c_void_p) for name in ("batches", "filled")),
        ("filled_length", c_int64),
        ("packet", c_void_p),
        ("segment_size", c_int64),
        ("agenda", CHeap),
        ("alarms", CHeap),
        ("starts", CHeap),
        *((name, c_void_p) for name in ("start", "pair", "first_of_pair", "tasks")),
        *((name, c_int64) for name in ("agent", "released")),
        ("unreported", c_void_p),
        ("unreported_length", c_int64),
        ("rings", c_void_p),
        *((name, c_int64) for name in ("ring_count", "ring_fd")),
        *((name, c_void_p) for name in (*ROWS, "row_rtt", *HOPS, "seen_node", "seen_ts", "seen_tx")),
        *((name, CHistogram) for name in ("rtts", "pacing", "feedback", "timers")),
        *((name, c_int64) for name in ("refused", "high_water", "send_error", "swapped", "int_faults", "above_line")),
        ("decisions", CDecisions),
        ("paths", CPaths),
        ("transport", CTransport),
        ("messages", CMessages),
        ("credits", CCredits),
    ]


class CAnswers(ctypes.Structure):
    """struct answers of gather.c."""

    _fields_ = [
        *((name, c_void_p) for name in ("decided_at", "answered")),
        ("count", c_int64),
        *((name, c_double) for name in ("began", "half_at")),
    ]


FUNCTIONS: dict[str, Signature] = {  # of the datapath
    "read_feedback": (c_int64, [c_void_p, c_double]),
    "gather": (c_int64, [c_void_p, c_void_p, c_double, c_int64, c_double]),
    "next_due": (c_double, [c_void_p]),
    "next_start": (c_double, [c_void_p]),
    "next_received": (c_double, [c_void_p]),
    "see_received": (None, [c_void_p, c_double]),
    "due_starts": (c_int64, [c_void_p, c_double, c_void_p]),
    "add_starts": (None, [c_void_p]),
    "begin_tasks": (None, [c_void_p, c_void_p, c_int64]),
    "flow_done": (None, [c_void_p, c_int64, c_double]),
    "send_until": (None, [c_void_p, c_double]),
    "send_due": (None, [c_void_p, c_double]),
    "reschedule": (None, [c_void_p, c_void_p, c_int64, c_double]),
    "due_timers": (c_int64, [c_void_p, c_double, c_void_p]),
    "report_sent": (c_int64, [c_void_p, c_void_p, c_void_p]),
    "time_out": (None, [c_void_p, c_void_p, c_void_p, c_int64, c_double]),
    "send_again": (None, [c_void_p, c_void_p, c_int64, c_double]),
    "ask_again": (None, [c_void_p, c_void_p, c_int64]),
    "move_flow": (None, [c_void_p, c_int64, c_int64, c_int64]),
    "decide_due": (None, [c_void_p, c_double]),
    "serve": (c_int64, [c_void_p, c_double]),
    "apply_decisions": (c_int64, [c_void_p, c_void_p, c_int64, c_double, *[c_void_p] * 5]),
}
OF_MANY_PATHS: dict[str, Signature] = {GIVE_UP: FUNCTIONS["send_again"]}


@cache
def library(many_paths: bool = False) -> ctypes.CDLL:
    """``many_paths``: for flows whose packets take several."""
    return MANY_PATHS.library(**FUNCTIONS, **OF_MANY_PATHS) if many_paths else DATAPATH.library(**FUNCTIONS)
