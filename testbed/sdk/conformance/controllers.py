"""What `testbed check` runs: does a plugin keep to its interface, and does it do its job?

Every check gives one sentence with numbers. Controllers run on the mock data path (`testbed.sdk.mock.datapath`), tuners
get made-up slots; nothing needs root, and the same plugin always gets the same answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from testbed.base.extras import NotInstalled
from testbed.compiled import machine
from testbed.controller import ABOVE_LINE, CompiledController, ControllerBase, RateController
from testbed.errors import TestbedError
from testbed.plugin import PluginConfig
from testbed.registry import Plugin, failed
from testbed.sdk.mock.datapath import Mock
from testbed.sdk.mock.scenario import Scenario, Trace
from testbed.units import show_rate, show_size, show_time

CheckOutcome = Literal["passed", "failed", "skipped"]
Run = Callable[[Scenario], Trace]
Answer = tuple[bool | None, str]  # None: the question is not for this plugin

RTT = Scenario.base_rtt
LINE = Scenario.line_rate
LIMIT = LINE * ABOVE_LINE
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
    plugin: Plugin, preset: str | None = None, options: dict[str, Any] | None = None, only: str | None = None
) -> list[Result]:
    """Ask a plugin everything, or ``only`` one question. Raises BadInput if the preset or the options are wrong."""
    config = plugin.configure(preset, options or {})
    if plugin.kind == "tuner":
        from testbed.sdk.conformance.tuners import tuner_questions

        questions = tuner_questions(plugin.form, config)
    else:
        questions = _controller_questions(plugin.form, config)
    results: list[Result] = []
    for name, question in questions:
        if only in (None, name):
            results.append(_ask(plugin, name, question))
            if name == COMPILES and "cannot be compiled" in results[-1].why:
                break  # the others could only say the same
    return results


def _controller_questions(form: type[ControllerBase], config: PluginConfig) -> list[tuple[str, Callable[[], Answer]]]:
    def run(scenario: Scenario) -> Trace:
        return Mock(form, config, scenario, _in_bounds(scenario)).run()

    def of_adaptive(question: Callable[[Run], Answer]) -> Answer:
        if not form.adaptive:
            return None, "the controller declares that it does not react (adaptive = False)"
        return question(run)

    compiled = issubclass(form, CompiledController) and form.compiled
    return [
        *([(COMPILES, partial(_compiles, form, config))] if compiled else []),
        ("starts within bounds", partial(_starts, run)),
        ("fills the line", partial(_fills_the_line, run)),
        ("reacts to congestion", partial(of_adaptive, _reacts)),
        ("two flows share", partial(of_adaptive, _shares)),
        ("survives loss", partial(_survives_loss, run)),
        ("survives timeouts", partial(_survives_timeouts, run)),
        ("survives late and duplicate feedback", partial(_survives_disorder, run)),
        ("same seed, same decisions", partial(_repeats, run)),
        ("a restarted flow begins anew", partial(_restart, form, config)),
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


class OutOfBounds(TestbedError):
    """A controller set something that no agent can enforce."""


def _in_bounds(scenario: Scenario) -> Callable[[float, str, RateController], None]:
    """Looks at all rates, windows and timers after every callback."""

    def watch(now: float, callback: str, controller: RateController) -> None:
        rate, window, timer = controller.rate, controller.window, controller.timer
        if rate.min() > 0 and rate.max() <= LIMIT and window.min() > 0 and not np.isnan(timer).any():  # nan fails too
            return
        columns = (
            ("rate", rate, ~((rate > 0) & (rate <= LIMIT)), f"above 0 and at most the line rate, {show_rate(LINE)}"),
            ("window", window, ~(window > 0), "above 0 bytes, or inf for none"),
            ("timer", timer, np.isnan(timer), "a time, or inf for none"),
        )
        for name, column, wrong, expected in columns:
            for flow in np.flatnonzero(wrong):
                raise OutOfBounds(
                    f"the {name} of flow {flow} of {scenario.flows} is {column[flow]:g} after {callback} at "
                    f"{show_time(now)}; it must be {expected}"
                )

    return watch


def _starts(run: Run) -> Answer:
    trace = run(Scenario(flows=3, duration=0.0))
    rate, window = trace.rate[0].min(), trace.window[0].min()
    limit = f"a window of {show_size(window)}" if np.isfinite(window) else "no window"
    return True, f"flows start at {show_rate(rate)} with {limit}"


def _fills_the_line(run: Run) -> Answer:
    trace = run(Scenario(duration=150 * RTT))
    used = float(8 * trace.growth("delivered", 100 * RTT) / LINE)
    return used >= 0.9, f"one flow used {_percent(used)} of the line in RTTs 100 to 150; at least 90 % is expected"


def _reacts(run: Run) -> Answer:
    trace = run(Scenario(flows=8, duration=600 * RTT))
    asked = trace.asked()[trace.time >= 400 * RTT].mean() / LINE
    packets = trace.growth("sent", 120 * RTT).sum() / Scenario.wire_size
    lost = float(trace.growth("dropped", 120 * RTT) / max(packets, 1))
    least, most = ASKED
    return least <= asked <= most and lost <= 0.05, (
        f"8 flows to one port: in RTTs 400 to 600 they ask for {_percent(asked)} of its rate ({_percent(least)} to "
        f"{_percent(most)} is expected), and from RTT 120 on they lose {_percent(lost)} of their packets (at most 5 %)"
    )


def _shares(run: Run) -> Answer:
    trace = run(Scenario(flows=2, start_gap=50 * RTT, duration=300 * RTT))
    first, second = trace.growth("acked", 250 * RTT)
    jain = (first + second) ** 2 / max(2 * (first**2 + second**2), 1e-9)
    return bool(jain > 0.95), (
        f"two flows, the second 50 RTTs later: Jain's index is {jain:.3f} in RTTs 250 to 300 (more than 0.95 is "
        f"expected), at {first * 8e-9:.1f} and {second * 8e-9:.1f} Gbit/s"
    )


def _alive(trace: Trace, start: float, least: float, faults: str) -> Answer:
    used = float(8 * trace.growth("delivered", start) / LINE)
    return (
        used >= least,
        f"{faults}: the port carried {_percent(used)} of its rate; at least {_percent(least)} is expected",
    )


def _survives_loss(run: Run) -> Answer:
    return _alive(run(Scenario(duration=100 * RTT, lose=0.02)), 50 * RTT, 0.01, "2 % of the packets lost at random")


def _survives_timeouts(run: Run) -> Answer:
    silence = 2.5 * Scenario.timeout
    trace = run(Scenario(duration=20 * RTT + silence + 80 * RTT, blackout=(20 * RTT, 20 * RTT + silence)))
    faults = f"after {show_time(silence)} of silence and {trace.timeouts[-1]} timeouts"
    return _alive(trace, 20 * RTT + silence + 40 * RTT, 0.1, faults)


def _survives_disorder(run: Run) -> Answer:
    trace = run(Scenario(flows=2, duration=80 * RTT, lose=0.002, duplicate=0.1, reorder=0.1, poll=2e-6))
    return _alive(trace, 40 * RTT, 0.01, "a tenth of the feedback late, a tenth twice")


def _repeats(run: Run) -> Answer:
    scenario = Scenario(flows=3, start_gap=10 * RTT, duration=60 * RTT, lose=0.01, duplicate=0.02)
    one, two = run(scenario).decisions, run(scenario).decisions
    same = f"the same seed gave the same decisions twice (digest {one[:12]})"
    return one == two, same if one == two else f"the same seed gave other decisions: digests {one[:12]} and {two[:12]}"


def _compiles(form: type[ControllerBase], config: PluginConfig) -> Answer:
    """What a user debugs as Python must be what decides in a run."""
    if not machine.available():
        return None, "numba is not installed: Python decides in every run on this machine"
    scenario = Scenario(flows=3, start_gap=10 * RTT, duration=60 * RTT, lose=0.01, duplicate=0.02)
    one, two = (Mock(form, config, scenario, compiled=compiled).run().decisions for compiled in (True, False))
    same = f"the same feedback gave the same decisions, bit for bit (digest {one[:12]})"
    return one == two, same if one == two else f"decisions differ: digests {one[:12]} compiled and {two[:12]} in Python"


def _restart(form: type[ControllerBase], config: PluginConfig) -> Answer:
    """Flows that have been through congestion start again, as they do when a host's next message begins."""
    scenario, began = Scenario(flows=4, duration=30 * RTT), []
    in_bounds = _in_bounds(scenario)

    def watch(now: float, callback: str, controller: RateController) -> None:
        in_bounds(now, callback, controller)
        if callback == "on_start":
            began.append((controller.rate.copy(), controller.window.copy()))

    mock = Mock(form, config, scenario, watch)
    mock.run()
    controller = mock.controller
    controller.on_start(mock.now, np.arange(4))
    same = np.array_equal([controller.rate, controller.window], began[-1])
    found = f"{show_rate(controller.rate[0])} and {show_size(controller.window[0])} in flight"
    expected = f"{show_rate(began[-1][0][0])} and {show_size(began[-1][1][0])}"
    return same, f"after on_start flow 0 may have {found}; it began with {expected}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
