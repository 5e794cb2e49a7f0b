"""`testbed distil decc`: trees that decide as the compressed network does, accepted by closed loops."""

from __future__ import annotations

from pathlib import Path

from testbed.sdk.jobs import Job, JobContext, Result

from ..learned.distilling import counted, write
from .controller import POLICIES
from .distillation import NOTES, PRESETS, Attempt, Settings, distil
from .evaluate import measure, table
from .job_train import QUANTISED
from .network import Network


def run(settings: Settings, context: JobContext) -> Result:
    """Distil, measure in closed loops, write."""
    file = Path(settings.network).expanduser() if settings.network else POLICIES / QUANTISED
    teacher = Network.load(file)
    attempts = distil(teacher, settings, counted(context, settings, file, _verdict))
    chosen = attempts[-1]
    log = {
        "network": {"file": file.name},
        "seed": chosen.seed,
        "accepted": not chosen.failure,
        "difference_percent": round(chosen.difference, 2),
        "figures": [one.as_dict() for one in chosen.figures],
        "attempts": [{"seed": one.seed, "failure": one.failure} for one in attempts],
    }
    log = write(context, settings, chosen.trees, file, log)
    lines = [
        *(_verdict(one) for one in attempts),
        f"actions differ by {chosen.difference:.2f} % of the teacher's",
        *table({"teacher": measure(teacher.act), "trees": chosen.figures}),
    ]
    return Result(lines, log, f"no trees of {len(attempts)} were accepted: {chosen.failure}" if chosen.failure else "")


def _verdict(one: Attempt) -> str:
    return f"seed {one.seed}: {f'refused: {one.failure}' if one.failure else 'accepted'}"


DISTIL = Job("Distil DECC's network to boosted trees, accepted by closed loops.", Settings, run, PRESETS, NOTES)
