"""`testbed doctor`."""

from __future__ import annotations

import typer

from testbed.cli.shared import Format, Formatted, answer


def doctor(format: Formatted = Format.text) -> None:
    """Say what this machine can do, and how to get what is missing.

        sudo testbed doctor

    `missing`: a run needs it; `optional`: it works without; `unknown`: only root can see it. Exit code 1: something is
    missing. As root it also names the dilation from which on `incast-64` should be clean.
    """
    from testbed.engines.kernel import doctor as machine
    from testbed.engines.kernel.speed import suggest

    suggestion = suggest()
    probes = [*machine.examine(), suggestion.probe]
    probed = {"status": machine.worst(probes), "probes": machine.as_dicts(probes), "speed": suggestion.as_dict()}
    answer(format, probed, machine.as_lines(probes))
    raise typer.Exit(int(machine.worst(probes) == "missing"))
