"""The answer as one page that opens offline, in the look of the report."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Literal

from testbed.advise import answer, pictures, present
from testbed.advise.advice import Advice
from testbed.advise.change import Change
from testbed.advise.check import Ranked
from testbed.advise.choose import MORE
from testbed.advise.forest import Row, forest
from testbed.advise.objective import better
from testbed.advise.verdict import percent
from testbed.base.progress import clock
from testbed.results.compare.median import estimate
from testbed.results.report import page
from testbed.results.summary import FIGURES
from testbed.results.table import Cell, Table

COLOURS = {"change": "clean", "nothing": "clean", "impossible": "degraded"}
ENGINE = "Virtual engine: a simulation that runs the rack's own programs. "
GAINS = (
    "Of each draw of the traffic that the search never saw, the gain over what is there now: how much less there is of "
    "what is to be little. Dots are medians, bars 95 % intervals of paired differences."
)


def render(advice: Advice, change: Change | None) -> str:
    """The whole of it; runs what the pictures show. Raises TestbedError."""
    shown = pictures.before_and_after(advice)
    search = [pictures.history(advice), *pictures.knobs(advice)]
    title = f"Advice for {', '.join(advice.task.names)}"
    parts = [f"<h1>{escape(title)}</h1>", f'<p class="note">{ENGINE}{escape(_about(advice))}</p>', _verdict(advice)]
    parts += [f'<p class="note">{escape(one)}.</p>' for one in advice.task.notes]
    parts += [_knobs(advice), _figures(advice), _forest(advice)]
    if shown:
        parts += [page.HINT, page.figures(shown)]
    elif advice.checked.advised and not advice.checked.advised.why:
        parts.append('<p class="note">No time was left for pictures of a run before and after.</p>')
    parts += ["<section><h2>How it was found</h2>", f'<p class="note">{escape(answer.more(advice))}.</p></section>']
    parts.append(page.figures(search, len(shown)))
    parts += [*_change(change)] if change else []
    parts.append(_question(advice))
    return page.document(title, "\n".join(parts), [*shown, *search])


def _about(advice: Advice) -> str:
    question = advice.task.question
    return (
        f"Draws of the traffic: {question.draws} that candidates were chosen by, {MORE * question.draws} for the best "
        f"few, {question.checks} others that the result was measured on. {advice.runs:,} runs, "
        f"{clock(advice.seconds)} of wall time."
    )


def _verdict(advice: Advice) -> str:
    verdict = advice.verdict
    told = "".join(f"<li>{escape(one)}</li>" for one in verdict.reasons)
    word = f"<strong>{answer.WORDS[verdict.word]}</strong>"
    return f'<div class="verdict {COLOURS[verdict.word]}">{word}<ul>{told}</ul></div>'


def _knobs(advice: Advice) -> str:
    advised = advice.checked.advised
    if advised is None:
        return ""
    texts = dict(one.split("=", 1) for one in advised.candidate)
    changed = {one.key for one in advice.space.changed(advised.candidate)}
    effects = {one.knob.key: one.without for one in advice.effects}
    rows = []
    for knob in advice.space.knobs:
        now = present.shown(knob, advice.space.now[knob.key])
        then = present.shown(knob, texts[knob.key]) if knob.key in changed else "stays"
        without = percent(effects[knob.key].gain) if knob.key in effects else ""
        rows.append([Cell(", ".join((knob.key, *knob.also))), Cell(now), Cell(then), Cell(without)])
    heads = [Cell("setting"), Cell("now"), Cell("put forward"), Cell("gain if this one stays as it is")]
    title = "The change" if advice.verdict.word == "change" else "What was put forward, and is not advised"
    return f'<section class="compared"><h2>{title}</h2>{Table(rows, heads).html()}</section>'


def _figures(advice: Advice) -> str:
    rows = []
    for one in answer.figures(advice):
        figure, found = FIGURES[one.figure], one.difference
        clear = found.has_interval and (found.low > 0 or found.high < 0)
        good = (found.median < 0) == (better(one.figure) == "lower")
        mark: Literal["", "better", "worse"] = ("better" if good else "worse") if clear else ""
        named = f"{one.workload}: {figure.label or one.figure}" if len(advice.task.names) > 1 else figure.label
        difference = Cell(answer.difference(one), mark=mark)
        rows.append(
            [Cell(named or one.figure), Cell(figure.text(one.before)), Cell(figure.text(one.after)), difference]
        )
    if not rows:
        return ""
    heads = [
        Cell("figure, median of the draws"),
        Cell("now"),
        Cell("with it"),
        Cell("paired difference, 95 % interval"),
    ]
    return f'<section class="compared"><h2>What it does</h2>{Table(rows, heads).html()}</section>'


def _forest(advice: Advice) -> str:
    checked = advice.checked
    several = len(advice.task.names) > 1
    named = "the change" if advice.verdict.word == "change" else "what was put forward"
    rows = [Row(named, checked.gain, colour="accent")] if checked.advised else []
    for one in checked.under:
        told = f"{one.condition.name}, {one.condition.workload}" if several else one.condition.name
        rows.append(Row(f"with {told}", one.gain, "" if not one.missing else "not known", "accent"))
    for ranked in checked.contenders:
        standing = ranked.standing
        note = "did not run" if standing.why else "breaks a constraint" if standing.broken else ""
        rows.append(Row(ranked.contender.name, estimate(standing.gains), note))
    if not rows:
        return ""
    missing = dict.fromkeys(f"{one.condition.name}: {one.missing}" for one in checked.under if one.missing)
    sources = [_told(one) for one in checked.contenders]
    notes = "".join(f"<li>{escape(one)}</li>" for one in (*missing, *sources))
    drawn = f'<div class="rack wide">{forest(rows, "gains with intervals")}</div>'
    listed = f"<details><summary>sources, and what is broken</summary><ul>{notes}</ul></details>" if notes else ""
    heading = "<h2>Can it be trusted, and is something else better?</h2>"
    return f'<section>{heading}<p class="note">{GAINS}</p>{drawn}{listed}</section>'


def _told(one: Ranked) -> str:
    why = one.standing.why or "; ".join(f"breaks {each}" for each in one.standing.broken)
    return f"{one.contender.name}: {one.contender.source}{f'; {why}' if why else ''}"


def _change(change: Change) -> Iterator[str]:
    yield "<section><h2>How to change it, and back</h2>"
    yield "".join(f"<p>{escape(one)}</p>" for one in change.notes)
    for name, text in change.files.items():
        yield f"<details><summary>{escape(name)}</summary><pre>{escape(text, quote=False)}</pre></details>"
    yield "</section>"


def _question(advice: Advice) -> str:
    asked = {key: value for key, value in advice.task.question.model_dump().items() if value not in ("", ())}
    told = "\n".join(f"{key}: {', '.join(map(str, value)) if isinstance(value, tuple) else value}"
                     for key, value in asked.items())  # fmt: skip
    constraints = "\n".join(f"must hold: {one.text}" for one in advice.task.constraints)
    aims = "\n".join(
        f"{name}: {', '.join(known) or 'constraints alone'}" for name, known in advice.beside.aim.figures.items()
    )
    listed = escape(f"{told}\n{constraints}\nobjective by workload:\n{aims}", quote=False)
    return f"<details><summary>The question</summary><pre>{listed}</pre></details>"
