"""A controller in C as a class like those that are written in Python: everything that reads a class reads this one.

It has the options and signals that the library declares, and callbacks whose file and line are those of the source.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path as FilePath
from types import FunctionType, ModuleType
from typing import Any, ClassVar

import numpy as np

from testbed.compiled.c_library import Native, native
from testbed.compiled.c_options import config_of
from testbed.compiled.events import CONTROLLER, EVENTS
from testbed.compiled.flows import CompiledFlows
from testbed.controller import CompiledController, Path, Paths, Signal
from testbed.plugin import PluginConfig


class NativeController(CompiledController):
    """Base of these classes. An object is one flow, for tests: its callbacks are those of the library."""

    native: ClassVar[Native]

    def __init__(self, config: PluginConfig, path: Path) -> None:
        super().__init__(config, path)
        line, rtt, hops = np.array([path.line_rate]), np.array([path.base_rtt]), np.array([path.hops])
        paths = Paths(line, rtt, hops, path.payload, path.wire_size, path.longest_rtt)
        vars(self)["flow"] = CompiledFlows(type(self), config, paths, True)
        self.on_start(0.0)

    @classmethod
    def cnp_interval(cls, config: PluginConfig) -> float:
        return float(getattr(config, "cnp_interval", super().cnp_interval(config)))

    @classmethod
    def src_threshold(cls, config: PluginConfig) -> float:
        return float(getattr(config, "src_threshold", super().src_threshold(config)))


def module_of(file: FilePath) -> ModuleType:
    """A module with the one class of a C file or a shared object. Raises BadInput."""
    code = native(file)
    name = f"testbed_plugin_{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:8]}"
    module = sys.modules[name] = ModuleType(name)
    module.__file__ = str(file)
    controller = code.c.controller.contents
    given = (controller.name or code.name.encode()).decode()
    title = "".join(part[:1].upper() + part[1:] for part in re.split(r"[\W_]+", given))
    named: dict[str, Any] = {
        "__module__": name,
        "__doc__": (controller.text or b"").decode(),
        "name": given,
        "signals": Signal(controller.signals),
        "Config": config_of(f"{title}Config", file, code.options),
        "thresholds": (controller.thresholds or b"").decode(),
        "adaptive": not controller.unresponsive,
        "native": code,
        **{event: _callback(code, event) for event in EVENTS if getattr(controller, event)},
    }
    setattr(module, title, type(title, (NativeController,), named))
    return module


def _callback(code: Native, event: str) -> FunctionType:
    def callback(self: Any, *told: Any) -> None:
        self.flow.tell_one(event, *told)
        for name in CONTROLLER.decided:
            setattr(self, name, float(self.flow.records[name][0]))

    place = callback.__code__.replace(co_filename=str(code.file), co_firstlineno=code.line_of(event), co_name=event)
    return FunctionType(place, callback.__globals__, event, None, callback.__closure__)
