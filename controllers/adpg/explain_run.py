"""What a policy did to one flow of a run, decision by decision, from the run's record of what it was told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.controller import Feedback, Paths
from testbed.errors import BadInput, nearest
from testbed.experiment.choice import ControllerChoice
from testbed.registry import Plugin, find
from testbed.results import brought, decisions, folder
from testbed.results.decisions import Recorded
from testbed.results.trace import FEEDBACK, START, TIMEOUT, TIMER, TOLD
from testbed.results.trust import Guard

from .controller import AdpgController, AdpgForm, Policy
from .explain import drives
from .observation import AdpgConfig


@dataclass(frozen=True)
class Decisions:
    """One entry per decision of a flow."""

    flow: str
    form: str  # of the policy: the controller's name
    time: Floats  # nominal s
    rtt: Floats  # s
    features: Floats  # shape (k, 4)
    decided: Floats  # multipliers, now
    rate: Floats  # bit/s, as the record has it
    again: Floats  # bit/s, as it comes out now
    drives: Floats  # what each feature does to the multiplier, shape (k, 4)

    @property
    def equal(self) -> int:
        """How many rates came out as recorded, to the last bit."""
        return int((self.rate == self.again).sum())


def decisions_of(run: Path, flow: str, *, trust: bool = False) -> Decisions:
    """Tell the flow's policy again what it was told. Raises BadInput if the run has no such flow, record or policy."""
    manifest, agents = folder.load_manifest(run), decisions.read(run)
    experiment = brought.experiment(run, manifest, originals=True)
    choice = ControllerChoice.model_validate(experiment["controller"])
    names = folder.read_table(run / "flows.parquet")["flow"].to_pylist()
    if flow and flow not in names:
        raise BadInput(f"--flow {flow}: no such flow in {run}; {nearest(flow, names[:8])}")
    number = names.index(flow) if flow else 0
    told = next((one for one in agents if one.first <= number < one.first + len(one.paths)), None)
    if told is None:
        raise BadInput(f"{run} has no record of flow {names[number]}")
    Guard.of(run, run, manifest, experiment, trusted=trust).admit([choice.name])
    plugin = find("controller", choice.name)
    if not issubclass(plugin.form, AdpgForm):
        raise BadInput(f"{run} was decided by '{choice.name}'; adpg can explain a run of {_forms()}")
    config = plugin.configure(choice.preset, choice.options)
    again = _Again(plugin, cast(AdpgConfig, config), told.paths)
    return again.tell(told, number - told.first, names[number])


def _forms() -> str:
    from . import Adpg, AdpgInt8, AdpgNn

    return ", ".join(form.name for form in (Adpg, AdpgNn, AdpgInt8))


class _Again(AdpgController):
    """The run's policy and options under the plain control loop, which shows what it sees."""

    name = "adpg-again"

    def __init__(self, plugin: Plugin, config: AdpgConfig, paths: Paths) -> None:
        self._plugin = plugin
        super().__init__(config, paths)
        self.policy: Policy = self  # to see what it is asked
        self._asked: Floats | None = None
        self._policy: Policy = plugin.form.load(config)

    @classmethod
    def load(cls, config: AdpgConfig) -> Policy:  # noqa: ARG003 - the plugin's form does that
        return cast(Policy, None)

    def decide(self, features: Floats) -> Floats:
        """As a policy: what the real one decides."""
        self._asked = features[0].copy()
        self._decided = self._policy.decide(features)
        return self._decided

    def tell(self, told: Recorded, flow: int, name: str) -> Decisions:
        """Every call that was about the flow."""
        columns = told.columns
        flows = np.array([flow])
        rows: list[tuple[float, ...]] = []
        for row in np.flatnonzero(columns["flow"] == flow):
            kind, now = int(columns["kind"][row]), float(columns["time"][row])
            self._asked = None
            self._call(kind, now, flows, told, int(row))
            if self._asked is not None:
                recorded = (columns["rate"][row], self.rate[flow])
                rows.append((now, columns["rtt"][row], *self._asked, float(self._decided[0]), *recorded))
        if not rows:
            raise BadInput(f"flow {name} got no feedback in the record: there is no decision to explain")
        time, rtt, *features, decided, rate, again = np.array(rows).T
        states = np.column_stack(features)
        return Decisions(name, self._plugin.name, time, rtt, states, decided, rate, again, drives(self._policy, states))

    def _call(self, kind: int, now: float, flows: Ints, told: Recorded, row: int) -> None:
        if kind == START:
            self.on_start(now, flows)
        elif kind == TIMER:
            self.on_timer(now, flows)
        elif kind in (FEEDBACK, TIMEOUT):
            columns: dict[str, Any] = {key: told.columns[key][row : row + 1] for key in (*TOLD, "rtt") if key != "hops"}
            timeouts = np.array([int(kind == TIMEOUT)])
            self.on_feedback(now, flows, Feedback(**columns, timeouts=timeouts, int_stack=None))
