"""`meson setup`: as far as an exported project is built on an emulated host. It makes the build folder."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.emulated_lab.store import Store


def main(arguments: list[str], _store: Store) -> int:
    words = [word for word in arguments if not word.startswith("-")]
    source = Path(words[2] if len(words) > 2 else ".")
    if words[:1] != ["setup"] or len(words) < 2 or not (source / "meson.build").exists():
        print("ERROR: Neither source directory nor build directory contain a build file meson.build.", file=sys.stderr)
        return 1
    build = Path(words[1])
    build.mkdir(exist_ok=True)
    (build / "build.ninja").write_text(f"# {source.resolve()}\n")
    return 0
