"""The recorded feedback of a run into a controller again: does it decide the same, byte for byte?"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from testbed.base.inputs import Input
from testbed.compiled.flows import build
from testbed.controller import Feedback, IntStack, Paths, RateController, Signal
from testbed.errors import BadInput
from testbed.experiment.choice import ControllerChoice, PluginChoice
from testbed.experiment.load import recorded, resolve
from testbed.plugin import PluginConfig
from testbed.registry import Blaming, Plugin, find
from testbed.results import brought, decisions, folder
from testbed.results.decisions import Recorded
from testbed.results.manifest import Manifest
from testbed.results.report.replayed import Difference, Replay, Replayed
from testbed.results.trace import DECIDED, FEEDBACK, HOP, KINDS, SENT, SRC, START, TIMEOUT, TIMER, TOLD
from testbed.results.trust import Guard

Make = Callable[[Paths, int], RateController]  # for flows from this number on
CALLBACKS = {
    START: "on_start", FEEDBACK: "on_feedback", TIMEOUT: "on_feedback", SENT: "on_sent", TIMER: "on_timer",
    SRC: "on_src",
}  # fmt: skip
OF_SRC = ("rtt", "hop1_queue", "hop1_rate")  # columns: its age, and its port


def replay(run: Path, controller: str = "", *, trust: bool = False) -> Replay:
    """Feed what the agents of a run told their controllers to new ones. Raises BadInput, or PluginFailed.

    ``trust``: plugins that are neither installed nor files of the user's own may run.
    """
    manifest = folder.load_manifest(run)
    agents, experiment = decisions.read(run), brought.experiment(run, manifest, originals=True)
    names = folder.read_table(run / "flows.parquet")["flow"].to_pylist()
    guard = Guard.of(run, run, manifest, experiment, trusted=trust)
    make: Make
    if experiment.get("controllers"):
        plugin, make, notes = _sharing(experiment, controller, guard)
    else:
        choice = ControllerChoice.model_validate(experiment["controller"])
        if not controller:
            guard.admit([choice.name])
        plugin, config, notes = _other(choice, controller) if controller else _same(choice, manifest)
        make = partial(_one, plugin, config)
    cut = manifest.decisions.get("cut", "")
    notes += [f"the record was {cut}"] if cut else []
    found = []
    for number, one in enumerate(agents):
        calls, rows = len(np.unique(one.columns["call"])), len(one.columns["call"])
        done_calls, done_rows, first = _feed(plugin, make, one, names)
        found.append(Replayed(number, calls, rows, done_calls, done_rows, first))
    return Replay(plugin.name, found, notes)


def _same(choice: PluginChoice, manifest: Manifest) -> tuple[Plugin, PluginConfig, list[str]]:
    plugin, notes = find("controller", choice.name), []
    if plugin.digest != manifest.controller.sha256:
        was, now = manifest.controller.sha256[:12], plugin.digest[:12]
        notes.append(f"{plugin.file} has changed since the run: SHA-256 {was} then, {now} now")
    config = plugin.configure(choice.preset, choice.options)
    for key, file in plugin.form.inputs(config).items():
        found = Input.of(f"controller.{key}", file)
        if any(one.key == found.key and one.sha256 != found.sha256 for one in manifest.inputs):
            notes.append(f"{file} has another content than in the run")
    if manifest.versions.get("numpy") != version("numpy"):
        notes.append(f"numpy was {manifest.versions.get('numpy')} then and is {version('numpy')} now")
    return plugin, config, notes


def _sharing(experiment: dict[str, Any], controller: str, guard: Guard) -> tuple[Plugin, Make, list[str]]:
    """Of a run with several controllers. Raises BadInput if another one is asked for."""
    if controller:
        raise BadInput(f"--controller {controller}: the flows of this run had several controllers; leave it out")
    resolved = resolve(recorded(experiment, "the run's experiment", guard.admit))
    return resolved.controller, resolved.make_controller, []


def _one(plugin: Plugin, config: PluginConfig, paths: Paths, _first: int) -> RateController:
    return build(plugin.form, config, paths)


def _other(choice: PluginChoice, controller: str) -> tuple[Plugin, PluginConfig, list[str]]:
    plugin = find("controller", controller)
    try:
        return plugin, plugin.configure(choice.preset, choice.options), ["the options are those of the run"]
    except BadInput:  # they are another controller's
        return plugin, plugin.configure(None, {}), ["the options are the defaults of this controller"]


def _feed(plugin: Plugin, make: Make, told: Recorded, names: list[str]) -> tuple[int, int, Difference | None]:
    """Calls and rows that were compared, and the first difference."""
    one = _build(plugin, make, told)
    columns, signals = told.columns, one.signals
    heard = columns["kind"] == FEEDBACK
    if Signal.INT in signals and heard.any() and told.hops[heard].max() < 0:
        raise BadInput(f"{plugin.title} needs INT, but the controller of this run did not: its packets carried none")
    borders = np.flatnonzero(np.diff(columns["call"], prepend=-1, append=-1))
    calls = rows = 0
    for begin, end in pairwise(borders.tolist()):
        kind, flows = int(columns["kind"][begin]), columns["flow"][begin:end].copy()
        if (kind == SENT and Signal.TX not in signals) or (kind == SRC and Signal.SRC not in signals):
            continue
        arguments = _told(told, kind, slice(begin, end), Signal.INT in signals)
        with Blaming(plugin):
            getattr(one, CALLBACKS[kind])(float(columns["time"][begin]), flows, *arguments)
        calls, rows = calls + 1, rows + end - begin
        now = np.array([one.rate[flows], one.window[flows], one.timer[flows]], np.float64)
        then = np.array([columns[name][begin:end] for name in DECIDED])
        other = (now.view(np.int64) != then.view(np.int64)).any(axis=0)
        if other.any():
            row = int(other.argmax())
            return calls, rows, _difference(told, begin + row, now[:, row].tolist(), names)
    return calls, rows, None


def _build(plugin: Plugin, make: Make, told: Recorded) -> RateController:
    with Blaming(plugin):
        return make(told.paths, told.first)


def _told(told: Recorded, kind: int, rows: slice, want_int: bool) -> list[Any]:
    """The arguments of a call behind time and flows, as the agent made them."""
    if kind == SENT:
        return [told.columns["sent_bytes"][rows].copy()]
    if kind == SRC:
        return [told.columns[name][rows].copy() for name in OF_SRC]
    if kind not in (FEEDBACK, TIMEOUT):
        return []
    columns = {name: told.columns[name][rows].copy() for name in (*TOLD, "rtt")}
    hops, width = columns.pop("hops"), int(told.hops[rows.start])
    stack = None
    if want_int and width >= 0:
        by_hop = [[told.columns[f"hop{hop + 1}_{name}"][rows] for hop in range(width)] for name in HOP]
        stack = IntStack(hops, *(np.stack(column, axis=1) for column in by_hop))
    timeouts = np.full(len(hops), int(kind == TIMEOUT))
    return [Feedback(**columns, timeouts=timeouts, int_stack=stack)]


def _difference(told: Recorded, row: int, now: list[float], names: list[str]) -> Difference:
    columns = told.columns
    kind, flow = int(columns["kind"][row]), told.first + int(columns["flow"][row])
    relevant = {SENT: ["sent_bytes"], FEEDBACK: [*TOLD, "rtt"], TIMEOUT: [*TOLD, "rtt"], SRC: ["rtt"]}.get(kind, [])
    relevant += [f"hop{hop + 1}_{name}" for hop in range(max(0, int(told.hops[row]))) for name in HOP]
    return Difference(
        call=int(columns["call"][row]),
        time=float(columns["time"][row]),
        kind=KINDS[kind],
        flow=f"{flow} ({names[flow]})",
        recorded={name: _plain(columns[name][row].item()) for name in DECIDED},
        now={name: _plain(value) for name, value in zip(DECIDED, now, strict=True)},
        told={name: _plain(columns[name][row].item()) for name in relevant},
    )


def _plain(value: float) -> float | str:
    """JSON has no infinity."""
    return value if math.isfinite(value) else str(value)
