"""From translated functions to a shared library that C can call: numba types and optimises, LLVM emits, cc links.

The library has one function, `decide` (decide.h). It is cached like all compiled programs, under a name made of all
that went into it; with it in the cache, or in the wheel, numba is not even imported.
"""

from __future__ import annotations

import hashlib
import logging
import math
import platform
import re
import tempfile
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from testbed.base.compiler import NO_COMPILER, cache_folder, compile_to, compiler, shipped
from testbed.base.extras import how_to_get
from testbed.base.kept import made_once
from testbed.compiled.events import CREDITS
from testbed.compiled.layout import ACK, ARRIVAL, ARRIVED, HOP, PATH, RECEIVER, told_by
from testbed.compiled.source import POWER, WHOLE, CannotCompile, Translation
from testbed.errors import TestbedError, nearest

log = logging.getLogger(__package__)
SOURCE = Path(__file__).parent
OURS = "testbed:"  # begins our own messages among numba's
SHIPPED = "shipped"  # whoever compiled it
NEEDS = ("numba", "llvmlite", "numpy")
UNWRAPPED = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # only machine code calls it


def why_not() -> str:
    """Why nothing can be compiled here, and what to do; empty where it can."""
    return _without_numba() or ("" if compiler() else NO_COMPILER)


def _without_numba() -> str:
    return "" if find_spec("numba") else f"numba is not installed; run: {how_to_get(['numba'])}"


@dataclass(frozen=True)
class Target:
    """The processors that machine code is for."""

    triple: str
    cpu: str
    features: str = ""


def library(translation: Translation, layout: np.dtype[Any]) -> Path | None:
    """The compiled library; None where it has to be compiled and numba or a C compiler is missing.

    Raises CannotCompile.
    """
    shape = repr(layout)
    if brought := shipped(_name(translation, shape, SHIPPED)):
        return brought
    missing = _without_numba()
    if not missing:
        target = cache_folder() / _name(translation, shape, _compiler())
        if target.exists() or compiler():
            return made_once(target, partial(_compile, translation, layout, target))
        missing = NO_COMPILER
    _warn(translation.form.__name__, missing)
    return None


def _compile(translation: Translation, layout: np.dtype[Any], target: Path) -> None:
    with tempfile.NamedTemporaryFile(suffix=".o") as file:
        file.write(emitted(translation, layout, _this_machine()))
        file.flush()
        _link(translation, target, Path(file.name))


@cache
def _warn(name: str, missing: str) -> None:
    """Once."""
    log.warning("%s decides as plain Python, which takes longer: %s", name, missing)


def shipped_name(translation: Translation, layout: np.dtype[Any]) -> str:
    """Of a library that was compiled for all processors of a kind, with whatever compiler."""
    return _name(translation, repr(layout), SHIPPED)


def _link(translation: Translation, target: Path, made: Path) -> None:
    try:
        compile_to(target, (made,), ("-shared", "-lm", "-Wl,-z,defs"))
    except TestbedError as error:
        if "undefined reference" not in str(error):
            raise
        why = "something in it needs Python's memory, such as a text that is printed or put together"
        raise CannotCompile(*translation.place, why) from error


def _name(translation: Translation, layout: str, by: str) -> str:
    digest = hashlib.sha256(repr((translation.digest, layout, _form(), by)).encode())
    return f"controller-{digest.hexdigest()[:16]}.so"


@cache
def _form() -> str:
    """How code of ours is translated, and what it is called with."""
    read = hashlib.sha256(repr((ACK, ARRIVED)).encode())
    for file in sorted(SOURCE.glob("*.py")):
        read.update(file.read_bytes())
    return read.hexdigest()


@cache
def _compiler() -> str:
    """What makes machine code of a translation here."""
    return repr(([version(one) for one in NEEDS], platform.python_version(), _processor()))


def _processor() -> str:
    """What the code is optimised for: a cache may be on a disk that machines share."""
    known = Path("/proc/cpuinfo")
    lines = known.read_text().splitlines() if known.exists() else []
    found = [line for line in lines if line.startswith(("model name", "flags", "Features"))]
    return platform.machine() + "".join(sorted(set(found)))


def _this_machine() -> Target:
    import llvmlite.binding as llvm

    return Target(llvm.get_default_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())


def emitted(translation: Translation, layout: np.dtype[Any], target: Target) -> bytes:
    """The object file. Raises CannotCompile."""
    import llvmlite.binding as llvm
    import numba
    from numba.core import errors

    numba_has_ours()
    record, told = numba.from_dtype(layout), numba.from_dtype(told_by(translation.interface))
    compiled = {}
    for name, one in translation.functions.items():
        one.globals |= {WHOLE: whole_number, POWER: power}
        compiled[name] = numba.njit(boundscheck=True, **UNWRAPPED)(
            FunctionType(_anywhere(one.code), one.globals, name, one.defaults)
        )
    for one in translation.functions.values():
        one.globals.update({known: compiled[name] for known, name in one.calls.items()})
    entry = _entry(translation, compiled)
    signature = numba.void(record, numba.int64, numba.float64, numba.int64, told)
    try:
        made = numba.njit(signature, **UNWRAPPED)(entry)
    except errors.NumbaError as error:
        raise _explained(translation, error) from None
    except KeyError as error:  # numba asked a record for a field that it does not have
        name = str(error.args[0])
        layouts, more = ((ARRIVAL, RECEIVER), ()) if translation.interface is CREDITS else ((ACK, HOP), ("int_stack",))
        known = {*(name for one in (PATH, *layouts) for name in one.names or ()), *translation.options, *more}
        place = translation.attributes.get(name, translation.place)
        raise CannotCompile(*place, f"there is no '{name}'; {nearest(name, list(known))}") from None
    except Exception as error:  # numba's own, about what it has never seen
        raise CannotCompile(*translation.place, f"numba fails: {type(error).__name__}: {error}") from error
    (types,) = made.signatures
    text = made.inspect_llvm(types).replace(made.overloads[types].fndesc.llvm_func_name, "decide")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=3, reloc="pic", codemodel="default"
    )
    module = llvm.parse_assembly(text)
    module.triple = target.triple
    code: bytes = machine.emit_object(module)
    return code


def _anywhere(code: CodeType) -> CodeType:
    """The same code wherever the file is: numba writes the file's name where it raises."""
    return code.replace(co_filename=Path(code.co_filename).name)


def _entry(translation: Translation, compiled: dict[str, Any]) -> Any:
    lines, namespace = ["def decide(flow, event, now, number, ack):", "    pass"], {}
    interface = translation.interface
    for event in translation.events:
        name = translation.method(translation.form, event)
        namespace[name] = compiled[name]
        lines += [
            f"    if event == {interface.names.index(event)}:",
            f"        {name}(flow, {interface.events[event]})",
        ]
    exec("\n".join(lines), namespace)
    return namespace["decide"]


def whole_number(value: int) -> int:
    """Stands around what is kept as a whole number; numba accepts nothing else there."""
    return value


def power(base: float, exponent: float) -> float:
    """Stands for ``base ** exponent``."""
    return float(base**exponent)


@cache
def numba_has_ours() -> None:
    """Tell numba what is special about our functions."""
    from numba.core import errors, types
    from numba.extending import overload

    @overload(power)
    def _power(base, exponent):  # type: ignore[no-untyped-def]
        if isinstance(base, types.Integer) and isinstance(exponent, types.Integer):
            return lambda base, exponent: base**exponent
        # LLVM must not know the exponent: it would square for 2, which is not always what libm's pow returns.
        return lambda base, exponent: math.pow(float(base), 0.75 if math.isnan(base) else float(exponent))

    @overload(whole_number)
    def _whole_number(value):  # type: ignore[no-untyped-def]
        if isinstance(value, types.Integer | types.Boolean):
            return lambda value: value
        raise errors.TypingError(
            f"{OURS} this field is declared int, and the value may have a fraction; write int(...)"
        )


def _explained(translation: Translation, error: Exception) -> CannotCompile:
    """What numba says, in one line with the author's file and line: the innermost place comes first."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    codes = [one.code for one in translation.functions.values()]
    files = {Path(code.co_filename).name: code.co_filename for code in codes}
    places = [
        (files[Path(file).name], int(line))
        for file, line in re.findall(r'File "([^"]+)", line (\d+):', text)
        if Path(file).name in files
    ]
    file, line = places[0] if places else (codes[0].co_filename, codes[0].co_firstlineno)
    ours = re.search(f"{OURS} (.*)", text)
    said = [one.strip() for one in text.splitlines() if one.strip() and not one.startswith("Failed in")]
    return CannotCompile(file, line, ours.group(1) if ours else said[0])
