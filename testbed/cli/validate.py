"""`testbed validate`."""

from __future__ import annotations

from typing import Annotated

import typer

from testbed.cli import completion, shared, shared_run
from testbed.cli.shared_run import Inventory
from testbed.errors import TestbedError
from testbed.runs.overrides import resolve


def validate(  # noqa: PLR0917 - one parameter per option
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="An experiment file, or a name.", autocompletion=completion.experiments),
    ],
    controller: shared.Controller = "",
    tuner: shared.Tuner = "",
    engine: shared.Engine = None,
    settings: shared.Settings = None,
    duration: shared.Duration = "",
    dilation: shared.Dilation = "",
    seed: shared.Seed = None,
    inventory: Inventory = None,
    format: shared.Formatted = shared.Format.text,
) -> None:
    """Check an experiment file and the plugins it names, as `testbed run` would with the same options.

    testbed validate my.yaml --engine virtual
    """
    from testbed.runs.carrier import carrier
    from testbed.runs.plan import plan

    try:
        lab, its = shared_run.lab(inventory, engine, False)
        plugins = {"controller": controller, "tuner": tuner}
        options = shared.changes(engine, duration, dilation, seed)
        resolved = resolve(file, plugins, options, [*its, *(settings or [])])
        plan(lab or carrier(resolved.experiment.engine), resolved)
    except TestbedError as error:
        if format is shared.Format.text:
            raise
        shared.print_json({"valid": False, "problems": str(error).splitlines()})
        raise typer.Exit(error.exit_code) from None
    if format is shared.Format.json:
        shared.print_json({"valid": True, "problems": []})
    else:
        from testbed.experiment.offered import Offered

        print(f"{file} is valid: {resolved.experiment.hosts} hosts, {Offered.of(resolved.experiment)}")
