"""docs/reference/cli.md, of the command line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from scripts.reference.markdown import REFERENCE, ROOT
from testbed.cli import help as told
from testbed.cli.main import commands

FILE = REFERENCE / "cli.md"
PAGE = re.compile(r"\b(docs/[\w/-]+\.md|[A-Z]+\.md)")

INTRODUCTION = """\
# The command line

*Written by `make schema` from `testbed/cli`; change it there. `testbed COMMAND --help` has more examples.*

stdout is for results, stderr for everything else. With `--format json`, which nearly all commands take, stdout holds
JSON alone. Tables fit the terminal, or `COLUMNS`.

| exit code | meaning |
|---|---|
| 0 | clean: the run's verdict is `clean`, or the command did what it was asked |
| 1 | error while running, or what was checked does not hold |
| 2 | bad input: nothing was built |
| 3 | it ran, but the result is degraded: the emulation could not keep up, or was ended early |

`testbed --verbose VERB ...` (`-v`) logs what is built, decided and refused, but not per packet or decision, nor by the
runs of a sweep.

`testbed --install-completion` has bash, zsh or fish complete experiments, plugins, options, and the keys and values of
`--set`. Below, the default stands in brackets.

"""


def text() -> str:
    """The page."""
    return INTRODUCTION + "".join(_page())


def _page() -> Iterator[str]:
    seen: dict[told.Row, str] = {}
    for heading, found in told.by_purpose(commands()):
        yield f"\n## {heading}\n"
        for name, verb in found.items():
            if not hasattr(verb, "commands"):
                yield from _command(f"testbed {name}", verb, seen)
            for below, one in getattr(verb, "commands", {}).items():
                yield from _command(f"testbed {name} {below}", one, seen)


def _command(name: str, command: Any, seen: dict[told.Row, str]) -> Iterator[str]:
    """A command; what an earlier one takes as well is named."""
    yield f"\n### `{name}`\n"
    first, *more = told.paragraphs(command)
    yield f"\n{_linked(first)}\n"
    yield from (f"\n{''.join(f'    {line}' for line in told.examples(one)[:1]) or _linked(one)}\n" for one in more)
    rows = [*told.arguments(command), *told.options(command)]
    own = [one for one in rows if one not in seen]
    if own:
        yield "\n"
        yield from map(_row, own)
    also = [one for one in rows if one in seen and one.name != "--format"]  # which nearly all have
    if owners := dict.fromkeys(seen[one] for one in also):
        yield f"\nAs in {'; '.join(_named(owner, [one for one in also if seen[one] == owner]) for owner in owners)}.\n"
    seen.update(dict.fromkeys(own, name))


def _named(owner: str, rows: list[told.Row]) -> str:
    options = " ".join(one.name.partition(",")[0] for one in rows)
    return f"[`{owner.removeprefix('testbed ')}`](#{owner.replace(' ', '-')}): `{options}`"


def _row(one: told.Row) -> str:
    meaning = one.meaning.replace("*", "\\*").replace("<", "&lt;")
    default = f" (`{one.default}`)" if one.default else ""
    return f"* {f'`{one.name}` {one.values}'.strip().replace('|', ', ')}{default}: {_linked(meaning)}\n"


def _linked(said: str) -> str:
    """Pages that are named become links."""
    return PAGE.sub(
        lambda page: f"[{page[0].rpartition('/')[2]}]({os.path.relpath(ROOT / page[0], FILE.parent)})", said
    )
