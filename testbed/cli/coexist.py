"""`testbed coexist`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from testbed.cli import completion, shared
from testbed.errors import BadInput

if TYPE_CHECKING:
    from testbed.experiment.resolved import Resolved
    from testbed.runs.coexist import Matrix

PICTURES = (".svg", ".png", ".pdf")


def coexist(  # noqa: PLR0917 - one parameter per option
    controllers: Annotated[
        str,
        typer.Argument(
            metavar="A,B,...", help="Controllers: names or paths.", autocompletion=completion.plugins("controller")
        ),
    ],
    experiment: Annotated[
        str,
        typer.Option(
            metavar="EXPERIMENT", help="Where they meet, under its traffic.", autocompletion=completion.experiments
        ),
    ] = "incast-16",
    tuner: shared.Tuner = "",
    engine: shared.EngineOrVirtual = shared.EngineChoice.virtual,
    settings: shared.Settings = None,
    duration: shared.Duration = "",
    dilation: shared.Dilation = "",
    seed: shared.Seed = None,
    repeat: shared.Repeat = 1,
    jobs: Annotated[int, typer.Option(metavar="NUMBER", min=1, help="Runs at the same time; not in the kernel.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder for the results of all runs; by default none are kept."),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the matrix: FILE.svg, .png or .pdf.")
    ] = None,
    format: shared.Formatted = shared.Format.text,
) -> None:
    """Put controllers in pairs into one rack, half of the flows each, and print what each got of its share.

        testbed coexist hpcc,swift,dcqcn --set tuner.preset=secn1 --jobs 2 --picture shares.svg

    1 is fair: goodput per flow / that of all flows. Exit code 3: a run
    was degraded.
    """
    from testbed.base.extras import need
    from testbed.experiment.chosen import aimed_at_pair, as_chosen
    from testbed.registry import find
    from testbed.results import folder
    from testbed.runs.carrier import carrier
    from testbed.runs.coexist import Matrix, halves
    from testbed.runs.coexist import coexist as meet
    from testbed.runs.overrides import from_user, overridden, tell

    names = [name for name in controllers.split(",") if name]
    if len(set(names)) < len(names) or not names:
        raise BadInput(f"'{controllers}': expected different controllers with commas between them, such as swift,hpcc")
    for name in names:  # before it is a part of `controllers`
        find("controller", name)
    if picture and picture.suffix not in PICTURES:
        raise BadInput(f"--picture {picture}: expected a file that ends with {', '.join(PICTURES)}")
    if picture:
        need("matplotlib")  # before any time is spent
    kernel = engine is shared.EngineChoice.kernel
    if kernel and jobs > 1:
        raise BadInput("--jobs: runs in the kernel's rack disturb each other; leave it out")
    loaded, options = from_user(experiment), shared.changes(engine, duration, dilation, seed)
    told: set[str] = set()

    def make(first: str, second: str, again: int) -> Resolved:
        plugins, its = {"controller": first, "tuner": tuner}, options
        own = aimed_at_pair(settings or [], names, (first, second))
        for_both = [one for one in own if not one.startswith("controllers.")]
        alone = overridden(loaded, plugins, its, for_both)
        if again:
            its = options | {"seed": str(alone.experiment.seed + again)}
            alone = overridden(loaded, plugins, its, for_both)
        beside = {**as_chosen(loaded.document, second), "of": {"flows": halves(len(alone.experiment.plan))}}
        resolved = overridden(loaded, plugins, its, [f"controllers={json.dumps([beside])}", *own])
        tell(resolved, told)
        return resolved

    target = None if out is None else folder.prepare(out, "")
    if kernel:
        from testbed.engines.kernel import doctor

        doctor.require()
    met = []
    for one in meet(carrier(engine.value), make, names, jobs, repeat=repeat, out=target):
        met.append(one)
        print(f"{' and '.join(one.pair)}: {one.share:.2f} and {2 - one.share:.2f}, {one.word}", file=sys.stderr)
    matrix = Matrix(names, met)
    if picture:
        from testbed.results.report.matrix import draw

        draw(picture, names, matrix.share)
        print(f"picture: {picture}", file=sys.stderr)
    _print(matrix, experiment, engine.value, format)
    if target:
        print(f"results: {target}\ncompare them: testbed compare {target}", file=sys.stderr)
    raise typer.Exit(3 if matrix.degraded else 0)


def _print(matrix: Matrix, experiment: str, engine: str, format: shared.Format) -> None:
    if format is shared.Format.json:
        pairs = [
            {
                "pair": one.pair,
                "seed": one.seed,
                "share": one.share,
                "su": one.utilisation,
                "verdict": one.word,
                "why": one.why,
            }
            for one in matrix.met
        ]
        shares = matrix.share.tolist()
        intervals = [[[one.low, one.high] if one.has_interval else None for one in row] for row in matrix.estimates]
        about = {"experiment": experiment, "engine": engine, "controllers": matrix.names}
        shared.print_json({**about, "share": shares, "interval": intervals, "pairs": pairs})
        return
    from rich.console import Console

    from testbed.results.fitted import Fitted

    Console(highlight=False).print(Fitted(matrix.table()))
    print("\n1 is a fair share, 2 is everything; on the diagonal, half of the flows beside the other half")
    found = matrix.estimates[0][0]
    if found.has_interval:
        holds = f"{100 * found.coverage:.3g} %"
        print(f"medians; below: the interval that holds the true one with a probability of {holds}")
    for one in matrix.degraded:
        print(f"{' and '.join(one.pair)}: {one.word}: {one.why}")
