"""What a reader gets of a plan: lines, JSON, and one page to show to a colleague."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from testbed.base.atomic import atomic_write
from testbed.base.json_text import json_text
from testbed.results import folder as results
from testbed.results.record import EngineName
from testbed.results.report import page
from testbed.runs.plans.case import TestPlan
from testbed.runs.plans.follow import Finding, Outcome
from testbed.units import show_rate

PAGE, DATA = "plan.html", "plan.json"
HOW: dict[EngineName, str] = {
    "virtual": "Virtual engine: a simulation that runs the rack's own programs. ",
    "kernel": "Kernel engine: real packets through Linux, in time that is dilated as much as each case says. ",
}
LENGTHS = "Where the plan runs traffic for minutes, this runs it for 10 ms at most, fairness for 20."
MARKS = {"pass": "✓", "fail": "✗", "not run": "-"}


def lines(outcome: Outcome) -> Iterator[str]:
    """Of one run of a case."""
    yield f"{_title(outcome)}: {outcome.word}{f', {outcome.missing}' if outcome.missing else ''}"
    yield from (f"  FAIL   {one}" for one in outcome.broken)
    for one in outcome.findings:
        if one.expectation.missing:
            yield f"  -      {one.expectation.says}: does not apply, {one.expectation.missing}"
            continue
        shown = "noted" if not one.expectation.judges else "pass" if one.passed else "FAIL"
        yield f"  {shown:<5}  {one.expectation.says}: {_measured(one)}{_expected(one)}"


def total(outcomes: Sequence[Outcome]) -> str:
    """The last line."""
    counts = Counter(one.word for one in outcomes)
    return ", ".join(f"{counts[each]} {each}" for each in MARKS)


def as_dict(plan: TestPlan, outcomes: Sequence[Outcome], engine: EngineName, tested: str = "") -> dict[str, Any]:
    """For JSON; rates in bit/s, what was not measured is null; ``tested``: the file that describes the switch."""
    return {
        "plan": plan.name, "title": plan.title, "source": plan.source, "switch": tested, "engine": engine,
        "result": word(outcomes),
        "counts": {each: sum(one.word == each for one in outcomes) for each in MARKS},
        "runs": [_as_dict(one) for one in outcomes],
    }  # fmt: skip


def word(outcomes: Sequence[Outcome]) -> str:
    """`fail` if an expectation did not hold, `not run` if none was asked."""
    words = {one.word for one in outcomes}
    return next(one for one in ("fail", "pass", "not run") if one in words or one == "not run")


def write(folder: Path, plan: TestPlan, outcomes: Sequence[Outcome], engine: EngineName, tested: str = "") -> Path:
    """The page, and the same as JSON; returns where the page is."""
    results.make_folder(folder)
    atomic_write(folder / DATA, f"{json_text(as_dict(plan, outcomes, engine, tested))}\n".encode())
    atomic_write(folder / PAGE, _page(plan, outcomes, engine, tested).encode())
    results.give_to_caller([folder, folder / PAGE, folder / DATA])
    return folder / PAGE


def _title(outcome: Outcome) -> str:
    trial = f", {outcome.trial}" if outcome.trial else ""
    slower = f", dilation {outcome.dilation:g}" if outcome.dilation else ""
    return f"{show_rate(outcome.rate)}, case {outcome.case.key}, {outcome.case.title}{trial}{slower}"


def _measured(finding: Finding) -> str:
    return "" if finding.expectation.missing else f"{finding.measured:.6g}{finding.expectation.unit}"


def _expected(finding: Finding) -> str:
    return f" ({finding.expectation.bounds})" if finding.expectation.judges else ""


def _as_dict(outcome: Outcome) -> dict[str, Any]:
    return {
        "case": outcome.case.key, "title": outcome.case.title, "run": outcome.trial, "rate": outcome.rate,
        "result": outcome.word, "why": outcome.missing, "broken": [*outcome.broken],
        "seconds": round(outcome.seconds, 3), "dilation": outcome.dilation,
        "expectations": [
            {
                "says": one.expectation.says,
                "measured": one.measured,
                "unit": one.expectation.unit.strip(), "expected": one.expectation.bounds,
                "passed": one.passed if one.expectation.judges else None, "why": one.expectation.missing,
            }
            for one in outcome.findings
        ],
    }  # fmt: skip


def _page(plan: TestPlan, outcomes: Sequence[Outcome], engine: EngineName, tested: str) -> str:
    switch = f"The switch is the one of {tested}. " if tested else ""
    colour = "clean" if word(outcomes) == "pass" else "degraded"
    parts = [
        f"<h1>{escape(plan.title)}</h1>",
        f'<p class="note">{escape(plan.source)}. {escape(switch)}{HOW[engine]}{LENGTHS}</p>',
        f'<div class="verdict {colour}"><strong>{escape(total(outcomes))}</strong></div>',
        *(_section(one) for one in outcomes),
    ]
    return page.document(plan.title, "\n".join(parts), [])


def _section(outcome: Outcome) -> str:
    rows = "".join(
        f"<tr><td>{MARKS['pass' if one.passed else 'fail'] if one.expectation.judges else ''}</td>"
        f"<td>{escape(one.expectation.says)}</td><td>{escape(_measured(one))}</td>"
        f"<td>{escape(one.expectation.missing or one.expectation.bounds)}</td></tr>"
        for one in outcome.findings
    )
    heading = f"<h2>{MARKS[outcome.word]} {escape(_title(outcome))}</h2>"
    if outcome.missing:
        return f"{heading}<p>not run: {escape(outcome.missing)}</p>"
    broken = "".join(f"<p>{MARKS['fail']} {escape(one)}</p>" for one in outcome.broken)
    head = "<tr><th></th><th>what</th><th>measured</th><th>expected</th></tr>"
    return f"{heading}{broken}<table>{head}{rows}</table>"
