"""An export that was just written, brought in again and told the same as the controller that it is made of."""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Iterator
from ctypes import c_int64, c_void_p
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.base.compiler import LIBRARY_FLAGS, Unit
from testbed.base.fields import StateField
from testbed.compiled.c_form import module_of
from testbed.compiled.c_library import FOLDER
from testbed.compiled.events import CONTROLLER, EVENTS
from testbed.compiled.flows import CompiledFlows
from testbed.plugin import PluginConfig
from testbed.registry import Plugin
from testbed.sdk import made_up
from testbed.sdk.export.c.library import member
from testbed.sdk.export.c.source import Source, source
from testbed.sdk.export.c.terms import literal
from testbed.sdk.export.c.whole import CannotExport

COUNT = 100_000
FACTS = ("line_rate", "base_rtt", "bdp", "wire_size")  # of a path, of which what is fixed may be a multiple
SOURCE = Path(__file__).parents[1] / "compare.c"
COMPARE = Unit("compare", (SOURCE,), ".so", (*LIBRARY_FLAGS, f"-I{FOLDER}"), headers=(FOLDER,))


class _Outcome(ctypes.Structure):
    """struct outcome of compare.c."""

    _fields_ = [(name, c_int64) for name in ("raised", "different", "first")]


@dataclass(frozen=True)
class Compared:
    """Of `COUNT` made-up events."""

    raised: int  # in which Python raises an exception
    different: int  # decisions
    first: str  # the event of the first of them


def exported(plugin: Plugin, config: PluginConfig) -> Source:
    """The source of one controller. What only Python's ``__init__`` can say stands in it as numbers.

    Raises CannotExport.
    """
    ours = CompiledFlows(plugin.form, config, made_up.paths(), True)
    controller = plugin.form(config, ours.by_flow[0])
    made = source(plugin, controller, [])
    theirs = _records(made)
    lines = [
        line for one in controller.fields().values() if not one.constant for line in _fixed(one, ours, theirs, made)
    ]
    return source(plugin, controller, lines) if lines else made


def compared(made: Source, plugin: Plugin, config: PluginConfig, seed: int = 1) -> Compared:
    """Tell both the same."""
    ours, theirs = CompiledFlows(plugin.form, config, made_up.paths(), True), brought(made)
    told, found = made_up.events(COUNT, made_up.paths(), seed), _Outcome()
    library = COMPARE.library(compare=(None, [c_void_p, c_void_p, c_void_p, c_int64, c_void_p]))
    library.compare(ours.address, theirs.address, told.ctypes.data, len(told), ctypes.addressof(found))
    return Compared(found.raised, found.different, EVENTS[told["event"][found.first]] if found.different else "")


def brought(made: Source) -> CompiledFlows:
    """The export as a controller, with its defaults."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "exported.c"
        file.write_text(made.text, encoding="utf-8")
        forms: list[Any] = [one for one in vars(module_of(file)).values() if isinstance(one, type)]
        return CompiledFlows(forms[0], forms[0].Config(), made_up.paths(), True)


def _records(made: Source) -> NDArray[Any]:
    """What flows of the export are like when they have started."""
    flows = brought(made)
    flows.on_start(0.0, np.arange(len(flows.by_flow)))
    return np.frombuffer(flows.records.tobytes(), made.layout)


def _fixed(one: StateField, ours: CompiledFlows, theirs: NDArray[Any], made: Source) -> Iterator[str]:
    """Lines that set a field which C has otherwise: the same for all paths, or a multiple of what a path has."""
    if one.name not in CONTROLLER.decided and one.name not in (theirs.dtype.names or ()):
        return
    wanted, found = ours.initial[one.name], theirs[member(one.name)]
    if wanted.tobytes() == found.tobytes():
        return
    if (wanted == wanted[0]).all():
        values = wanted[0].tolist() if one.length else [wanted[0].item()]
        for i, value in enumerate(values):
            place = f"[{i}]" if one.length else ""
            yield f"\tflow->{member(one.name)}{place} = {literal(one.kind(value)).text};"
        return
    for fact in FACTS if not one.length else ():
        facts = np.array([float(getattr(path, fact)) for path in ours.by_flow])
        for factor in np.unique(wanted / facts).tolist():
            if (factor * facts == wanted).all():
                times = f"{literal(factor).text} * " if factor != 1.0 else ""
                yield f"\tflow->{member(one.name)} = {times}flow->path.{fact};"
                return
    raise (
        made.skipped[0]
        if made.skipped
        else CannotExport("__init__", 0, f"'{one.name}' is not the same in C when a flow begins")
    )
