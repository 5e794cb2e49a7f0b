"""What users read of plugins' options."""

from __future__ import annotations

from testbed.experiment import options


def test_docs_are_current() -> None:
    assert options.DOCS_FILE.read_text() == options.docs_text(), "run: make schema"
