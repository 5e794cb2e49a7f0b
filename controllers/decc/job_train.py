"""`testbed train decc`: the network, the pruned and quantised one, and the log that gives them again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from testbed.base.extras import need
from testbed.sdk.jobs import Job, JobContext, JobProgress, Result
from testbed.units import show_time

from ..learned.checks import mean_reward
from .evaluate import table
from .network import Network
from .training_settings import NOTES, PRESETS, Settings

if TYPE_CHECKING:
    from .compressed import Compressed
    from .training import Attempt

NETWORK, QUANTISED, LOG = "network.json", "quantised.json", "training.json"


def run(settings: Settings, context: JobContext) -> Result:
    """Train, compress, measure in closed loops, write."""
    need("torch")
    from .compressed import compress
    from .training import train

    def tell(attempt: Attempt) -> None:
        check = attempt.checks[-1]
        seen = ", ".join(f"N={one.flows}: SU {one.su:.0f} %, FR {one.fr:.2f}" for one in check.figures)
        text = f"seed {attempt.seed}, update {check.number}: mean reward {mean_reward(check.figures):.4f} ({seen})"
        context.report(JobProgress(check.number, settings.updates, text))

    attempts = train(settings, tell)
    chosen = max(attempts, key=lambda one: (not one.failure, mean_reward(one.best.figures)))
    about = {"seed": chosen.seed, "update": chosen.best.number, "command": context.command}
    weights = chosen.best.policy
    network = Network(weights.weights, weights.biases, about)
    context.report(JobProgress(settings.updates, settings.updates, "pruning and rounding"))
    compressed = compress(network, settings, chosen.seed)
    network.save(context.out / NETWORK)
    compressed.network.save(context.out / QUANTISED)
    log = {
        **context.about(settings, "numpy", "torch"),
        **{key: about[key] for key in ("seed", "update")},
        "passes": not chosen.failure,
        "figures": [one.as_dict() for one in chosen.best.figures],
        "compression": compressed.as_dict(),
        "attempts": [_attempt(one) for one in attempts],
    }
    context.log(LOG, log)
    measured = {"start": chosen.checks[0].figures, "network": chosen.best.figures, "quantised": compressed.figures}
    lines = [*(_verdict(one) for one in attempts), *_compression(compressed), *table(measured)]
    refused = f"no seed of {len(attempts)} passed: {chosen.failure}" if chosen.failure else compressed.failure
    return Result(lines, {key: value for key, value in log.items() if key != "attempts"}, refused)


def _verdict(one: Attempt) -> str:
    spent = show_time(round(one.checks[-1].seconds, 1))
    word = (
        one.failure or f"passes the gates at update {one.best.number}, mean reward {mean_reward(one.best.figures):.4f}"
    )
    return f"seed {one.seed}, {spent} of CPU: {word}"


def _compression(one: Compressed) -> list[str]:
    return [
        f"pruned {one.pruned:.2%} of the weights, the others in {one.bits:.2f} bits on average: actions differ by "
        f"{one.difference:.2f} %; {one.operations} operations instead of {one.operations_before}",
    ]


def _attempt(one: Attempt) -> dict[str, Any]:
    checks = [check.as_dict("update") for check in one.checks]
    return {"seed": one.seed, "failure": one.failure, "checks": checks}


TRAIN = Job("Train DECC's network, prune and quantise it.", Settings, run, PRESETS, NOTES)
