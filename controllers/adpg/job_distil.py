"""`testbed distil adpg`: trees that decide as the network does, accepted by how they control."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from testbed.sdk.jobs import Job, JobContext, Result

from ..learned.distilling import counted, write
from .distillation import CLOSED_LOOPS, Attempt, Settings, aim_of, distil
from .evaluate import ramp, settled
from .job_train import NETWORK, finite, table
from .network import Network

POLICIES = Path(__file__).with_name("policies")


def run(settings: Settings, context: JobContext) -> Result:
    """Distil, measure in closed loops, write."""
    file = Path(settings.network).expanduser() if settings.network else POLICIES / NETWORK
    network = Network.load(file)
    attempts = distil(network, settings, counted(context, settings, file, _verdict))
    chosen = min(attempts, key=lambda one: (bool(one.failure), one.worst))
    aim = aim_of(network)
    measured = {"network": [settled(network, flows, aim) for flows in CLOSED_LOOPS], "trees": chosen.figures}
    ramps = {"network": ramp(network, aim), "trees": chosen.ramp}
    log = {
        "network": {"file": str(file), "training": network.training},
        "seed": chosen.seed,
        "learning_rate": chosen.learning_rate,
        "accepted": not chosen.failure,
        "fidelity_rmse": asdict(chosen.fidelity),
        "figures": {name: [one.as_dict() for one in figures] for name, figures in measured.items()},
        "ramp_rtts": {name: finite(value) for name, value in ramps.items()},
        "attempts": [_attempt(one) for one in attempts],
    }
    log = write(context, settings, chosen.trees, file, log)
    lines = [*(_verdict(one) for one in attempts), _rmse(chosen), *table(measured, ramps)]
    return Result(lines, log, f"no tree of {len(attempts)} was accepted" if chosen.failure else "")


def _verdict(one: Attempt) -> str:
    word = f"refused: {one.failure}" if one.failure else f"accepted: within {one.worst:.1%} of the oracle"
    return f"seed {one.seed}, learning rate {one.learning_rate:g}: {word}"


def _rmse(one: Attempt) -> str:
    found = one.fidelity
    return (
        f"RMSE of the multiplier: {found.visited:.5f} on visited states, {found.anywhere:.5f} anywhere, "
        f"{found.near_rest:.5f} near rest"
    )


def _attempt(one: Attempt) -> dict[str, Any]:
    return {
        "seed": one.seed,
        "learning_rate": one.learning_rate,
        "failure": one.failure,
        "fidelity_rmse": asdict(one.fidelity),
        "ramp_rtts": finite(one.ramp),
        "figures": [figures.as_dict() for figures in one.figures],
    }


DISTIL = Job("Distil ADPG's network to trees, accepted by closed loops.", Settings, run)
