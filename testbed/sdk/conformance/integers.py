"""Whether C does with whole numbers and without division, as the cores of NICs want it: what its compiler makes of it.

Looked at is LLVM's language, before the machine's: a fraction that is only moved is none, nor is a division by a number
that the source has, which becomes a multiplication.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from testbed.base.compiler import compile_to
from testbed.compiled import c_firmware
from testbed.compiled.c_library import FOLDER, SOURCE, Native, included
from testbed.sdk.conformance.answer import Answer

QUESTION = "whole numbers, no division"
AS_TEXT = ("-std=c99", "-O1", "-g", "-fno-inline", "-S", "-emit-llvm", f"-I{FOLDER}")
FUNCTION = re.compile(r"define .*?@([\w.]+)\(")
WITH_FRACTIONS = re.compile(
    r"\b(f(?:add|sub|mul|div|rem|neg|cmp)|fptosi|fptoui|sitofp|uitofp|fpext|fptrunc)\b|call (?:double|float) @([\w.]+)"
)
DIVISION = re.compile(r"\b([su](?:div|rem)) (?:exact )?i\d+ %?[\w.-]+, %")
LINE = re.compile(r"!dbg !(\d+)")
LOCATION = re.compile(r"^!(\d+) = (?:distinct )?!DILocation\(line: (\d+)", re.MULTILINE)


def question(native: Native) -> Answer:
    """Of the author's own code: what testbed adds around it is left out."""
    sources = c_firmware.sources(native.file) if c_firmware.named_by(native.file) else (native.file,)
    if sources[0].suffix != SOURCE:
        return None, "there is no source: a shared object was given"
    clang = shutil.which("clang")
    if clang is None:
        return None, "clang is needed to look; run: apt install clang"
    found = [f"{one.name}, {what}" for one in sources for what in _found(one, native, clang)]
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    return not found, found[0] + more if found else "no fraction is computed with, and nothing divided by a variable"


def _found(source: Path, native: Native, clang: str) -> Iterator[str]:
    """What there is, once per line."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "one.ll"
        compile_to(target, (source,), (*AS_TEXT, *(f"-I{one}" for one in included(native.file))), [clang])
        text = target.read_text(encoding="utf-8")
    lines, function, said = dict(LOCATION.findall(text)), "", set()
    for row in text.splitlines():
        if begun := FUNCTION.match(row):
            function = begun[1]
        fraction, division = WITH_FRACTIONS.search(row), DIVISION.search(row)
        if not (fraction or division) or row.startswith(("declare", "!")):
            continue
        at = LINE.search(row)
        line = lines.get(at[1], "?") if at else "?"
        what = f"divides by a variable ({division[1]})" if division else f"computes with fractions ({_name(fraction)})"
        if (function, line) not in said:
            said.add((function, line))
            yield f"line {line}, {function}: {what}"


def _name(found: re.Match[str] | None) -> str:
    assert found
    return str(found[1] or found[2].removeprefix("llvm.").removesuffix(".f64"))
