"""What `testbed check` runs: does a plugin keep to its interface, and does it do its job?

Every check gives one sentence with numbers. Controllers, path choosers and credit controllers run short experiments on
the virtual engine (`testbed.sdk.conformance.trial`, `.choosers`, `.receivers`), tuners get made-up slots. Nothing needs
root, and the same plugin always gets the same answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing.connection import Connection
from typing import Any, Literal

import numpy as np

from testbed.base import watchdog
from testbed.base.extras import NotInstalled
from testbed.compiled import c_firmware, machine
from testbed.compiled.c_form import NativeController
from testbed.controller import CompiledController, ControllerBase
from testbed.engines.virtual.build import MANY_PATHS, WORLD
from testbed.engines.virtual.process import WatchedProcess
from testbed.errors import BadInput, TestbedError
from testbed.plugin import PluginConfig
from testbed.registry import CHOOSER, RECEIVER, Blaming, Plugin
from testbed.sdk.conformance import c_code, integers
from testbed.sdk.conformance.answer import Answer, percent, repeated
from testbed.sdk.conformance.trial import USUAL, Fabric, Trial, experiment
from testbed.units import show_rate, show_size, show_time


@dataclass(frozen=True)
class Run:
    """Runs the controller in question on the network that it is made for."""

    plugin: Plugin
    config: PluginConfig
    connection: Connection
    fabric: Fabric

    @property
    def rtt(self) -> float:
        """s"""
        return self.fabric.rtt

    def __call__(self, flows: int, duration: float, *, disorder: bool = False, **world: Any) -> Trial:
        """``world`` as in `testbed.sdk.conformance.trial.experiment`."""
        asked = experiment(flows, duration, fabric=self.fabric, **world)
        return Trial(self.plugin, self.config, asked, self.connection, disorder=disorder, fabric=self.fabric).ran()


CheckOutcome = Literal["passed", "failed", "skipped"]

COMPILES = "machine code decides as Python does"
ASKED = (0.5, 1.5)  # of a port's rate, by all its flows: below they have collapsed, above they do not react


@dataclass(frozen=True)
class Result:
    """The answer to one question."""

    name: str
    outcome: CheckOutcome
    why: str

    @property
    def passed(self) -> bool:
        """Skipped counts: the plugin says itself that the question is not for it."""
        return self.outcome != "failed"


def check(
    plugin: Plugin,
    preset: str | None = None,
    options: dict[str, Any] | None = None,
    only: str | None = None,
    *,
    whole: bool = False,
) -> list[Result]:
    """Ask a plugin everything, or ``only`` one question, in a process of its own.

    ``whole``: also whether a controller in C does with whole numbers.

    Raises BadInput if the preset or the options are wrong, and TestbedError if the plugin does not return.
    """
    config = plugin.configure(preset, options or {})
    if whole and not getattr(plugin.form, "native", None):
        raise BadInput(f"--integers is a question to C, and {plugin.title} is Python")
    unit = {"controller": WORLD, CHOOSER: MANY_PATHS, RECEIVER: WORLD}.get(plugin.kind)
    if unit:
        unit.compiled()  # what is missing on this machine is not the plugin's fault
    process = WatchedProcess(partial(ask_all, plugin, config, only, whole), watchdog.PATIENCE, lambda: plugin.whence)
    try:
        return [content for kind, content in process.messages() if kind == "result"]
    finally:
        process.kill()


def ask_all(plugin: Plugin, config: PluginConfig, only: str | None, whole: bool, connection: Connection) -> None:
    """Sends every result. Snapshots of the runs are signs of life."""
    if plugin.kind == "tuner":
        from testbed.sdk.conformance.tuners import tuner_questions

        questions = tuner_questions(plugin.form, config)
    elif plugin.kind == CHOOSER:
        from testbed.sdk.conformance.choosers import chooser_questions

        questions = chooser_questions(plugin, config, connection, COMPILES)
    elif plugin.kind == RECEIVER:
        from testbed.sdk.conformance.receivers import receiver_questions

        questions = receiver_questions(plugin, config, connection, COMPILES)
    else:
        questions = _controller_questions(plugin, config, connection)
        if whole:
            questions.insert(0, (integers.QUESTION, partial(integers.question, plugin.form.native)))
    for name, question in questions:
        if only in (None, name):
            result = _ask(plugin, name, question)
            connection.send(("result", result))
            if name == COMPILES and "cannot be compiled" in result.why:
                break  # the others could only say the same


def _controller_questions(
    plugin: Plugin, config: PluginConfig, connection: Connection
) -> list[tuple[str, Callable[[], Answer]]]:
    form: type[ControllerBase] = plugin.form

    run = Run(plugin, config, connection, _fabric(form))

    def of_adaptive(question: Callable[[Run], Answer]) -> Answer:
        if not form.adaptive:
            return None, "the controller declares that it does not react (adaptive = False)"
        return question(run)

    @cache
    def first() -> str:
        """Digest of a run that two questions compare with another one of the same experiment."""
        return _disturbed(run).digest

    compiled = issubclass(form, CompiledController) and form.compiled
    own: list[tuple[str, Callable[[], Answer]]] = [(COMPILES, partial(_compiles, run, first))] if compiled else []
    if issubclass(form, NativeController):
        own = c_code.questions(form.native, config)
    return [
        *own,
        ("starts within bounds", partial(_starts, run)),
        ("fills the line", partial(_fills_the_line, run)),
        ("reacts to congestion", partial(of_adaptive, _reacts)),
        ("two flows share", partial(of_adaptive, _shares)),
        ("survives loss", partial(_survives_loss, run)),
        ("survives timeouts", partial(_survives_timeouts, run)),
        ("survives late and duplicate feedback", partial(_survives_disorder, run)),
        ("same seed, same decisions", partial(_repeats, run, first)),
        ("a restarted flow begins anew", partial(_restart, run)),
    ]


def _fabric(form: type[ControllerBase]) -> Fabric:
    """A program for a card knows rate and RTT as parameters, and its manifest says of which network they are."""
    native = getattr(form, "native", None)
    known = c_firmware.made_for(native.file) if native and c_firmware.named_by(native.file) else {}
    return Fabric(known.get("line_rate", USUAL.line), known.get("base_rtt", USUAL.rtt))


def _ask(plugin: Plugin, name: str, question: Callable[[], Answer]) -> Result:
    try:
        with Blaming(plugin, but=TestbedError):
            passed, why = question()
    except NotInstalled:  # which says nothing about the plugin
        raise
    except TestbedError as error:
        return Result(name, "failed", str(error))
    return Result(name, "skipped" if passed is None else "passed" if passed else "failed", why)


def _starts(run: Run) -> Answer:
    trial = run(3, run.rtt)
    rate, window = trial.begun()
    limit = f"a window of {show_size(window.min())}" if np.isfinite(window.min()) else "no window"
    return True, f"flows start at {show_rate(rate.min())} with {limit}"


def _fills_the_line(run: Run) -> Answer:
    used = run(1, 150 * run.rtt).load(100 * run.rtt)
    return used >= 0.9, f"one flow used {percent(used)} of the line in RTTs 100 to 150; at least 90 % is expected"


def _reacts(run: Run) -> Answer:
    trial = run(8, 600 * run.rtt)
    asked = trial.asked()[trial.port_series.time >= 400 * run.rtt].mean() / run.fabric.line
    dropped, passed = (float(trial.growth(trial.port(f"{what}_packets"), 120 * run.rtt)) for what in ("dropped", "tx"))
    lost = dropped / max(dropped + passed, 1)
    least, most = ASKED
    return least <= asked <= most and lost <= 0.05, (
        f"8 flows to one port: in RTTs 400 to 600 they ask for {percent(asked)} of its rate ({percent(least)} to "
        f"{percent(most)} is expected), and from RTT 120 on they lose {percent(lost)} of their packets (at most 5 %)"
    )


def _shares(run: Run) -> Answer:
    trial = run(2, 300 * run.rtt, gap=50 * run.rtt)
    first, second = trial.growth(trial.flow_series.wire_bytes, 250 * run.rtt)
    jain = (first + second) ** 2 / max(2 * (first**2 + second**2), 1e-9)
    return bool(jain > 0.95), (
        f"two flows, the second 50 RTTs later: Jain's index is {jain:.3f} in RTTs 250 to 300 (more than 0.95 is "
        f"expected), at {first * 8e-9:.1f} and {second * 8e-9:.1f} Gbit/s"
    )


def _alive(trial: Trial, start: float, least: float, faults: str) -> Answer:
    used = trial.load(start)
    return (
        used >= least,
        f"{faults}: the port carried {percent(used)} of its rate; at least {percent(least)} is expected",
    )


def _survives_loss(run: Run) -> Answer:
    faults = "1 % of the packets and 1 % of the acknowledgements lost at random"
    return _alive(run(1, 100 * run.rtt, loss=0.01), 50 * run.rtt, 0.01, faults)


def _survives_timeouts(run: Run) -> Answer:
    silence = 2.5 * run.fabric.timeout
    end = 20 * run.rtt + silence
    trial = run(1, end + 80 * run.rtt, silence=(20 * run.rtt, end))
    faults = f"a link down for {show_time(silence)}, {trial.record.flows.timeouts.sum()} timeouts"
    return _alive(trial, end + 40 * run.rtt, 0.1, faults)


def _survives_disorder(run: Run) -> Answer:
    trial = run(2, 80 * run.rtt, loss=0.001, disorder=True)
    return _alive(trial, 40 * run.rtt, 0.01, "a tenth of the feedback late, a tenth twice")


def _disturbed(run: Run, *, compiled: bool = True) -> Trial:
    return run(3, 60 * run.rtt, gap=10 * run.rtt, loss=0.005, compiled=compiled)


def _repeats(run: Run, first: Callable[[], str]) -> Answer:
    return repeated("decisions", first(), _disturbed(run).digest)


def _compiles(run: Run, first: Callable[[], str]) -> Answer:
    """What a user debugs as Python must be what decides in a run."""
    if missing := machine.why_not():
        return None, f"Python decides in every run on this machine: {missing}"
    one, two = first(), _disturbed(run, compiled=False).digest
    same = f"the same feedback gave the same decisions, bit for bit (digest {one})"
    return one == two, same if one == two else f"decisions differ: digests {one} compiled and {two} in Python"


def _restart(run: Run) -> Answer:
    """Flows that have been through congestion start again, as they do when a host's next message begins."""
    trial = run(4, 30 * run.rtt)
    began = trial.begun()
    again = trial.restarted()
    found = f"{show_rate(again[0][0])} and {show_size(again[1][0])} in flight"
    expected = f"{show_rate(began[0][0])} and {show_size(began[1][0])}"
    return bool((began == again).all()), f"after on_start flow 0 may have {found}; it began with {expected}"
