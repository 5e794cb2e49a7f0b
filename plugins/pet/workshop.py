"""`testbed train pet`: an actor per workload, one more each for the ablation, and the log that gives them again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from testbed.base.arrays import Floats
from testbed.sdk.jobs import Job, Order, Result, Told, Workshop
from testbed.tuner import Ports, PortSample

from ..learned import shop
from ..learned.tuner import Workload
from .reward import WEIGHTS, reward
from .settings import NOTES, PRESETS, Settings
from .training import Progress, Training


def run(settings: Settings, order: Order) -> Result:
    """Train, measure in the model, write."""

    def train(wanted: shop.Wanted) -> shop.Trained:
        def told(progress: Progress) -> None:
            text = f"{wanted.name}, update {progress.update}: reward {progress.reward:.3f}"
            order.told(Told(progress.update, settings.updates, text))

        outcome = Training(settings, wanted.workload, flows=not wanted.blind).run(told)
        return shop.Trained(outcome.actor, outcome.history, {"seed": settings.seed})

    def gained(workload: Workload) -> Callable[[PortSample, Ports], Floats]:
        return partial(reward, weights=WEIGHTS[workload])

    policies = [shop.Wanted(workload) for workload in settings.workloads]
    policies += [shop.Wanted(workload, blind=True) for workload in settings.ablation]
    return shop.run("pet", settings, order, policies=policies, train=train, reward=gained)


WORKSHOP = Workshop({"train": Job("Train PET's actors in the fluid model.", Settings, run, PRESETS, NOTES)})
