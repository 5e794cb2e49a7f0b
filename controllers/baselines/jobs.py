"""How the policies of Aurora, PPO and REINFORCE are made: `testbed train`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import process_time
from typing import Any

from testbed.base.extras import need
from testbed.sdk.jobs import Job, JobConfig, JobContext, JobProgress, JobSet, Result
from testbed.units import show_time

from ..learned.network import Layers
from .aurora import Aurora
from .evaluate import CHECKED, measure, table
from .multipliers import Ppo, Reinforce
from .settings import NOTES, PRESETS, AuroraSettings, PpoSettings, ReinforceSettings

POLICY = "policy.json"
NOTED = 20  # lines of the log
Form = type[Aurora] | type[Ppo] | type[Reinforce]
Told = Callable[[int, float, Layers], None]


def _ppo(settings: PpoSettings, told: Told, _context: JobContext) -> Layers:
    from .train_ppo import train

    return train(settings, told)


def _reinforce(settings: ReinforceSettings, told: Told, _context: JobContext) -> Layers:
    from .train_reinforce import train

    return train(settings, told)


def _aurora(settings: AuroraSettings, told: Told, context: JobContext) -> Layers:
    from .train_aurora import train

    return train(settings, told, context.out)


def run(form: Form, learn: Callable[..., Layers], settings: Any, context: JobContext) -> Result:
    """Train, write with the log, measure."""
    need("gymnasium", "stable_baselines3", "torch")
    began, history = process_time(), list[dict[str, Any]]()
    total = settings.decisions if isinstance(settings, AuroraSettings) else settings.updates

    def told(done: int, reward: float, _network: Layers) -> None:
        context.report(JobProgress(done, total, f"mean reward {reward:.4g}"))
        if done >= len(history) * total / NOTED:
            spent = round(process_time() - began, 1)
            history.append({"done": done, "mean_reward": round(reward, 5), "cpu_seconds": spent})

    network = learn(settings, told, context)
    log: dict[str, Any] = {
        **context.about(settings, "numpy", "torch", "stable_baselines3"),
        "cpu_seconds": round(process_time() - began, 1),
        "history": history,
    }
    file = context.out / POLICY
    network.save(file)
    key = "reward" if isinstance(settings, AuroraSettings) else "beta"
    options = {"policy": str(file), key: getattr(settings, key)}
    config = form.Config.model_validate(options)
    figures = [measure(form, config, flows) for flows in CHECKED]
    log["figures"] = [one.as_dict() for one in figures]
    replace(network, training=log).save(file)
    lines = [f"seed {settings.seed}, {show_time(log['cpu_seconds'])} of CPU", *table(figures)]
    return Result(lines, log)


def _jobs(form: Form, learn: Callable[..., Layers], settings: type[JobConfig]) -> JobSet:
    def work(said: Any, context: JobContext) -> Result:
        return run(Reinforce if getattr(said, "action", "") == "normal" else form, learn, said, context)

    summary = f"Train {form.name}'s network, with incasts of 2, 4 and 8 flows."
    return JobSet({"train": Job(summary, settings, work, PRESETS[form.name], NOTES[form.name])})


AURORA_JOBS = _jobs(Aurora, _aurora, AuroraSettings)
PPO_JOBS = _jobs(Ppo, _ppo, PpoSettings)
REINFORCE_JOBS = _jobs(Reinforce, _reinforce, ReinforceSettings)
