"""Scores of candidates: twice the same, better for the better one, 0 for what fails, each with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.engines.kernel.calibration import calibration
from testbed.errors import BadInput, Uncalibrated
from testbed.sdk.score.score import Outcome, Score, outcome, score
from testbed.sdk.score.suite import Trial

SHORT = (
    Trial("incast-8", ("utilisation", "queue", "loss"), ("time.duration=600 us", "time.warmup=200 us"), 2e-6, True),
    Trial("incast-2", ("fairness", "utilisation"), ("time.duration=600 us", "time.warmup=200 us"), 2e-6, True),
)
FAILING = """
from testbed.controller import Ack, CompiledController

class Mine(CompiledController):
    name = "mine"

    def on_ack(self, ack: Ack) -> None:
        {ack}
"""


def test_the_same_candidate_and_seed_have_the_same_number_however_it_is_run() -> None:
    first, again = (score("hpcc", SHORT, 7, jobs) for jobs in (1, 2))
    assert first == again
    assert first.total > 0
    assert score("hpcc", SHORT, 8, 1).total != first.total


@pytest.mark.root
@pytest.mark.measures
@pytest.mark.alone
def test_the_rack_gives_about_the_same_number() -> None:
    """At the least dilation that should be clean feedback is up to an eighth of an RTT late."""
    virtual, rack = (score("hpcc", SHORT[1:], 1, 1, engine) for engine in ("virtual", "kernel"))
    assert not rack.reasons
    assert rack.parts["utilisation"] == pytest.approx(virtual.parts["utilisation"], abs=0.05)
    assert rack.parts["fairness"] == pytest.approx(virtual.parts["fairness"], abs=0.05)


@pytest.mark.root
@pytest.mark.parallel
def test_a_rack_that_is_not_as_configured_is_an_error_and_no_score(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "TOLERANCE", -1.0)  # nothing is near enough
    monkeypatch.setattr(calibration, "ATTEMPTS", 1)
    with pytest.raises(Uncalibrated, match="incast-2: calibration failed, the rack is not as configured") as refusal:
        score("hpcc", SHORT[1:], 1, 1, "kernel")
    assert refusal.value.exit_code == 1


def test_what_reacts_scores_above_what_does_not() -> None:
    hpcc, fixed = (score(name, SHORT, 1, 2) for name in ("hpcc", "fixed"))
    assert hpcc.total > 2 * fixed.total
    assert hpcc.parts["queue"] > fixed.parts["queue"]
    assert fixed.parts["utilisation"] > 0.95
    assert not fixed.reasons


@pytest.mark.parametrize(
    ("ack", "said"),
    [
        ("self.rate = float('nan')", "nan"),
        ("self.window = -1.0", "-1"),
        ("self.rate = 1.0 / (ack.packets - ack.packets)", "division"),
    ],
    ids=["nan", "negative", "division"],
)
def test_what_fails_in_its_runs_scores_0_with_the_reason(tmp_path: Path, ack: str, said: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text(FAILING.format(ack=ack))
    found = score(str(file), SHORT[:1], 1, 1)
    assert found.total == 0
    (reason,) = found.reasons
    assert said in reason
    assert str(file) in reason


def test_a_cheat_scores_0_and_is_never_loaded(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n" + FAILING.format(ack="pass"))
    found = score(str(file), SHORT, 1, 1)
    assert (found.total, found.outcomes) == (0, ())
    assert "line 1: 'open' may not be used" in found.reasons[0]
    assert not (tmp_path / "ran").exists()


def test_a_part_is_the_geometric_mean_of_its_runs_and_the_number_that_of_the_parts() -> None:
    outcomes = [Outcome("a", {"queue": 0.25, "loss": 0.25}), Outcome("b", {"queue": 1.0})]
    found = Score("mine", outcomes)
    assert found.parts == {"queue": pytest.approx(0.5), "loss": pytest.approx(0.25)}
    assert found.total == pytest.approx(100 * (0.5 * 0.25) ** 0.5)
    assert Score("mine", [*outcomes, Outcome("c", {"loss": 0.0}, "it died")]).total == 0


def test_a_controller_that_the_experiment_names_has_its_own_options_as_all_others_have() -> None:
    """DCQCN in `incast-2` is held to a window, which it is not by itself."""
    trial, seeded = SHORT[1], SHORT[1].seeded(1, 0)
    found = outcome("dcqcn", trial, seeded).parts
    assert found == outcome("dcqcn", trial, [*seeded, "controller.window=none"]).parts
    assert found != outcome("dcqcn", trial, [*seeded, "controller.preset=paper", "controller.window=bdp"]).parts


def test_what_is_not_there_is_no_score() -> None:
    with pytest.raises(BadInput, match="no controller 'hpc' is installed; did you mean 'hpcc'"):
        score("hpc", SHORT, 1, 1)
