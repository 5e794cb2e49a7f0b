"""The answer in words and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from testbed.advise import present
from testbed.advise.advice import Advice
from testbed.advise.check import Checked, Paired, paired
from testbed.advise.evidence import Settings
from testbed.advise.objective import share
from testbed.advise.verdict import percent, signed, span
from testbed.results.compare.median import Estimate
from testbed.results.summary import FIGURES

WORDS = {"change": "Change it", "nothing": "Change nothing", "impossible": "It cannot be had"}


def figures(advice: Advice) -> list[Paired]:
    """Before and after, on the check's draws: what the objective and the constraints are about, by workload."""
    checked = advice.checked.advised
    if checked is None or checked.why:
        return []
    draws = advice.task.check_draws
    was, now = (advice.beside.runs(one, draws) for one in ((), checked.candidate))
    return [
        paired(name, figure, now[name], was[name])
        for name in advice.task.names
        for figure in asked(advice, name)
        if not all(math.isnan(run.get(figure, math.nan)) for run in was[name])
    ]


def asked(advice: Advice, workload: str) -> list[str]:
    """The figures of a workload that the question names."""
    here = [one.condition for one in advice.task.constraints if one.workload in {"", workload}]
    named = [name for condition in here for name in condition.metrics]
    return list(dict.fromkeys([*advice.beside.aim.figures[workload], *named]))


def difference(one: Paired) -> str:
    """With its interval."""
    found = one.difference
    if not one.relative:
        return f"{FIGURES[one.figure].text(found.median)} more" if math.isfinite(found.median) else "not known"
    return f"{signed(found.median)} ({signed(found.low)} to {signed(found.high)})"


def lines(advice: Advice) -> Iterator[str]:
    """For a terminal."""
    yield f"{WORDS[advice.verdict.word]}: {'; '.join(advice.verdict.reasons)}"
    if advice.checked.advised:
        candidate = advice.checked.advised.candidate
        yield "what was put forward:" if advice.verdict.word != "change" else "the change:"
        for knob in advice.space.changed(candidate):
            text = dict(one.split("=", 1) for one in candidate)[knob.key]
            now = present.shown(knob, advice.space.now[knob.key])
            yield f"  {', '.join((knob.key, *knob.also))}: {now} -> {present.shown(knob, text)}"
    for one in figures(advice):
        figure = FIGURES[one.figure]
        yield (
            f"  {one.workload}, {figure.label or one.figure}: {figure.text(one.before)} -> {figure.text(one.after)}, "
            f"{difference(one)}"
        )
    for under in advice.checked.under:
        yield f"  {under.condition.workload}, {under.condition.name}: {under.missing or span(under.gain)}"
    for ranked in advice.checked.contenders:
        why = ranked.standing.why or "; ".join(f"breaks {one}" for one in ranked.standing.broken)
        yield f"  {ranked.contender.name} instead: {percent(ranked.standing.gain)}{f'; {why}' if why else ''}"
    yield more(advice)
    yield from advice.task.notes


def more(advice: Advice) -> str:
    """How much was searched, and what searching on would bring."""
    best = advice.history.best()
    tried = len({one.standing.candidate for one in advice.history.tried})
    stopped = sum(one.draws < advice.history.draws for one in advice.history.tried)
    told = f"{tried} candidates ({stopped} stopped after one draw), {advice.runs} runs"
    if len(best) < 2 or best[-1] <= 0:
        return f"{told}; none was better in all draws, and searching on may not change that"
    half, last = best[len(best) // 2], best.index(best[-1]) + 1
    return (
        f"{told}; the best came as number {last}, and the second half of the search brought "
        f"{100 * (share(best[-1]) - share(half)):.1f} % of gain"
    )


def as_dict(advice: Advice) -> dict[str, Any]:
    """For JSON: SI units, gains as shares (0.1: a tenth less), what is not known is null."""
    checked: Checked = advice.checked
    return {
        "verdict": advice.verdict.word,
        "reasons": list(advice.verdict.reasons),
        "notes": list(advice.task.notes),
        "question": advice.task.question.model_dump(),
        "present": dict(advice.space.now),
        "advised": _settings(checked.advised.candidate) if checked.advised else None,
        "gain": _estimate(checked.gain),
        "figures": [
            {"workload": one.workload, "figure": one.figure, "before": one.before,
             "after": one.after, "relative": one.relative, "difference": _plain(one.difference)}
            for one in figures(advice)
        ],
        "conditions": [
            {"workload": one.condition.workload, "condition": one.condition.name, "gain": _estimate(one.gain),
             "missing": one.missing}
            for one in checked.under
        ],
        "instead": [
            {"name": one.contender.name, "source": one.contender.source,
             "settings": _settings(one.contender.candidate), "gain": share(one.standing.gain),
             "broken": list(one.standing.broken), "why": one.standing.why}
            for one in checked.contenders
        ],
        "without": [{"key": one.knob.key, "gain": share(one.without.gain)} for one in advice.effects],
        "search": {
            "candidates": len(advice.history.tried), "runs": advice.runs, "seconds": round(advice.seconds, 1),
            "best": [share(one) for one in advice.history.best()], "told": more(advice),
        },
    }  # fmt: skip


def _settings(candidate: Settings) -> dict[str, str]:
    return dict(one.split("=", 1) for one in candidate)


def _estimate(gain: Estimate) -> dict[str, float]:
    return {name: share(getattr(gain, name)) for name in ("median", "low", "high")}


def _plain(one: Estimate) -> dict[str, float]:
    return {name: getattr(one, name) for name in ("median", "low", "high")}
