"""docs/explanation/fidelity.md, the contract, says what the code does: tolerances, and every fault."""

from __future__ import annotations

import pytest

from testbed.engines.kernel.calibration import calibration
from testbed.engines.kernel.faults.catalogue import FAULTS
from tests.support.checkout import ROOT

CONTRACT = (ROOT / "docs/explanation/fidelity.md").read_text()


def row(first: str) -> list[str]:
    """The cells of the table row that begins so."""
    (line,) = [line for line in CONTRACT.splitlines() if line.startswith(f"| {first} |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_there_with_what_the_verdict_says(fault: str) -> None:
    assert row(fault)[1] == f"`{FAULTS[fault][1]}`"


def test_tolerances_of_the_calibration_are_those_of_the_code() -> None:
    assert f"rate and RTT within {calibration.TOLERANCE:.0%}".replace("%", " %") in CONTRACT
    assert f"{calibration.ATTEMPTS} attempts" in CONTRACT


def test_it_is_one_page() -> None:
    words = " ".join(line for line in CONTRACT.splitlines() if not line.startswith("|")).split()
    assert len(words) < 1000
