"""The structs of world.h and table.h and the functions of the library, for ctypes and numpy."""

from __future__ import annotations

import ctypes
from ctypes import c_double, c_int, c_int64, c_uint32, c_void_p
from functools import cache

import numpy as np

from testbed.agent.structs import FUNCTIONS as OF_AGENTS
from testbed.agent.structs import OF_MANY_PATHS, CHistogram, CTrace
from testbed.base.compiler import Signature, Unit
from testbed.dataplane.build import MANY_PATHS
from testbed.dataplane.wire import QUEUES, RECORD

HEAD_BYTES = 42
TICK_SHIFT = 20
RECORD_BYTES = 8 + RECORD.itemsize  # in the ring, with its header
LINE = np.dtype(
    [
        *((name, "<i8") for name in ("per_byte", "delay", "free", "leaving")),
        *((name, "<i4") for name in ("on_the_way", "busy", "from", "to", "sender", "receiver")),
        ("tapped", "<i2", (2,)),
        ("beyond", "<i4"),
        ("macs", "u1", (16,)),
        ("state", "<i8", (6,)),
    ]
)
SCHEDULER = np.dtype([("strict", "<i8"), ("quantum", "<i8", (QUEUES,))])
LINE_QUEUES = np.dtype([("state", "<i8", (32,))])  # struct queues
WATCHED = np.dtype([(name, "<i8") for name in ("since", "storm", "frames", "limit")])
MOST_STORMS = 1024
OCCASION = np.dtype([("time", "<i8"), ("id", "<i8")])
TOP = 3  # of the heap of occasions


class CRecords(ctypes.Structure):
    _fields_ = [
        *((name, c_void_p) for name in ("consumer", "producer", "data")),
        *((name, c_int64) for name in ("size", "submitted")),
    ]


class CWatchdog(ctypes.Structure):
    _fields_ = [
        *((name, c_int64) for name in ("detection", "restoration", "forwards")),
        *((name, c_void_p) for name in ("queues", "time", "row", "what")),
        ("length", c_int64),
    ]


class CWall(ctypes.Structure):
    _fields_ = [
        *((name, c_int64) for name in ("epoch_ns", "epoch")),
        *((name, c_double) for name in ("ticks_per_ns", "seconds_per_tick")),
        *((name, c_int64) for name in ("ahead", "grain", "reached", "next_rest", "unmeasured")),
        ("lag", CHistogram),
    ]


APP_LINK = np.dtype(
    [
        *((name, "<i8") for name in ("host", "socket", "ring", "next", "taken")),
        *((name, "<i8") for name in ("handed", "given", "told", "delivered", "interrupt", "interrupted")),
    ]
)
POLLED = np.dtype([("file", "<i4"), ("events", "<i2"), ("returned", "<i2")])  # struct pollfd


class CAppLinks(ctypes.Structure):
    _fields_ = [
        ("links", c_void_p),
        ("count", c_int64),
        ("link_of", c_void_p),
        *((name, c_int64) for name in ("slots", "slot_size")),
        ("polled", c_void_p),
        *((name, c_int64) for name in ("handed_slots", "handed_size", "moderation", "next", "aside")),
        *((name, c_uint32) for name in ("turn", "sleeping")),
        ("refused", c_int64),
        *((name, CHistogram) for name in ("waiting", "late")),
    ]


class CTable(ctypes.Structure):
    _fields_ = [*((name, c_void_p) for name in ("keys", "seen", "slots")), ("size", c_int64), ("used", c_int64)]


class CTap(ctypes.Structure):
    _fields_ = [("bytes", c_void_p), *((name, c_int64) for name in ("snap", "room", "length"))]


MAPS = (
    "departed", "arrivals", "flows_tx", "flows_rx", "ingresses", "pauses", "port_config", "port_counters", "port_red",
    "port_queue", "port_bolt", "flowlets", "class_table", "departures", "receivers", "shares", "groups", "pools",
    "intakes",
)  # fmt: skip


class CWorld(ctypes.Structure):
    _fields_ = [
        *((name, c_int64) for name in ("now", "order")),
        *((name, c_void_p) for name in ("part", "calendar", "events")),
        ("event_count", c_int64),
        *((name, c_void_p) for name in ("feedback", "resumed")),
        *((name, c_int64) for name in ("resumed_count", "released", "next_sample", "unroutable", "events_done")),
        *((name, c_int64) for name in ("line_count", "host_count", "switch_count", "lossless", "queued", "routed")),
        *((name, c_void_p) for name in ("lines", "place")),
        *((name, c_void_p) for name in ("up", "down", "edge", "sender", "out", "hops_at", "hops", "hash_seed")),
        *(
            (name, c_void_p)
            for name in (
                *MAPS,
                "queues",
                "scheduler",
                "watchdog",
                "flow_table",
                "heads",
                "socket_host",
                "credit_heads",
                "receiver",
            )
        ),
        ("carried", c_int64),
        ("gather", c_double),
        ("tasks", c_void_p),
        ("renewed_after", c_int64),
        *((name, c_void_p) for name in ("taps", "sampler", "wall", "apps")),
        *((name, c_int64) for name in ("whole_size", "routing", "entries")),
    ]


FUNCTIONS: dict[str, Signature] = {
    "enter": (None, [c_void_p, c_void_p, c_int64, c_void_p, c_int64]),
    "set_rate": (None, [c_void_p, c_int64, c_int64]),
    "set_delay": (None, [c_void_p, c_int64, c_int64]),
    "run_until_fed": (c_int64, [c_void_p, c_int64]),
    "relay": (None, [c_void_p, c_int]),
    "deliver_aside": (None, [c_void_p, c_void_p]),
    "end_delivery": (None, [c_void_p]),
    "catch_up_all": (None, [c_void_p, c_int64]),
    "drain": (None, [c_void_p, c_int64]),
    "make_parts": (c_void_p, [c_int64, c_int64, c_void_p, c_int64]),
    "set_part": (None, [c_void_p, c_int64, c_void_p, c_void_p, c_void_p]),
    "forget_parts": (None, [c_void_p]),
    "divide": (None, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "take_records": (None, [c_void_p, c_int64, CTrace.Full]),
    "watch_loads": (None, [c_void_p, c_void_p, c_int64]),
    "run_parts": (c_int64, [c_void_p, c_double, c_int64]),
    "decide_parts": (None, [c_void_p, c_double]),
    "thread_of": (c_int64, [c_void_p, c_int64]),
    "find_failure": (c_int64, [c_void_p]),
    "make_calendar": (c_void_p, [c_int64]),
    "forget_calendar": (None, [c_void_p]),
    "abandon": (None, [c_void_p]),
    "take_samples": (None, [c_void_p, c_int64]),
    "flow_table_rebuild": (None, [c_void_p]),
}


@cache
def library(unit: Unit) -> ctypes.CDLL:
    """`WORLD`, or the one with Bolt."""
    return unit.library(**FUNCTIONS, **OF_AGENTS, **(OF_MANY_PATHS if MANY_PATHS in unit.flags else {}))
