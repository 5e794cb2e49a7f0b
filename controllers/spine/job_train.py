"""`testbed train spine`: the policy, and the log that gives it again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from testbed.base.extras import need
from testbed.sdk.jobs import Job, JobContext, JobProgress, Result
from testbed.units import show_time

from ..learned.checks import mean_reward
from .evaluate import measure, table
from .policy import Policy
from .training_settings import NOTES, PRESETS, Settings

if TYPE_CHECKING:
    from .training import Attempt

POLICY, LOG = "policy.json", "training.json"


def run(settings: Settings, context: JobContext) -> Result:
    """Train, measure in closed loops, write."""
    need("torch")
    from .training import train

    def tell(attempt: Attempt) -> None:
        check, before = attempt.checks[-1], attempt.seed - settings.seed
        seen = ", ".join(f"N={one.flows}: SU {one.su:.0f} %, triggers {one.triggers:.2f}" for one in check.figures)
        text = f"seed {attempt.seed}, episode {check.number}: mean reward {mean_reward(check.figures):.4f} ({seen})"
        total = settings.episodes * settings.attempts
        context.report(JobProgress(before * settings.episodes + check.number, total, text))

    attempts = train(settings, tell)
    chosen = max(attempts, key=lambda one: (not one.failure, mean_reward(one.best.figures)))
    module = measure(None, settings.cost)
    about = {"seed": chosen.seed, "episode": chosen.best.number, "command": context.command}
    Policy(chosen.best.policy.weights, about).save(context.out / POLICY)
    log = {
        **context.about(settings, "numpy", "torch"),
        **{key: about[key] for key in ("seed", "episode")},
        "passes": not chosen.failure,
        "module": [one.as_dict() for one in module],
        "figures": [one.as_dict() for one in chosen.best.figures],
        "attempts": [_attempt(one) for one in attempts],
    }
    context.log(LOG, log)
    lines = [*(_verdict(one) for one in attempts), *table({"module": module, "policy": chosen.best.figures})]
    refused = f"no seed of {len(attempts)} passed: {chosen.failure}" if chosen.failure else ""
    return Result(lines, {key: value for key, value in log.items() if key != "attempts"}, refused)


def _verdict(one: Attempt) -> str:
    spent = show_time(round(one.checks[-1].seconds, 1))
    reward = f"mean reward {mean_reward(one.best.figures):.4f}, the module's {one.least:.4f}"
    return f"seed {one.seed}, {spent} of CPU: {one.failure or f'passes at episode {one.best.number}, {reward}'}"


def _attempt(one: Attempt) -> dict[str, Any]:
    checks = [check.as_dict("episode") for check in one.checks]
    return {"seed": one.seed, "failure": one.failure, "best": one.best.number, "checks": checks}


TRAIN = Job("Train SPINE's watcher and policy generator (a reconstruction).", Settings, run, PRESETS, NOTES)
