"""Which C needs which: each unit says in its header what it offers, and nothing needs what needs it."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from tests.support.checkout import ROOT

FILES = sorted(path for path in (ROOT / "testbed").rglob("*.[ch]") if "doca_pcc" not in path.parts)
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|#define[^\n]*(?:\\\n[^\n]*)*|"(?:\\.|[^"\n])*"', re.S)
HEAD = r"^(?!static|typedef|return|else|case)[a-z_][\w \t*]*?\b(\w+)\("
DEFINED = re.compile(HEAD + r"[^;{}]*\)\s*\{", re.M)
DECLARED = re.compile(HEAD + r"[^{}]*?\)(?: __attribute__\(\(\w+\)\))?;", re.M)
MARKED = re.compile(r"^(ASIDE|APART) ", re.M)
STATIC = re.compile(r"^static[\w \t*]*?\b(\w+)\(", re.M)


@cache
def code(path: Path) -> str:
    """Without comments, strings and macros, all of which may look like calls."""
    return MARKED.sub("", NOT_CODE.sub("", path.read_text()))


@cache
def included(path: Path) -> frozenset[Path]:
    """Files of the tree that it includes by itself."""
    found = re.findall(r'^#include "([^"]+)"', path.read_text(), re.M)
    return frozenset(Path(os.path.normpath(path.parent / name)) for name in found) & frozenset(FILES)


@cache
def called(path: Path) -> frozenset[str]:
    """Functions of others whose names stand before a bracket."""
    own = set(DEFINED.findall(code(path))) | set(STATIC.findall(code(path)))
    return frozenset(re.findall(r"\b(\w+)\(", DECLARED.sub("", code(path)))) - own


def where(pattern: re.Pattern[str]) -> dict[str, list[Path]]:
    found = defaultdict(list)
    for path in FILES:
        for name in pattern.findall(code(path)):
            found[name].append(path)
    return found


def test_nothing_needs_what_needs_it() -> None:
    defined = where(DEFINED)
    needs = {path: set(included(path)) for path in FILES}
    for path in FILES:
        needs[path].update(other for name in called(path) for other in defined.get(name, ()))
    assert any(path.name == "pace.c" and len(needs[path]) > 5 for path in FILES)  # it does find calls
    TopologicalSorter(needs).prepare()  # a CycleError names the files


def test_what_a_unit_offers_stands_in_a_header_that_others_include() -> None:
    declared = {name: paths for name, paths in where(DECLARED).items() if name in where(DEFINED)}
    units = [path for path in FILES if path.suffix == ".c"]
    alone = [f"{path.name}: {name}" for name, paths in declared.items() for path in paths if path in units]
    assert not alone, "declared in a .c file, where nobody sees who needs whom"
    lacking = [
        f"{path.name}: {name}, of {declared[name][0].name}"
        for path in units
        for name in sorted(called(path) & declared.keys())
        if not included(path) & set(declared[name])
    ]
    assert not lacking, "called, and its header is not included"
