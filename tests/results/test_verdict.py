"""The verdict as results keep it."""

from __future__ import annotations

from testbed.results.verdict import Exit, Reason, Verdict

LATE = Reason(what="pacing lag", how_much="p99 is 50%", remedy="raise --dilation")
CUT = Reason(what="the run ended early", how_much="Ctrl-C", remedy="let it end")


def test_without_a_reason_a_run_is_clean() -> None:
    assert (str(Verdict()), Verdict().exit_code) == ("clean", Exit.CLEAN)


def test_every_reason_is_told_with_its_remedy() -> None:
    verdict = Verdict(reasons=(LATE, CUT))
    assert str(verdict) == (
        "degraded: pacing lag: p99 is 50%; raise --dilation; also the run ended early: Ctrl-C; let it end"
    )
    assert verdict.exit_code == Exit.DEGRADED == 3


def test_it_comes_back_from_json_with_its_word() -> None:
    verdict = Verdict(reasons=(LATE,))
    assert verdict.model_dump()["word"] == "degraded"
    kept = {name: value for name, value in verdict.model_dump().items() if name != "word"}
    assert Verdict.model_validate(kept) == verdict
