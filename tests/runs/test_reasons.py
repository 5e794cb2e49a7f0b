"""docs/reference/verdicts.md is what the code says."""

from __future__ import annotations

from testbed.fidelity.verdict import LIMITS
from testbed.runs import reasons


def test_the_page_is_current_and_has_every_reason_with_what_to_do() -> None:
    page = reasons.text()
    assert reasons.FILE.read_text(encoding="utf-8") == page, "run: make schema"
    for limit in LIMITS:
        assert f"| `{limit.what}`" in page
    for said in ("packets are not conserved at ...", "agents read NAKs that no receiver made", "PFC deadlock"):
        assert f"`{said}`" in page
    assert "| ... |" not in page
    assert "``" not in page
