"""`testbed train adpg`: the network in its forms, the log that gives it again, and the curves of the training."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from testbed.base.extras import need
from testbed.sdk.jobs import Job, JobContext, JobProgress, Result
from testbed.units import show_time

from . import onnx_network
from .distillation import visited
from .evaluate import Figures, ramp, settled
from .int8 import quantised
from .rollout import InC
from .training import CHECK_EVERY, Attempt, Progress, Trained, train
from .training_curves import draw
from .training_settings import PRESETS, Settings

NETWORK, ONNX, INT8, LOG, CURVES = "network.json", "network.onnx", "int8.json", "training.json", "curves.svg"
CHECKED = (2, 4, 8, 64, 128, 256, 1024)  # flows
CALIBRATION = 100_000  # states that the 8 bit form's scales are set by

NOTES = {
    "recipe": "x limited at 8, gradient clipped by norm, learning rate decays: converges from every seed",
    "nimble": "recipe, where an idle link weighs four times in the loss: ramps in a third of the time",
    "sheet": "the published settings with x limited: gradient clipped by value 0.5, constant learning rate; wanders",
    "rlcc": "the published code: sheet without the limit of x, 4, 8, 32 senders (but no all-to-all); fails",
    "rlcc-10": "rlcc with the reward's coefficient that its command line sets by default (10); fails",
    "paper": "the paper's printed gradient: the mean over the whole rollout instead of tails; fails",
    "printed": "the paper's printed reward, without beta; target such that 2 flows have the queue of its table 6",
}


def run(settings: Settings, context: JobContext) -> Result:
    """Train, measure in closed loops, write."""
    need("matplotlib", "onnx", "torch")  # before any time is spent
    outcome = train(settings, _teller(settings, context))
    if outcome.chosen.failure:  # other forms of it, and more flows, would be measured for nothing
        return _refused(outcome)
    network, aim = outcome.network, settings.aim
    seen = visited(network, CALIBRATION, np.random.default_rng(settings.seed))
    int8, of_int8 = quantised(network, seen, CHECKED, aim)
    forms: dict[str, InC] = {"network": network, "int8": int8}
    measured = {"network": [settled(network, flows, aim) for flows in CHECKED], "int8": of_int8}
    ramps = {name: ramp(form, aim) for name, form in forms.items()}
    network.save(context.out / NETWORK)
    onnx_network.write(network, context.out / ONNX)
    int8.save(context.out / INT8)
    log = _log(settings, context, outcome, measured, ramps)
    context.log(LOG, log)
    (context.out / CURVES).write_text(draw(outcome.chosen), encoding="utf-8")
    lines = [_summary(outcome), *table(measured, ramps)]
    return Result(lines, {key: log[key] for key in ("converged", "seed", "restarts", "figures", "ramp_rtts")})


def _refused(outcome: Trained) -> Result:
    """With what its best checkpoint was chosen by."""
    figures = outcome.best.figures
    data = {
        "converged": False,
        "seed": outcome.chosen.seed,
        "restarts": len(outcome.attempts) - 1,
        "figures": {"network": [one.as_dict() for one in figures]},
    }
    lines = [_summary(outcome), *table({"network": figures}, {})]
    return Result(lines, data, f"no seed of {len(outcome.attempts)} converged")


def _teller(settings: Settings, context: JobContext) -> Any:
    attempt = 0

    def tell(progress: Progress) -> None:
        nonlocal attempt
        attempt += progress.update == CHECK_EVERY
        seen = ", ".join(f"N={one.flows}: queue {one.error:+.0%}, FR {one.fr:.2f}" for one in progress.figures)
        again = f"attempt {attempt}, " if attempt > 1 else ""
        text = f"{again}update {progress.update}: score {progress.score:.3f} ({seen})"
        context.report(JobProgress(progress.update, settings.updates, text))

    return tell


def _log(
    settings: Settings,
    context: JobContext,
    outcome: Trained,
    measured: dict[str, list[Figures]],
    ramps: dict[str, float],
) -> dict[str, Any]:
    """Everything that is needed to train the same network again, and how it went."""
    return {
        **context.about(settings, "numpy", "torch", "onnx"),
        "seed": outcome.chosen.seed,
        "converged": outcome.converged,
        "restarts": len(outcome.attempts) - 1,
        "update": outcome.best.update,
        "figures": {name: [one.as_dict() for one in figures] for name, figures in measured.items()},
        "ramp_rtts": {name: finite(value) for name, value in ramps.items()},
        "attempts": [_attempt(one) for one in outcome.attempts],
    }


def _attempt(one: Attempt) -> dict[str, Any]:
    history = [
        {
            "update": check.update,
            "cpu_seconds": round(check.seconds, 2),
            "score": round(check.score, 5),
            "figures": [figures.as_dict() for figures in check.figures],
        }
        for check in one.history
    ]
    return {"seed": one.seed, "failure": one.failure, "history": history}


def _summary(outcome: Trained) -> str:
    tried = [f"seed {one.seed}: {one.failure}" for one in outcome.attempts if one.failure]
    seconds = show_time(round(sum(one.history[-1].seconds for one in outcome.attempts), 1))
    word = "converged" if outcome.converged else "not converged"
    best = f"best checkpoint at update {outcome.best.update}, score {outcome.best.score:.3f}"
    return "; ".join([f"seed {outcome.chosen.seed} {word} in {seconds} of CPU, {best}", *tried])


def table(measured: dict[str, list[Figures]], ramps: dict[str, float]) -> list[str]:
    """Closed loops as text, a line per form and number of flows."""
    lines = [f"{'form':10} {'flows':>5} {'SU %':>6} {'FR':>5} {'queue us':>9} {'oracle us':>9} {'off':>7}"]
    for name, figures in measured.items():
        lines += [
            f"{name:10} {one.flows:5} {one.su:6.1f} {one.fr:5.2f} {one.queue * 1e6:9.2f} {one.oracle * 1e6:9.2f} "
            f"{one.error:+7.1%}"
            for one in figures
        ]
    return [*lines, *(f"ramp of one flow, 0.01 to 0.95, {name}: {value:.0f} RTTs" for name, value in ramps.items())]


def finite(value: float) -> float | None:
    """For JSON."""
    return round(value, 1) if math.isfinite(value) else None


TRAIN = Job("Train ADPG's network in the fluid model.", Settings, run, PRESETS, NOTES)
