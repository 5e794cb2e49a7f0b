"""Pages keep to docs/style.md, as far as a program can see it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.checkout import ROOT

PAGES = sorted(
    page
    for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"))
    if page.name not in ("CHANGELOG.md", "style.md") and "results" not in page.parts
)
DATED = ("findings", "adr")  # pages that may tell a day
LONGEST = 70  # words of a sentence
MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
SAID = {
    "the day of a measurement belongs to the bench and the findings": rf"\b\d\d? (?:{MONTHS})\b|\b(?:{MONTHS})\s20\d\d",
    "say what is; how it came to be is in git": r"\b(?:used to be|formerly|previously|recently|nowadays|as of today)\b",
    "it says nothing": r"\b(?:simply|basically|obviously|easily|of course|very|in order to|please note|be noted)\b",
    "praise": r"\b(?:powerful|robust|seamless(?:ly)?|cutting-edge|state-of-the-art|leverages?)\b",
    "write it out": r"\be\.g\.|\bi\.e\.|\band/or\b|\betc\.",
}
NOT_PROSE = re.compile(r"```.*?```|<!--.*?-->|^ {4,}[^*\d\s][^\n]*$|^(?:\||#)[^\n]*$|`[^`]*`|\"[^\"\n]*\"", re.S | re.M)
QUOTES = ("`", '"')
ENDS = re.compile(r"(?<=[.!?:;])\s+|\n\s*\n|\n\s*(?:[*-]|\d+\.)\s")


def prose(text: str) -> str:
    """Without code, tables and what others have said."""
    return NOT_PROSE.sub(
        lambda found: "x" if found[0].startswith(QUOTES) and not found[0].startswith("```") else "\n\n", text
    )


def faults(text: str, may_tell_days: bool = False) -> list[str]:
    """What a text has that the style has not."""
    said = [
        f"{rule}: {' '.join(found[0].split())}"
        for rule, words in SAID.items()
        if not (may_tell_days and "day of" in rule)
        for found in re.finditer(words, prose(text), re.I if MONTHS not in words else 0)
    ]
    sentences = (sentence.split() for sentence in ENDS.split(prose(text)))
    long = [f"{len(words)} words: {' '.join(words[:9])} ..." for words in sentences if len(words) > LONGEST]
    return said + long


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_keeps_to_the_style(page: Path) -> None:
    dated = bool({*page.relative_to(ROOT).parts} & {*DATED})
    assert not faults(page.read_text(), dated), f"{page.relative_to(ROOT)}: see docs/style.md"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_begins_with_what_it_is_for(page: Path) -> None:
    """Prose comes behind the title, and no command, table or heading."""
    _, _, behind = page.read_text().partition("\n# " if page.read_text().startswith("---") else "# ")
    first = re.sub(r"<!--.*?-->", "", behind.partition("\n")[2], flags=re.S).lstrip("\n")
    assert re.match(r"[\w*`(\[]", first), f"{page.relative_to(ROOT)}: see docs/style.md"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("It was measured on 23 November 2026.", "the day of a measurement"),
        ("It simply works.", "it says nothing: simply"),
        ("A robust design.", "praise: robust"),
        ("The rate used to be scaled.", "say what is"),
        ("Queues, e.g. those of a port.", "write it out"),
        ("word " * 71, "71 words"),
    ],
)
def test_what_the_style_forbids_is_seen(text: str, fault: str) -> None:
    assert any(one.startswith(fault) for one in faults(text))
    assert not faults(f"Fine. `{text}`")
