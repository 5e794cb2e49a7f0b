"""The structs of the compiled datapath (datapath.h, decisions.h, tasks.h, trace.h) and its functions, for ctypes."""

from __future__ import annotations

import ctypes
from ctypes import c_double, c_int64, c_void_p
from functools import cache

from testbed.agent.build import DATAPATH, MANY_PATHS

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


@cache
def library(many_paths: bool = False) -> ctypes.CDLL:
    """``many_paths``: for flows whose packets take several."""
    return declared(ctypes.CDLL(str((MANY_PATHS if many_paths else DATAPATH).compiled())))


def declared(library: ctypes.CDLL) -> ctypes.CDLL:
    """With the types of the datapath's functions."""
    library.read_feedback.restype, library.read_feedback.argtypes = c_int64, [c_void_p, c_double]
    library.gather.restype, library.gather.argtypes = c_int64, [c_void_p, c_void_p, c_double, c_int64, c_double]
    library.next_due.restype, library.next_due.argtypes = c_double, [c_void_p]
    library.next_start.restype, library.next_start.argtypes = c_double, [c_void_p]
    library.next_received.restype, library.next_received.argtypes = c_double, [c_void_p]
    library.see_received.restype, library.see_received.argtypes = None, [c_void_p, c_double]
    library.due_starts.restype, library.due_starts.argtypes = c_int64, [c_void_p, c_double, c_void_p]
    library.add_starts.restype, library.add_starts.argtypes = None, [c_void_p]
    library.begin_tasks.restype, library.begin_tasks.argtypes = None, [c_void_p, c_void_p, c_int64]
    library.flow_done.restype, library.flow_done.argtypes = None, [c_void_p, c_int64, c_double]
    library.send_until.restype, library.send_until.argtypes = None, [c_void_p, c_double]
    library.send_due.restype, library.send_due.argtypes = None, [c_void_p, c_double]
    library.reschedule.restype, library.reschedule.argtypes = None, [c_void_p, c_void_p, c_int64, c_double]
    library.due_timers.restype, library.due_timers.argtypes = c_int64, [c_void_p, c_double, c_void_p]
    library.report_sent.restype, library.report_sent.argtypes = c_int64, [c_void_p, c_void_p, c_void_p]
    library.time_out.restype, library.time_out.argtypes = None, [c_void_p, c_void_p, c_void_p, c_int64, c_double]
    names = ["send_again"]
    if hasattr(library, GIVE_UP):
        names.append(GIVE_UP)
    for name in names:
        getattr(library, name).restype, getattr(library, name).argtypes = None, [c_void_p, c_void_p, c_int64, c_double]
    library.ask_again.restype, library.ask_again.argtypes = None, [c_void_p, c_void_p, c_int64]
    library.move_flow.restype, library.move_flow.argtypes = None, [c_void_p, c_int64, c_int64, c_int64]
    library.decide_due.restype, library.decide_due.argtypes = None, [c_void_p, c_double]
    library.serve.restype, library.serve.argtypes = c_int64, [c_void_p, c_double]
    library.apply_decisions.restype = c_int64
    library.apply_decisions.argtypes = [c_void_p, c_void_p, c_int64, c_double, *[c_void_p] * 5]
    return library
