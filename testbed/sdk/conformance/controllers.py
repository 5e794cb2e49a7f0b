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
from typing import Any, Literal, Protocol

import numpy as np

from testbed.base import watchdog
from testbed.base.extras import NotInstalled
from testbed.compiled import machine
from testbed.compiled.c_form import NativeController
from testbed.controller import CompiledController, ControllerBase
from testbed.engines.virtual.build import MANY_PATHS, WORLD
from testbed.engines.virtual.process import WatchedProcess
from testbed.errors import BadInput, TestbedError
from testbed.experiment.model import Experiment
from testbed.plugin import PluginConfig
from testbed.registry import CHOOSER, RECEIVER, Plugin, failed
from testbed.sdk.conformance import c_code, integers
from testbed.sdk.conformance.trial import LINE, RTT, TIMEOUT, Trial, experiment
from testbed.units import show_rate, show_size, show_time


class Run(Protocol):
    """Runs an experiment with the controller in question."""

    def __call__(self, experiment: Experiment, *, disorder: bool = False) -> Trial: ...


CheckOutcome = Literal["passed", "failed", "skipped"]
Answer = tuple[bool | None, str]  # None: the question is not for this plugin

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
    process = WatchedProcess(partial(_answer, plugin, config, only, whole), watchdog.PATIENCE, lambda: plugin.whence)
    try:
        return [content for kind, content in process.messages() if kind == "result"]
    finally:
        process.kill()


def _answer(plugin: Plugin, config: PluginConfig, only: str | None, whole: bool, connection: Connection) -> None:
    """In that process: sends every result. Snapshots of the runs are signs of life."""
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

    def run(experiment: Experiment, *, disorder: bool = False) -> Trial:
        return Trial(plugin, config, experiment, connection, disorder=disorder).ran()

    def of_adaptive(question: Callable[[Run], Answer]) -> Answer:
        if not form.adaptive:
            return None, "the controller declares that it does not react (adaptive = False)"
        return question(run)

    @cache
    def first() -> str:
        """Digest of a run that two questions compare with another one of the same experiment."""
        return run(_disturbed()).digest

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


def _ask(plugin: Plugin, name: str, question: Callable[[], Answer]) -> Result:
    try:
        try:
            passed, why = question()
        except TestbedError:
            raise
        except Exception as error:  # the plugin's own mistake, told in one line
            raise failed(plugin, error) from error
    except NotInstalled:  # which says nothing about the plugin
        raise
    except TestbedError as error:
        return Result(name, "failed", str(error))
    return Result(name, "skipped" if passed is None else "passed" if passed else "failed", why)


def _starts(run: Run) -> Answer:
    trial = run(experiment(3, RTT))
    rate, window = trial.begun()
    limit = f"a window of {show_size(window.min())}" if np.isfinite(window.min()) else "no window"
    return True, f"flows start at {show_rate(rate.min())} with {limit}"


def _fills_the_line(run: Run) -> Answer:
    used = run(experiment(1, 150 * RTT)).load(100 * RTT)
    return used >= 0.9, f"one flow used {_percent(used)} of the line in RTTs 100 to 150; at least 90 % is expected"


def _reacts(run: Run) -> Answer:
    trial = run(experiment(8, 600 * RTT))
    asked = trial.asked()[trial.port_series.time >= 400 * RTT].mean() / LINE
    dropped, passed = (float(trial.growth(trial.port(f"{what}_packets"), 120 * RTT)) for what in ("dropped", "tx"))
    lost = dropped / max(dropped + passed, 1)
    least, most = ASKED
    return least <= asked <= most and lost <= 0.05, (
        f"8 flows to one port: in RTTs 400 to 600 they ask for {_percent(asked)} of its rate ({_percent(least)} to "
        f"{_percent(most)} is expected), and from RTT 120 on they lose {_percent(lost)} of their packets (at most 5 %)"
    )


def _shares(run: Run) -> Answer:
    trial = run(experiment(2, 300 * RTT, gap=50 * RTT))
    first, second = trial.growth(trial.flow_series.wire_bytes, 250 * RTT)
    jain = (first + second) ** 2 / max(2 * (first**2 + second**2), 1e-9)
    return bool(jain > 0.95), (
        f"two flows, the second 50 RTTs later: Jain's index is {jain:.3f} in RTTs 250 to 300 (more than 0.95 is "
        f"expected), at {first * 8e-9:.1f} and {second * 8e-9:.1f} Gbit/s"
    )


def _alive(trial: Trial, start: float, least: float, faults: str) -> Answer:
    used = trial.load(start)
    return (
        used >= least,
        f"{faults}: the port carried {_percent(used)} of its rate; at least {_percent(least)} is expected",
    )


def _survives_loss(run: Run) -> Answer:
    faults = "1 % of the packets and 1 % of the acknowledgements lost at random"
    return _alive(run(experiment(1, 100 * RTT, loss=0.01)), 50 * RTT, 0.01, faults)


def _survives_timeouts(run: Run) -> Answer:
    silence = 2.5 * TIMEOUT
    end = 20 * RTT + silence
    trial = run(experiment(1, end + 80 * RTT, silence=(20 * RTT, end)))
    faults = f"a link down for {show_time(silence)}, {trial.record.flows.timeouts.sum()} timeouts"
    return _alive(trial, end + 40 * RTT, 0.1, faults)


def _survives_disorder(run: Run) -> Answer:
    trial = run(experiment(2, 80 * RTT, loss=0.001), disorder=True)
    return _alive(trial, 40 * RTT, 0.01, "a tenth of the feedback late, a tenth twice")


def _disturbed(*, compiled: bool = True) -> Experiment:
    return experiment(3, 60 * RTT, gap=10 * RTT, loss=0.005, compiled=compiled)


def _repeats(run: Run, first: Callable[[], str]) -> Answer:
    one, two = first(), run(_disturbed()).digest
    same = f"the same seed gave the same decisions twice (digest {one[:12]})"
    return one == two, same if one == two else f"the same seed gave other decisions: digests {one[:12]} and {two[:12]}"


def _compiles(run: Run, first: Callable[[], str]) -> Answer:
    """What a user debugs as Python must be what decides in a run."""
    if not machine.available():
        return None, "numba is not installed: Python decides in every run on this machine"
    one, two = first(), run(_disturbed(compiled=False)).digest
    same = f"the same feedback gave the same decisions, bit for bit (digest {one[:12]})"
    return one == two, same if one == two else f"decisions differ: digests {one[:12]} compiled and {two[:12]} in Python"


def _restart(run: Run) -> Answer:
    """Flows that have been through congestion start again, as they do when a host's next message begins."""
    trial = run(experiment(4, 30 * RTT))
    began = trial.begun()
    again = trial.restarted()
    found = f"{show_rate(again[0][0])} and {show_size(again[1][0])} in flight"
    expected = f"{show_rate(began[0][0])} and {show_size(began[1][0])}"
    return bool((began == again).all()), f"after on_start flow 0 may have {found}; it began with {expected}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
