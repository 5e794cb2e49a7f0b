"""From the command's arguments to a `Comparison`: load, group, choose the baseline, and say what a reader must know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from testbed.errors import BadInput, nearest
from testbed.results.compare import gate
from testbed.results.compare.comparison import Comparison
from testbed.results.compare.gate import FailCondition
from testbed.results.compare.runs import Run, load, missing
from testbed.results.compare.variants import Variant, differences, variants
from testbed.results.record import SIMULATED


def gates(texts: Sequence[str]) -> list[FailCondition]:
    """Parse every ``--fail-if``; before anything is loaded, so that a typing error costs no time."""
    return [gate.parse(text) for text in texts]


def compare(
    paths: Sequence[Path], baseline: str = "", *, clean_only: bool = False, with_curves: bool = False
) -> Comparison:
    """Load and group the runs. ``baseline`` is a name, or a folder if it is one. Raises BadInput."""
    folder = Path(baseline).expanduser() if baseline and Path(baseline).expanduser().is_dir() else None
    references = load([folder], with_curves=with_curves, reference=True) if folder else []
    runs = [*references, *load(paths, with_curves=with_curves)]
    found = variants(runs)
    incomplete = tuple(missing([*paths, *([folder] if folder else [])]))
    notes = [*incomplete, *_notes(runs, found, clean_only)]
    if clean_only:
        found = [replace(one, runs=tuple(run for run in one.runs if run.clean)) for one in found]
    return Comparison(tuple(found), "" if folder else _baseline(baseline, found), tuple(notes), incomplete)


def _baseline(asked: str, found: Sequence[Variant]) -> str:
    """The name that was asked for; by default the first contender, or of a single contender its first variant."""
    contenders = list(dict.fromkeys(variant.contender for variant in found))
    if not asked:
        return contenders[0] if len(contenders) > 1 else found[0].name
    allowed = list(dict.fromkeys([*contenders, *(variant.name for variant in found)]))
    if asked not in allowed:
        raise BadInput(f"--baseline: no variant is named '{asked}', and no folder; {nearest(asked, allowed)}")
    return asked


def _notes(runs: Sequence[Run], found: Sequence[Variant], clean_only: bool) -> list[str]:
    """What a reader must know to take the comparison for what it is."""
    notes = []
    for engine, said in SIMULATED.items():
        if count := sum(run.manifest.engine == engine for run in runs):
            notes.append(said if count == len(runs) else f"{count} of {len(runs)} runs: {said}")
    degraded = sum(not run.clean for run in runs)
    if degraded:
        fate = "left out" if clean_only else "included; --clean-only leaves them out"
        notes.append(f"{degraded} of {len(runs)} runs are degraded, that is partly about the machine: {fate}")
    if len({variant.scenario for variant in found}) > 1:
        notes.append("scenarios differ in " + "; ".join(differences(runs)))
    seeds = [(one.name, len(one.runs) - len({run.manifest.seed for run in one.runs})) for one in found]
    notes += [f"{name}: {same} of its runs have the seed of another one" for name, same in seeds if same]
    for what, kinds in (
        ("engines", {str(run.manifest.engine) for run in runs}),
        ("machines", {str(run.manifest.machine) for run in runs}),
        ("kernels", {run.manifest.versions.get("kernel", "") for run in runs}),
        ("ways to delay packets", {str(run.manifest.kernel_features.get("delay_by")) for run in runs}),
    ):
        if len(kinds) > 1:
            notes.append(f"the runs were made with {len(kinds)} different {what}")
    return notes
