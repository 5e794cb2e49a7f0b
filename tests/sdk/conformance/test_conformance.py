"""What ships passes the conformance suite."""

from __future__ import annotations

from multiprocessing.connection import Connection
from typing import cast

import pytest

from testbed.registry import GROUPS, Plugin, available, find
from testbed.sdk.conformance.controllers import Result, ask_all
from testbed.sdk.conformance.trial import Unwatched

# Published forms that are known to do what the suite is there to find; each plugin's docstring says why.
KNOWN = {
    # no window: eight flows that start at line rate fill the buffer for a thousand RTTs
    **dict.fromkeys((("adpg", "paper"), ("adpg-nn", "paper"), ("adpg-int8", "paper")), "reacts to congestion"),
    # up and down are both multiplicative per RTT, so that the share stays that a flow came to
    **dict.fromkeys((("spine", "policy"), ("spine", "default")), "two flows share"),
    ("theta-powertcp", "paper"): "reacts to congestion",  # without a floor of the smoothed power it swings for good
    ("timely", "original"): "reacts to congestion",  # the gradient alone has no fixed point
    ("vivace", "paper"): "two flows share",  # its steps are too small for 300 RTTs
    ("vivace", "nsdi-2018"): "two flows share",
    # without switches that trim, what many flows begin with stays in the queue
    **dict.fromkeys((("eqds", "trimming"), ("rccc", "trimming")), "leaves no queue"),
}
# Rows of ADPG's table that do not work: docs/explanation/learned.md. Sound as plugins, they fail at their work.
BASELINES = ("aurora", "ppo", "reinforce")
WORK = {"fills the line", "reacts to congestion", "two flows share", "survives loss", "survives timeouts"}
SHIPPED = [
    (plugin.kind, plugin.name, preset)
    for kind in GROUPS
    for plugin in available(kind)
    if plugin.name not in BASELINES
    for preset in plugin.form.presets or [None]
]


class Heard(Unwatched):
    """What is answered."""

    def __init__(self) -> None:
        self.results: list[Result] = []

    def send(self, obj: object) -> None:
        if isinstance(obj, tuple) and isinstance(obj[1], Result):
            self.results.append(obj[1])


def answers(plugin: Plugin, preset: str | None = None) -> list[Result]:
    """As `check` has them, in this process: ours return."""
    heard = Heard()
    ask_all(plugin, plugin.configure(preset, {}), None, False, cast(Connection, heard))
    return heard.results


@pytest.mark.parametrize(("kind", "name", "preset"), SHIPPED, ids=[f"{name}-{preset}" for _, name, preset in SHIPPED])
def test_shipped_plugins_pass(kind: str, name: str, preset: str | None) -> None:
    results = answers(find(kind, name), preset)
    failed = {result.name: result.why for result in results if not result.passed}
    known = {KNOWN[name, preset]} if preset and (name, preset) in KNOWN else set()
    assert set(failed) == known, failed
    skipped = {result.name for result in results if result.outcome == "skipped"}
    assert skipped == ({"reacts to congestion", "two flows share"} if name == "fixed" else set())


@pytest.mark.parametrize("name", BASELINES)
def test_adpgs_baselines_are_sound_and_do_not_work(name: str) -> None:
    failed = {result.name for result in answers(find("controller", name)) if not result.passed}
    assert {"reacts to congestion"} <= failed <= WORK
