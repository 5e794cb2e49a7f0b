"""`testbed train pet`: an actor per workload, the critics for online training, and the log that gives them again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from testbed.controller import Floats
from testbed.tuner import Ports, PortSample
from testbed.workshop import Job, Order, Result, Told, Workshop

from ..learned import shop
from ..learned.tuner import Workload
from .reward import WEIGHTS, reward
from .settings import NOTES, PRESETS, Settings
from .training import Progress, Training


def run(settings: Settings, order: Order) -> Result:
    """Train, measure in the model, write."""

    def train(workload: Workload) -> shop.Trained:
        def told(progress: Progress) -> None:
            text = f"{workload}, update {progress.update}: reward {progress.reward:.3f}"
            order.told(Told(progress.update, settings.updates, text))

        outcome = Training(settings, workload).run(told)
        return shop.Trained(outcome.actor, outcome.history, {"seed": settings.seed})

    def gained(workload: Workload) -> Callable[[PortSample, Ports], Floats]:
        return partial(reward, weights=WEIGHTS[workload])

    return shop.run("pet", settings, order, workloads=settings.workloads, train=train, reward=gained)


WORKSHOP = Workshop({"train": Job("Train PET's actors in the fluid model.", Settings, run, PRESETS, NOTES)})
