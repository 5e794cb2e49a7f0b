"""The same class as plain Python behind the same pointer: to debug it, or where nothing can be compiled."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import c_double, c_int32, c_int64, c_void_p

import numpy as np

from testbed.base.fields import KINDS, Stateful
from testbed.compiled.events import CREDITS, interface_of
from testbed.compiled.layout import Told, ack_at
from testbed.controller import Ack, Path
from testbed.plugin import PluginConfig

DECIDE = ctypes.CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p, c_int64, c_double, c_int64, c_void_p)
START = "on_start"


class Objects:
    """One object per flow. ``error`` is what a callback raised, after `decide` has returned 1."""

    def __init__(
        self, form: type[Stateful], config: PluginConfig, paths: list[Path], seeds: Sequence[int] | None = None
    ) -> None:
        self.form, self.config, self.paths, self.seeds = form, config, paths, seeds
        self.interface = interface = interface_of(form)
        self._names = interface.names
        self._arguments = {
            name: eval(f"lambda now, number, ack: ({told.replace('ack.hops', 'ack.int_stack')},)")
            for name, told in interface.events.items()
        }
        self.flows: list[Stateful | None] = [None] * len(paths)
        fields = interface.base.fields()
        self.records = np.zeros(len(paths), [(name, KINDS[fields[name].kind]) for name in interface.decided])
        self._address = self.records.ctypes.data
        self.error: Exception | None = None
        self.decide = DECIDE(self._decide)

    def _decide(
        self, _nothing: int, _raised: int, record: int, event: int, now: float, number: int, told: int | None
    ) -> int:
        flow = (record - self._address) // self.records.itemsize
        try:
            one = self._told(flow, self._names[event], now, number, told)
        except Exception as error:  # noqa: BLE001 - whatever the plugin raises: the caller raises it again
            self.error = error
            return 1
        self.records[flow] = tuple(getattr(one, name) for name in self.interface.decided)
        return 0

    def _told(self, flow: int, event: str, now: float, number: int, told: int | None) -> Stateful:
        if event == START:
            self.flows[flow] = self.made(flow)
        one = self.flows[flow]
        assert one is not None, f"flow {flow} gave feedback before it started"
        getattr(one, event)(*self._arguments[event](now, number, self._read(told) if told else None))
        return one

    def configure(self, config: PluginConfig) -> None:
        """Other options from now on."""
        self.config = config
        for one in self.flows:
            if one is not None:
                vars(one)["config"] = config

    def _read(self, told: int) -> Ack | Told:
        return Told(told) if self.interface is CREDITS else ack_at(told)

    def made(self, flow: int) -> Stateful:
        """The object of a flow that starts."""
        one = self.form(self.config, self.paths[flow])
        if self.seeds is not None:
            one.random = self.seeds[flow]
        vars(one)["made"] = True
        return one
