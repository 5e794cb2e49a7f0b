"""What is made of the code is what the code says: pages of docs/reference, and the schema of experiment files."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.reference import experiment, verdicts
from scripts.reference.__main__ import WRITTEN
from testbed.fidelity.verdict import LIMITS


@pytest.mark.parametrize("file", WRITTEN, ids=lambda file: file.name)
def test_it_is_current(file: Path) -> None:
    assert file.read_text(encoding="utf-8") == WRITTEN[file](), "run: make schema"


def test_each_choice_of_a_plugin_takes_its_options() -> None:
    assert experiment.text().count("*any other*") == 4


def test_every_reason_of_a_verdict_is_there_with_what_to_do() -> None:
    page = verdicts.text()
    for limit in LIMITS:
        assert f"* `{limit.what}`" in page
    for said in ("packets are not conserved at ...", "agents read NAKs that no receiver made", "PFC deadlock"):
        assert f"`{said}`" in page
    assert "* `...`" not in page
    assert ": ...\n" not in page
    assert "``" not in page
