"""docs/reference/results.md is what the registry of figures says."""

from __future__ import annotations

from testbed.results import glossary


def test_the_page_is_current() -> None:
    page = glossary.FILE.read_text(encoding="utf-8")
    assert glossary.BEGIN in page
    assert glossary.text(page) == page, "run: make schema"
