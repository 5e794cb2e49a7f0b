"""`testbed distil decc`: trees that decide as the compressed network does, accepted by closed loops."""

from __future__ import annotations

import hashlib
from pathlib import Path

from testbed.sdk.jobs import Job, JobContext, JobProgress, Result
from testbed.sdk.packages import versions

from ..learned.files import write_json
from .controller import POLICIES
from .distillation import NOTES, PRESETS, Attempt, Settings, distil
from .evaluate import measure, table
from .job_train import QUANTISED
from .network import Network

TREES, LOG = "trees.json", "distilled.json"


def run(settings: Settings, context: JobContext) -> Result:
    """Distil, measure in closed loops, write."""
    file = Path(settings.network).expanduser() if settings.network else POLICIES / QUANTISED
    teacher = Network.load(file)
    done = 0

    def tell(one: Attempt) -> None:
        nonlocal done
        done += 1
        context.report(JobProgress(done, settings.attempts, _verdict(one)))

    context.report(JobProgress(0, settings.attempts, f"{settings.trees} trees of depth {settings.depth} from {file}"))
    attempts = distil(teacher, settings, tell)
    chosen = attempts[-1]
    log = {
        "command": context.command,
        "settings": settings.model_dump(mode="json"),
        "versions": versions("numpy", "catboost"),
        "network": {"file": file.name, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()},
        "seed": chosen.seed,
        "accepted": not chosen.failure,
        "difference_percent": round(chosen.difference, 2),
        "figures": [one.as_dict() for one in chosen.figures],
        "attempts": [{"seed": one.seed, "failure": one.failure} for one in attempts],
    }
    chosen.trees.save(context.out / TREES)
    write_json(context.out / LOG, log)
    lines = [
        *(_verdict(one) for one in attempts),
        f"actions differ by {chosen.difference:.2f} % of the teacher's",
        *table({"teacher": measure(teacher.act), "trees": chosen.figures}),
    ]
    return Result(lines, log, f"no trees of {len(attempts)} were accepted: {chosen.failure}" if chosen.failure else "")


def _verdict(one: Attempt) -> str:
    return f"seed {one.seed}: {f'refused: {one.failure}' if one.failure else 'accepted'}"


DISTIL = Job("Distil DECC's network to boosted trees, accepted by closed loops.", Settings, run, PRESETS, NOTES)
