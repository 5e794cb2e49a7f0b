"""The pages' commands run: what they make and show as it stands, experiments for 40 us on the virtual engine.

Left out is what a reader brings (files, result folders) and what needs root or a lab. Tutorials and the gallery are
walked as a whole by tests of their own, and other verbs have theirs in tests/cli.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from tests.support.checkout import ROOT
from tests.support.commands import command
from tests.support.understood import typed

PAGES = sorted({*ROOT.glob("docs/*/*.md")} - {*ROOT.glob("docs/start/*.md")})
VERBS = {"run", "new", "show", "list"}
NEED_ROOT = {"tcp-cross", "tcp-cross-one-class", "http", "allreduce-gloo"}  # tests/engines/apps
CUT = ["--engine", "virtual", "--duration", "40 us", "--set", "time.warmup=0 s", "--set", "record.report=false"]
OF_A_RUN = {"--engine", "--duration", "--dilation", "--out", "--pcap", "--seed", "--metrics-addr"}  # `CUT` says them
ALONE = {"--ui", "--isolate"}
BROUGHT = re.compile(r"\./|.*\.(yaml|json|html|zip|so|txt)$|RUN$|RESULT$|.*=.*\.(json|zip)$")


def cut(words: list[str], out: Path) -> list[str]:
    """A short run of the same: what decides about length, engine and folder is replaced."""
    of_a_run = [one in OF_A_RUN or before in OF_A_RUN for before, one in pairwise(words)]
    kept = [one for one, dropped in zip(words[1:], of_a_run, strict=True) if not dropped and one not in ALONE]
    return ["run", *kept, *CUT, "--metrics-addr", "none", "--out", str(out)]


def runs_here(words: list[str], folder: Path) -> bool:
    """Whether everything that the command names is there, without root and without hosts."""
    named = [one.partition("routing=")[2] or one for one in words if BROUGHT.match(one.partition("routing=")[2] or one)]
    return (
        words[0] in VERBS
        and not NEED_ROOT & {*words}
        and "--inventory" not in words
        and all((folder / one).exists() for one in named)
    )


def test_cheap_commands_of_every_page_run(tmp_path: Path) -> None:
    """In the order of their page and in its folder; what two pages have in common runs once."""
    ran: set[tuple[str, ...]] = set()
    for page in PAGES:
        folder = tmp_path / page.stem
        folder.mkdir(exist_ok=True)
        for words in typed(page.read_text()):
            if not runs_here(words, folder) or (tuple(words) in ran and words[0] != "new"):
                continue
            ran.add(tuple(words))
            done = command(*(cut(words, tmp_path / str(len(ran))) if words[0] == "run" else words), cwd=folder)
            if "is not before time.duration" in done.stderr:  # its events want its own length
                whole = [one for one in words if one not in ALONE]
                done = command(*whole, "--engine", "virtual", "--set", "record.report=false", cwd=folder)
            assert done.returncode in (0, 3), f"{page.name}: testbed {' '.join(words)}\n{done.stderr}"
    assert len([words for words in ran if words[0] == "run"]) > 45
