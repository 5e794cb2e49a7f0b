"""The file of an export: comments, options, constants, state, functions, callbacks."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed import __version__
from testbed.compiled.events import CONTROLLER
from testbed.compiled.layout import PATH
from testbed.controller import CompiledController, Signal
from testbed.registry import Plugin
from testbed.sdk.export.c import options
from testbed.sdk.export.c.functions import KIND, Function, Functions, snake
from testbed.sdk.export.c.library import member
from testbed.sdk.export.c.terms import Term, literal
from testbed.sdk.export.c.whole import Thing

# The parameters of each callback in C, and what is handed to the Python method behind it.
CALLBACKS: dict[str, tuple[str, tuple[Term | Thing, ...]]] = {
    "on_start": ("double now", (Term("now", "double"),)),
    "on_ack": ("const struct cc_ack *ack", (Thing("ack", "ack"),)),
    "on_cnp": ("double now", (Term("now", "double"),)),
    "on_loss": ("double now, int64_t packets", (Term("now", "double"), Term("packets", "int64_t"))),
    "on_timeout": ("double now, int64_t packets", (Term("now", "double"), Term("packets", "int64_t"))),
    "on_timer": ("double now", (Term("now", "double"),)),
    "on_sent": ("double now, int64_t bytes", (Term("now", "double"), Term("bytes", "int64_t"))),
    "on_src": (
        "double now, double age, double queue, double rate",
        tuple(Term(name, "double") for name in ("now", "age", "queue", "rate")),
    ),
}
PER_LINE = 8
C_TYPES = {"f": "double", "i": "int64_t", "b": "bool", "u": "int64_t"}


@dataclass(frozen=True)
class Source:
    """An export."""

    text: str
    layout: np.dtype[Any]  # of struct cc_flow
    skipped: tuple[Exception, ...]  # statements of __init__ that have no form in C


def source(plugin: Plugin, controller: CompiledController, baked: list[str]) -> Source:
    """One controller; ``baked`` ends the beginning of a flow. Raises CannotExport."""
    form, config = type(controller), controller.config
    whole = Functions(controller, snake(plugin.name))
    begin = whole.beginning(baked)
    roots, callbacks = [begin], []
    for event, (parameters, given) in CALLBACKS.items():
        own = getattr(form, event) is not getattr(CompiledController, event)
        if not own and event != "on_start":
            continue
        told = None
        if own:
            function, of = whole.method(form, event)
            told = whole.function(function, of, [Thing("self", "flow"), *given], name=f"{whole.prefix}_{event}")
            roots.append(told)
        callbacks.append((event, told, parameters, given))
    start = next(one for one in callbacks if one[0] == "on_start")
    parts = [
        _head(plugin, controller),
        "\n".join(["#include <math.h>", "", '#include "testbed_cc.h"']),
        "\n".join(options.declared(config)),
        "\n".join(f"#define {name} {bracketed(term)}" for name, term in sorted(whole.constants.items())),
        _state(whole),
        *(_table(whole.prefix, name, array) for name, array in whole.tables.items()),
        *(text for name, text in whole.arithmetic.shared.items() if name in whole.arithmetic.helpers),
        *(one.text for one in whole.needed(roots)),
        _start(whole.prefix, begin, start[1]),
        _controller(plugin, form, whole.prefix, [event for event, *_ in callbacks]),
    ]
    text = "\n\n".join(part for part in parts if part) + "\n"
    return Source(text, layout(whole), tuple(whole.skipped))


def layout(whole: Functions) -> np.dtype[Any]:
    """struct cc_flow, as C lays it out."""
    fields: list[Any] = [(name, "f8") for name in CONTROLLER.decided] + [("options", "u8"), ("path", PATH)]
    fields += [
        (member(one.name), np.dtype(one.kind), (one.length,) if one.length else ())
        for one in _fields(whole)
    ]  # fmt: skip
    return np.dtype(fields, align=True)


def _fields(whole: Functions) -> Iterator[Any]:
    return (one for name, one in whole.fields.items() if name not in CONTROLLER.decided and not one.constant)


def _head(plugin: Plugin, controller: CompiledController) -> str:
    """What it is and where it is from; then what the module says of sources and choices."""
    fixed = {name: value for name, value in options.left_out(controller.config).items() if value != ""}
    lines = [
        f"{plugin.name}, written by testbed {__version__} (testbed export {plugin.name} --to c)",
        f"from {plugin.file.name}, SHA-256 {plugin.digest}.",
        *(f"Fixed in it: {name} = {value}" for name, value in fixed.items()),
        "",
        *(inspect.getdoc(sys.modules[type(controller).__module__]) or "").splitlines(),
    ]
    return "\n".join(["/*", *(f" * {line}".rstrip() for line in commented(lines)), " */"])


def commented(lines: list[str]) -> list[str]:
    """Lines for a comment of C."""
    return [line.replace("``", "").replace("`", "").replace("*/", "* /").replace("/*", "/ *") for line in lines]


def bracketed(term: Term) -> str:
    """A number for a macro."""
    return f"({term.text})" if term.text.startswith("-") else term.text


def _state(whole: Functions) -> str:
    comments = field_comments(type(whole.controller))
    lines = ["struct cc_flow {", "\tCC_FLOW;"]
    for one in _fields(whole):
        size = f"[{one.length}]" if one.length else ""
        said = comments.get(one.name)
        comment = f" /* {commented([said])[0]} */" if said else ""
        lines.append(f"\t{KIND[one.kind]} {member(one.name)}{size};{comment}")
    return "\n".join([*lines, "};"])


def field_comments(form: type) -> dict[str, str]:
    """What stands behind the declarations of a controller's fields."""
    found: dict[str, str] = {}
    for own in reversed(form.__mro__):
        if not issubclass(own, CompiledController) or own is CompiledController:
            continue
        for line in inspect.getsource(own).splitlines():
            if match := re.match(r"    (\w+): [^#]*#\s*(.*)$", line):
                found[match[1]] = match[2].partition("  # ")[0]
    return found


def _table(prefix: str, name: str, array: NDArray[Any]) -> str:
    sizes = "".join(f"[{size}]" for size in array.shape)
    lines = [f"static const {C_TYPES[array.dtype.kind]} {prefix}_{name}_table{sizes} = {{"]
    rows = array.reshape(-1, array.shape[-1]) if array.ndim > 1 else [array]
    for row in rows:
        texts = [literal(one).text for one in row.tolist()]
        chunks = [", ".join(texts[at : at + PER_LINE]) for at in range(0, len(texts), PER_LINE)]
        inner = ",\n\t ".join(chunks) if array.ndim > 1 else ",\n\t".join(chunks)
        lines.append(f"\t{{{inner}}}," if array.ndim > 1 else f"\t{inner},")
    return "\n".join([*lines, "};"])


def _start(prefix: str, begin: Function, told: Function | None) -> str:
    """on_start of the library: the state as ``__init__`` has it, then Python's on_start."""
    then = f"\t{told.name}(flow, now);" if told else "\t(void)now;"
    lines = [f"static void {prefix}_starts(struct cc_flow *flow, double now)", "{"]
    return "\n".join([*lines, f"\t{begin.name}(flow);", then, "}"])


def _controller(plugin: Plugin, form: type[CompiledController], prefix: str, events: list[str]) -> str:
    signals = " | ".join(f"CC_{one.name}" for one in Signal if one in form.signals and one.name != "NONE") or "0"
    named = {event: f"{prefix}_{event}" for event in events} | {"on_start": f"{prefix}_starts"}
    rows = [
        f'.name = "{plugin.name}"',
        f".text = {options.quoted(plugin.summary)}",
        *([f'.thresholds = "{form.thresholds}"'] if form.thresholds else []),
        f".signals = {signals}",
        *([] if form.adaptive else [".unresponsive = 1"]),
        *(f".{event} = {name}" for event, name in named.items()),
    ]
    return "CC_CONTROLLER(\n\t" + ",\n\t".join(rows) + ")"
