"""`testbed score`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from testbed.cli import completion
from testbed.cli.shared import EngineChoice, EngineOrVirtual, Format, Formatted, print_json
from testbed.errors import BadInput, nearest

if TYPE_CHECKING:
    from testbed.sdk.score.score import Score


def score(  # noqa: PLR0917 - one parameter per option
    controller: Annotated[
        str,
        typer.Argument(metavar="CONTROLLER", help="A name or a path.", autocompletion=completion.plugins("controller")),
    ],
    suite: Annotated[str, typer.Option(metavar="NAME", help="Which experiments.")] = "quick",
    seed: Annotated[int, typer.Option(metavar="NUMBER", min=0, help="Seed of traffic, link delays and starts.")] = 1,
    engine: EngineOrVirtual = EngineChoice.virtual,
    jobs: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, help="Runs at the same time; in the kernel it is one.")
    ] = 2,
    format: Formatted = Format.text,
) -> None:
    """Give a controller one number from 0 to 100, with its parts.

        testbed score ./my_cc.py --seed 7

    The same controller, suite and seed give the same number (docs/howto/score.md).
    """
    from testbed.sdk.score.score import score as scored
    from testbed.sdk.score.suite import SUITES

    if suite not in SUITES:
        raise BadInput(f"--suite {suite}: there is none; {nearest(suite, list(SUITES))}")
    if engine is EngineChoice.fluid:
        raise BadInput("--engine fluid: points are for what packets do; say virtual or kernel")
    kernel = engine is EngineChoice.kernel
    found = scored(controller, SUITES[suite], seed, 1 if kernel else jobs, "kernel" if kernel else "virtual")
    if format is Format.json:
        runs = [asdict(one) for one in found.outcomes]
        about = {"controller": controller, "suite": suite, "seed": seed, "engine": engine.value}
        print_json({**about, "score": found.total, "parts": found.parts, "runs": runs, "reasons": found.reasons})
    else:
        _print(found, suite, seed)


def _print(found: Score, suite: str, seed: int) -> None:
    print(f"score {found.total:.2f} of 100, suite {suite}, seed {seed}")
    for name, value in found.parts.items():
        runs = ", ".join(f"{one.experiment} {one.parts[name]:.3f}" for one in found.outcomes if name in one.parts)
        print(f"  {name:<14}{value:.3f}   {runs}")
    for reason in found.reasons:
        print(f"0 because {reason}")
    for one in found.outcomes:
        if one.degraded:
            print(f"{one.experiment}: {one.degraded}")
