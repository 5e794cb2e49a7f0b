"""Panels about tuners: what they say a slot was worth, how often they decide, and what that costs."""

from __future__ import annotations

from testbed.live.monitor.panels import Panel, Query, curves, rows
from testbed.live.monitor.queries import Scope

REWARD = "testbed_tuner_reward_ratio"
STATE = "testbed_tuner_state_info"
DECISIONS = "testbed_tuner_decisions_total"
REFUSALS = "testbed_tuner_refusals_total"
SECONDS = "testbed_tuner_decision_seconds_total"


def reward(tuners: Scope) -> Panel:
    return curves(
        "Reward",
        "What a learned tuner says that its last slot was worth, per switch. Empty for tuners that say nothing.",
        "none",
        [Query(tuners.total(tuners.of(REWARD), "max"), tuners.or_called("reward"))],
    )


def states(tuners: Scope) -> Panel:
    return rows(
        "State",
        "What each tuner that learns is doing now: static thresholds for reference (baseline), exploring, frozen, or "
        "fallen back to the static ones. Empty for others.",
        f"max by (switch, state) ({tuners.of(STATE)})",
        ("switch", "state"),
    )


def decisions(tuners: Scope) -> Panel:
    return curves(
        "Decisions",
        "Slots per nominal second after which the tuner was asked, and answers that could not be put in force "
        "(dashed): the thresholds before them stayed, and the run is degraded.",
        "ops",
        [
            Query(tuners.rate(DECISIONS), tuners.or_called("asked")),
            Query(tuners.rate(REFUSALS), tuners.called("refused"), dashed=True),
        ],
    )


def cost(tuners: Scope) -> Panel:
    return curves(
        "What deciding costs",
        "CPU time of the tuner's decisions per wall second, per switch: a share of one core.",
        "percentunit",
        [Query(tuners.total(tuners.growth(SECONDS)), tuners.or_called("CPU"))],
    )
