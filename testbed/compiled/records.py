"""The records of flows that a compiled class decides about, and the pointer through which C asks it (decide.h)."""

from __future__ import annotations

import ctypes
import pickle
import signal
import weakref
from collections.abc import Sequence
from ctypes import c_int32, c_int64, c_void_p
from typing import Any, NoReturn

import numpy as np

from testbed.base.fields import Stateful
from testbed.compiled import machine
from testbed.compiled.c_library import GUARD, Native
from testbed.compiled.c_options import packed
from testbed.compiled.events import interface_of
from testbed.compiled.isolated import last_events, shared
from testbed.compiled.layout import PATH, PLACE, place_of, record, values
from testbed.compiled.options import numbers
from testbed.compiled.plain import Objects
from testbed.compiled.source import translated
from testbed.controller import Path, Paths
from testbed.errors import BadInput, UnusableDecision
from testbed.plugin import PluginConfig

IMPOSSIBLE, CRASHED = 1_000_000, 2_000_000  # as in decide.h


class Decider(ctypes.Structure):
    """struct decider of decide.h."""

    _fields_ = [
        *((name, c_void_p) for name in ("decide", "flows", "initial")),
        *((name, c_int64) for name in ("size", "wants_src", "status", "failed_flow", "failed_event")),
        ("raised", c_void_p),
        ("native", c_void_p),
        ("apart", c_void_p),
        ("child", c_int64),
    ]


class _Raised(ctypes.Structure):
    """What numba leaves of an exception: a pickle of its class, arguments and place."""

    _fields_ = [("data", c_void_p), ("size", c_int32)]


class Records:
    """Of the flows with these paths; machine code decides unless ``compiled`` is False, or C if the class is of C."""

    def __init__(
        self,
        form: type[Stateful],
        config: PluginConfig,
        paths: Paths,
        compiled: bool,
        seeds: Sequence[int] | None = None,
        *,
        isolate: bool = False,
    ) -> None:
        """``seeds``: each flow's ``random``. ``isolate``: C has a process of its own.

        Raises BadInput if it cannot be compiled, and what ``__init__`` raises.
        """
        self.form, self.config = form, config
        self.interface = interface_of(form)
        self.by_flow = paths_by_flow(paths)
        self.c = Decider()
        self.objects: Objects | None = None
        self.native: Native | None = getattr(form, "native", None)
        if self.native:
            if not compiled:
                raise BadInput(f"'{self.native.file}' is C and has no form in Python: leave out compiled=false")
            self._load(self.native, isolate)
        elif isolate:
            raise BadInput(f"isolate is for controllers in C, and {form.__name__} is Python: leave it out")
        else:
            self._make(compiled, seeds)
        self.initial = self.records.copy()
        self.c.flows, self.c.size = self.records.ctypes.data, self.records.dtype.itemsize
        self.c.initial = self.initial.ctypes.data
        self.address = ctypes.addressof(self.c)

    def _make(self, compiled: bool, seeds: Sequence[int] | None) -> None:
        form = self.form
        self.interface.check(form)
        made = {path: form(self.config, path) for path in set(self.by_flow)}
        if compiled and form.compiled and self._compile(made):
            if seeds is not None:
                self.records["random"] = seeds
        else:
            self._interpret(made, seeds)

    @property
    def runs_as(self) -> str:
        """For the manifest."""
        if self.native:
            return f"C, compiled by {self.native.compiler}"
        return "Python" if self.objects else "machine code"

    def _compile(self, made: dict[Path, Stateful]) -> bool:
        """Whether there is machine code of it."""
        first = made[self.by_flow[0]]
        layout = record(self.form, self.config)
        translation = translated(first)
        self._places, self._functions = translation.places, translation.functions
        library = machine.library(translation, layout)
        if library is None:
            return False
        self._code = ctypes.CDLL(str(library))
        self.c.decide = ctypes.cast(self._code.decide, c_void_p).value
        rows = {path: values(one, layout) for path, one in made.items()}
        self.records = np.array([rows[path] for path in self.by_flow], layout)
        return True

    def _load(self, native: Native, isolate: bool) -> None:
        self._options = shared(packed(self.config, native.options, native.c.options_size))
        self._guard = ctypes.CDLL(str(GUARD.compiled()))
        self._guard.arm()
        decide = self._guard.isolated if isolate else self._guard.guarded
        self.c.decide, self.c.native = ctypes.cast(decide, c_void_p).value, native.c.decide
        if isolate:
            weakref.finalize(self, self._guard.let_go, ctypes.byref(self.c))
        self.records = np.zeros(len(self.by_flow), native.layout)
        self.records["rate"] = [path.line_rate for path in self.by_flow]
        self.records["window"] = self.records["timer"] = np.inf
        self.records["options"] = self._options.ctypes.data
        self.records["path"] = [tuple(getattr(path, name) for name in PATH.names or ()) for path in self.by_flow]

    def _interpret(self, made: dict[Path, Stateful], seeds: Sequence[int] | None) -> None:
        self.objects = Objects(self.form, self.config, self.by_flow, seeds)
        self.c.decide = ctypes.cast(self.objects.decide, c_void_p).value
        self.records = self.objects.records
        decided = self.interface.decided
        self.records[:] = [tuple(getattr(made[path], name) for name in decided) for path in self.by_flow]

    def configure(self, config: PluginConfig) -> None:
        """Callbacks read other options from now on; they must not run meanwhile."""
        self.config = config
        if self.native:
            self._options[:] = packed(config, self.native.options, self.native.c.options_size)
        elif self.objects:
            self.objects.configure(config)
        else:
            for name, value in numbers(config).items():
                self.records["config"][name] = self.initial["config"][name] = value

    def fail(self) -> NoReturn:
        """Raise what a callback raised, or UnusableDecision."""
        c = self.c
        event, flow = self.interface.names[c.failed_event], self.records[c.failed_flow]
        if c.status == IMPOSSIBLE:
            raise self._unusable_by(getattr(self.form, event), flow)
        if self.native:
            raise self._crashed(self.native)
        if self.objects:
            assert self.objects.error is not None
            raise self.objects.error
        error, place = _raised(c.raised)
        code = getattr(self.form, event).__code__
        if place:
            name, file, line = place
            ours = [one.code for known, one in self._functions.items() if name in known]
            if file not in {one.co_filename for one in ours}:  # compiled for the same text in another file
                here = (one.co_filename for one in ours if line in {at for *_, at in one.co_lines()})
                file = next(here, file)
        else:
            file, line = self._places.get(int(flow[PLACE]), (code.co_filename, code.co_firstlineno))
        exec(compile("\n" * (line - 1) + "raise error", file, "exec"), {"error": error})  # as if from there
        raise AssertionError

    def _unusable_by(self, callback: Any, flow: np.void) -> UnusableDecision:
        decided = {name: flow[name] for name in self.interface.decided}
        error = self._unusable(callback, *decided.values())
        bad = [name for name, value in decided.items() if not value > 0 or (name == "rate" and np.isinf(value))]
        wrong = (bad or list(decided))[0 if bad else -1]  # a timer may be any number
        if not (self.objects or self.native):
            error.place = self._places.get(int(flow[place_of(wrong)]))
        return error

    def _crashed(self, native: Native) -> UnusableDecision:
        """Names the signal and the flow, and the line if it can be found out."""
        event, number = self.interface.names[self.c.failed_event], self.c.status - CRASHED
        how = f"{signal.Signals(number).name} ({signal.strsignal(number)})" if number else "it ended its process"
        what = f"{how} in {event} of flow {self.c.failed_flow}"
        if self.c.apart:
            what += (
                f"; the last that it was told: {last_events(self.c.apart, self.c.failed_flow, self.interface.names)}"
            )
        error = UnusableDecision(getattr(self.form, event), what)
        if line := native.line_at(c_int64.in_dll(self._guard, "crashed_at").value):
            error.place = str(native.file), line
        return error

    @staticmethod
    def _unusable(callback: Any, *decided: Any) -> UnusableDecision:
        return UnusableDecision.of(callback, *decided)


def _raised(raised: int) -> tuple[Exception, tuple[str, str, int] | None]:
    """What machine code raised, and function, file and line if it says so."""
    told = _Raised.from_address(raised)
    kind, arguments, place = pickle.loads(ctypes.string_at(told.data, told.size))
    return kind(*arguments), place


def paths_by_flow(paths: Paths) -> list[Path]:
    """What each flow may know of its path."""
    longest = paths.longest_rtt or float(paths.base_rtt.max(initial=0.0))
    alike = list(zip(paths.line_rate.tolist(), paths.base_rtt.tolist(), map(int, paths.hops.tolist()), strict=True))
    made = {one: Path(one[0], one[1], longest, one[2], paths.payload, paths.wire_size) for one in set(alike)}
    return [made[one] for one in alike]
