"""What users read of metrics."""

from __future__ import annotations

from testbed.live import glossary


def test_the_documentation_is_current() -> None:
    assert glossary.FILE.read_text(encoding="utf-8") == glossary.text(), "run: make schema"
