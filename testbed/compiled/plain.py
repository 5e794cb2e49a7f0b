"""The same controller as plain Python behind the same pointer: to debug it, or where nothing can be compiled."""

from __future__ import annotations

import ctypes
from ctypes import c_char, c_double, c_int32, c_int64, c_void_p

import numpy as np

from testbed.compiled.layout import ACK, DECIDED, as_ack
from testbed.compiled.source import EVENTS
from testbed.controller import CompiledController, Path
from testbed.plugin import PluginConfig

DECIDE = ctypes.CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p, c_int64, c_double, c_int64, c_void_p)
START = EVENTS.index("on_start")
WITH_NUMBER = ("on_loss", "on_sent")
RECORD = np.dtype([(name, "f8") for name in DECIDED])


class Objects:
    """One object per flow. ``error`` is what a callback raised, after `decide` has returned 1."""

    def __init__(self, form: type[CompiledController], config: PluginConfig, paths: list[Path]) -> None:
        self.form, self.config, self.paths = form, config, paths
        self.flows: list[CompiledController | None] = [None] * len(paths)
        self.records = np.zeros(len(paths), RECORD)
        self.error: Exception | None = None
        self.decide = DECIDE(self._decide)

    def _decide(self, _nothing: int, _raised: int, record: int, event: int, now: float, number: int, told: int) -> int:
        flow = (record - self.records.ctypes.data) // RECORD.itemsize
        try:
            one = self._told(flow, event, now, number, told)
        except Exception as error:  # noqa: BLE001 - whatever the plugin raises: the caller raises it again
            self.error = error
            return 1
        self.records[flow] = one.rate, one.window, one.timer
        return 0

    def _told(self, flow: int, event: int, now: float, number: int, told: int) -> CompiledController:
        if event == START:
            self.flows[flow] = self.form(self.config, self.paths[flow])
            vars(self.flows[flow])["made"] = True
        one = self.flows[flow]
        assert one is not None, f"flow {flow} gave feedback before it started"
        callback, name = getattr(one, EVENTS[event]), EVENTS[event]
        if name == "on_ack":
            callback(as_ack(_told_at(told)))
        elif name == "on_src":
            src = as_ack(_told_at(told))
            callback(now, src.rtt, src.int_stack[0].queue, src.int_stack[0].rate)
        elif name in WITH_NUMBER:
            callback(now, number)
        else:
            callback(now)
        return one


def _told_at(address: int) -> np.void:
    told: np.void = np.frombuffer(memoryview((c_char * ACK.itemsize).from_address(address)), ACK)[0]
    return told
