"""The order of scores, compared between two engines."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.rank import ENGINES, TAU, TRIALS, Kept, kendall, row
from testbed.errors import BadInput
from testbed.sdk.score.score import Outcome
from tests.support.checkout import ROOT


def outcomes(**queues: float) -> dict[str, Outcome]:
    """By experiment."""
    return {name: Outcome(name, {"queue": value}) for name, value in queues.items()}


def test_tau_is_the_share_of_pairs_in_the_same_order_less_that_of_the_others() -> None:
    virtual = [outcomes(a=0.1), outcomes(a=0.2), outcomes(a=0.3)]
    assert kendall(virtual, [outcomes(a=0.1), outcomes(a=0.3), outcomes(a=0.2)]) == (pytest.approx(1 / 3), 3)
    assert kendall(virtual, virtual[::-1]) == (-1, 3)


def test_a_pair_is_compared_over_the_runs_that_both_have_on_both_engines() -> None:
    """The second run of the first controller was spoiled in the rack: without it that one is behind, with it ahead."""
    virtual = [outcomes(a=0.1, b=0.9), outcomes(a=0.2, b=0.2)]
    assert kendall(virtual, [outcomes(a=0.1), outcomes(a=0.2, b=0.2)]) == (1, 1)
    assert kendall(virtual, [outcomes(b=0.9), outcomes(a=0.2)]) == (0, 0)


def test_a_second_call_goes_on_where_the_first_was_ended(tmp_path: Path) -> None:
    """What Ctrl-C has ended is not kept; what the machine spoiled is, as an attempt."""
    file, trial = tmp_path / "kept.csv", TRIALS[0]
    first = Kept(file)
    first.add("kernel", "hpcc", Outcome(trial.experiment, {"queue": 0.1}, degraded="degraded: pacing lag: p99 is 30%"))
    with pytest.raises(KeyboardInterrupt):
        first.add("kernel", "hpcc", Outcome(trial.experiment, {"queue": 0.0}, why="Ctrl-C"))
    second = Kept(file)
    assert [one.parts for one in second.attempts("kernel", "hpcc", trial)] == [{"queue": 0.1}]
    assert second.clean("kernel", "hpcc") == {}
    second.add("kernel", "hpcc", Outcome(trial.experiment, {"queue": 0.2}))
    assert Kept(file).clean("kernel", "hpcc")[trial.experiment].parts == {"queue": 0.2}


@pytest.mark.parametrize(("more", "counts"), [("", True), ("; also pacing lag: p99 is 30%", False)])
def test_busy_cores_alone_spoil_no_run(more: str, counts: bool) -> None:
    kept = Kept(None)
    degraded = f"degraded: CPU overload: one core was 95% busy for half a second; a --dilation 1.1 times{more}"
    kept.add("kernel", "hpcc", Outcome(TRIALS[0].experiment, {"queue": 0.1}, degraded=degraded))
    assert bool(kept.clean("kernel", "hpcc")) is counts


def test_what_is_no_file_of_an_earlier_call_is_refused(tmp_path: Path) -> None:
    for content in ("engine,controller\n", "{}"):
        (tmp_path / "kept.csv").write_text(content)
        with pytest.raises(BadInput, match=r"kept.csv: expected lines of engine, controller, .*; give the file of an"):
            Kept(tmp_path / "kept.csv")


def test_the_order_that_is_reported_is_that_of_the_runs_that_are_kept() -> None:
    kept = Kept(ROOT / "docs/findings/results/score-rank.csv")
    names = sorted({controller for _, controller, _ in kept.runs})
    found = row(names, kept)
    assert float(found.measured) >= TAU
    said = (ROOT / "docs/howto/score.md").read_text()
    scores = (ROOT / "docs/findings/tables/score.csv").read_text()
    assert f"**Tau is {found.measured} over {found.note.split(';')[0]}**" in said
    assert f"All {len(names)} controllers on all six experiments" in said
    tau, pairs = kendall(*([kept.last(engine, name) for name in names] for engine in ENGINES))
    assert tau >= TAU
    assert f"**{tau:.2f} over {pairs} pairs**" in said
    for name, total in zip(names, found.values["virtual"], strict=True):
        assert f"\n{name},{total:.1f}," in scores
