"""`testbed explain adpg`: the policy as numbers on stdout, and as a page with pictures."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from testbed.base.extras import need
from testbed.base.strange import file_name
from testbed.errors import BadInput
from testbed.sdk.jobs import Job, JobConfig, JobContext, Result

from ..learned.distilling import TREES
from . import explain_pictures as pictures
from .distillation import visited
from .explain import NAMES, Answer, Importance, changing, constant, driven, explained, reached
from .explain_page import page
from .explain_run import Decisions, decisions_of
from .job_distil import POLICIES
from .job_train import NETWORK
from .network import Network
from .tree import Trees

STATES, STATES_SEED = 100_000, 7  # visited states that importance is measured on
NEAR_REST = 0.4  # of |x|: states of a steady queue


class Settings(JobConfig):
    """What is explained."""

    network: str = Field(default="", description="File of the network; by default the shipped one.")
    trees: str = Field(default="", description="File of the trees; by default the shipped ones.")
    run: str = Field(default="", description="A results folder: also say what was decided there, and why.")
    flow: str = Field(default="", description="The run's flow, for example h1-h9; by default the first.")
    trust: bool = Field(default=False, description="The run's controller may be neither installed nor a file of yours.")
    rows: int = Field(default=20, ge=1, description="Decisions of the flow that are printed; the file has all.")


def run(settings: Settings, context: JobContext) -> Result:
    """Look at the policy, and at the run if there is one."""
    need("matplotlib")
    if settings.flow and not settings.run:
        raise BadInput(f"--flow {settings.flow}: of which run? give its folder with --run")
    of_flow = (
        decisions_of(Path(settings.run).expanduser(), settings.flow, trust=settings.trust) if settings.run else None
    )
    network = Network.load(_file(settings.network, NETWORK))
    trees = Trees.load(_file(settings.trees, TREES))
    seen = visited(network, STATES, np.random.default_rng(STATES_SEED))
    answers = {"The signal stays, m = 1": constant(network, trees), "The signal changes": changing(network, trees)}
    matters = {
        kind: Importance(explained(trees, states), driven(network, states), driven(trees, states))
        for kind, states in (("all", seen), (f"|x| < {NEAR_REST}", seen[np.abs(seen[:, 3]) < NEAR_REST]))
    }
    drawn = {
        "surface": pictures.surfaces(network, trees),
        "importance": pictures.importance(matters),
        "trees": pictures.drawn_trees(trees, reached(trees, seen)),
    }
    lines = [line for title, rows in answers.items() for line in (title, *_answers(rows))]
    lines += _importance(matters)
    data: dict[str, Any] = {
        "answers": [asdict(one) for rows in answers.values() for one in rows],
        "importance": {kind: one.as_dict() for kind, one in matters.items()},
        "trees": {"count": len(trees.leaves), "depth": trees.feature.shape[1]},
    }
    if of_flow is not None:
        drawn["flow"] = _flow_picture(of_flow)
        lines += _decisions(of_flow, settings.rows)
        data["flow"] = _flow_data(of_flow)
        (context.out / f"decisions-{file_name(of_flow.flow)}.csv").write_text(_csv(of_flow), encoding="utf-8")
    for name, text in drawn.items():
        (context.out / f"{name}.svg").write_text(text, encoding="utf-8")
    (context.out / "explained.html").write_text(page(lines, drawn), encoding="utf-8")
    return Result(lines, data)


def _file(given: str, shipped: str) -> Path:
    return Path(given).expanduser() if given else POLICIES / shipped


def _answers(rows: list[Answer]) -> list[str]:
    lines = [f"  {'state':20} {'network':>8} {'trees':>8} {'published':>10}"]
    for one in rows:
        known = f"{one.published:.3f}" if one.published is not None else "-"
        lines.append(f"  {one.state:20} {one.network:8.4f} {one.trees:8.4f} {known:>10}")
    return lines


def _importance(matters: dict[str, Importance]) -> list[str]:
    lines = [
        f"Features, on {STATES} states of closed loops: variance that the trees' questions explain; RMS change of the",
        "multiplier with the feature at rest",
        f"  {'states':10} {'feature':8} {'explained':>10} {'network':>8} {'trees':>8}",
    ]
    for kind, one in matters.items():
        for name, share, first, second in zip(NAMES, one.explained, one.network, one.trees, strict=True):
            lines.append(f"  {kind:10} {name:8} {share:10.1%} {first:8.4f} {second:8.4f}")
    return lines


def _decisions(of: Decisions, most: int) -> list[str]:
    count = len(of.time)
    what = "" if of.equal == count else f", the others by at most {np.abs(of.again / of.rate - 1).max():.1e}"
    lines = [
        f"Flow {of.flow}: {count} decisions of {of.form}; {of.equal} rates come out as recorded{what}",
        f"  {'time us':>10} {'RTT us':>8} {NAMES[0]:>7} {NAMES[1]:>7} {NAMES[2]:>7} {NAMES[3]:>7} {'decided':>8} "
        f"{'Gbit/s':>8}  most due to",
    ]
    for row in np.unique(np.linspace(0, count - 1, min(most, count)).astype(int)):
        states = " ".join(f"{value:7.3f}" for value in of.features[row])
        main = int(np.abs(of.drives[row]).argmax())
        lines.append(
            f"  {of.time[row] * 1e6:10.1f} {of.rtt[row] * 1e6:8.2f} {states} {of.decided[row]:8.4f} "
            f"{of.rate[row] / 1e9:8.3f}  {NAMES[main]} ({of.drives[row, main]:+.4f})"
        )
    return lines


def _flow_picture(of: Decisions) -> str:
    coloured = [(name, of.drives[:, number], f"c{number}") for number, name in enumerate(NAMES)]
    panels = [
        ("RTT, us", [("RTT", of.rtt * 1e6, "ink")]),
        ("signal x(k)", [("x(k)", of.features[:, 3], "accent")]),
        ("multiplier", [("decided", of.decided, "accent")]),
        ("due to", coloured),
        ("rate, Gbit/s", [("recorded", of.rate / 1e9, "faint"), ("recomputed", of.again / 1e9, "accent")]),
    ]
    return pictures.flow(of.time, panels, f"What {of.form} decided for {of.flow}, and why")


def _flow_data(of: Decisions) -> dict[str, Any]:
    return {
        "flow": of.flow,
        "form": of.form,
        "decisions": len(of.time),
        "equal_rates": of.equal,
        "drives_rms": dict(zip(NAMES, np.sqrt((of.drives**2).mean(axis=0)).tolist(), strict=True)),
    }


def _csv(of: Decisions) -> str:
    sink = io.StringIO()
    head = ["time_s", "rtt_s", *NAMES, "decided", "rate_bit_s", "recomputed_bit_s", *(f"due to {one}" for one in NAMES)]
    table = np.column_stack((of.time, of.rtt, of.features, of.decided, of.rate, of.again, of.drives))
    writer = csv.writer(sink)
    writer.writerow(head)
    writer.writerows(table.tolist())
    return sink.getvalue()


EXPLAIN = Job("Say what ADPG's policy answers, and why.", Settings, run)
