"""Tuners that are broken fail for the right reason."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

from testbed.sdk.conformance.controllers import Result
from testbed.sdk.conformance.tuners import PORTS, wrong
from testbed.tuner import Thresholds
from tests.sdk.conformance.broken import checked, line_of

GOOD = "Thresholds.uniform(len(self.ports), 1e5, 4e5, 0.2)"


def of_tuner(folder: Path, initial: str, on_slot: str = "None") -> dict[str, Result]:
    text = f"""
    import math, random
    import numpy as np
    from testbed.tuner import Thresholds, Tuner

    class Broken(Tuner):
        name = "broken"

        def __init__(self, config, ports):
            super().__init__(config, ports)
            self.slot = 1e-4

        def initial(self):
            return {initial}

        def on_slot(self, now, sample):
            return {on_slot}
    """
    return checked("tuner", folder, dedent(text))


def test_working_tuner_passes(tmp_path: Path) -> None:
    results = of_tuner(tmp_path, GOOD, "Thresholds(sample.kmin, sample.kmax, sample.pmax)")
    assert {result.outcome for result in results.values()} == {"passed"}
    assert "50 of 50 slots" in results["thresholds stay valid in every slot"].why


@pytest.mark.parametrize(
    ("thresholds", "why"),
    [
        ("Thresholds.uniform(3, 5e5, 4e5, 0.2)", "breaks 0 <= Kmin <= Kmax: Kmin 500000 B, Kmax 400000 B"),
        ("Thresholds.uniform(3, math.nan, 4e5, 0.2)", "breaks 0 <= Kmin <= Kmax"),
        ("Thresholds.uniform(3, -1, 4e5, 0.2)", "breaks 0 <= Kmin <= Kmax"),
        ("Thresholds.uniform(3, 1e5, 1e9, 0.2)", "breaks Kmax <= buffer"),
        ("Thresholds.uniform(3, 1e5, math.inf, 0.2)", "breaks Kmax <= buffer"),
        ("Thresholds.uniform(3, 1e5, 4e5, 1.2)", "breaks 0 <= Pmax <= 1"),
        ("Thresholds.uniform(2, 1e5, 4e5, 0.2)", "kmin has shape (2,); one value per port, (3,), is expected"),
        ("(1e5, 4e5, 0.2)", "expected Thresholds, got tuple"),
    ],
)
def test_broken_thresholds_fail(tmp_path: Path, thresholds: str, why: str) -> None:
    assert why in of_tuner(tmp_path, thresholds)["initial thresholds are valid"].why
    later = of_tuner(tmp_path, GOOD, thresholds)
    assert later["initial thresholds are valid"].passed
    assert why in later["thresholds stay valid in every slot"].why
    assert not later["thresholds stay valid in every slot"].passed


def test_tuner_that_fails_on_an_empty_queue(tmp_path: Path) -> None:
    results = of_tuner(tmp_path, GOOD, "1 / int(sample.queue.sum())")
    line = line_of(tmp_path, "1 / int")
    assert (
        f"tuner 'broken' ({tmp_path / 'broken.py'}, line {line}): ZeroDivisionError"
        in results["thresholds stay valid in every slot"].why
    )


def test_tuner_that_reports_a_value_per_port(tmp_path: Path) -> None:
    results = of_tuner(tmp_path, GOOD, "self.report.update(reward=sample.queue)")
    assert "report['reward'] is (3,), expected one number" in results["thresholds stay valid in every slot"].why


def test_tuner_with_unseeded_randomness(tmp_path: Path) -> None:
    results = of_tuner(tmp_path, GOOD, "Thresholds.uniform(3, random.uniform(1e4, 1e5), 4e5, 0.2)")
    assert [name for name, result in results.items() if not result.passed] == ["same slots, same decisions"]


def test_names_the_port_that_is_wrong() -> None:
    thresholds = Thresholds(np.array([1e5, 1e5, 9e5]), np.full(3, 4e5), np.full(3, 0.2))
    assert wrong(thresholds, PORTS).startswith("port spine breaks")
    assert wrong(Thresholds.uniform(3, 1e5, 1e5, 1), PORTS) == ""
