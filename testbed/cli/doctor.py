"""`testbed doctor`."""

from __future__ import annotations

import typer

from testbed.cli.shared import Format, Formatted, print_json


def doctor(format: Formatted = Format.text) -> None:
    """Say what this machine can do, and how to get what is missing."""
    from testbed.engines.kernel import doctor as machine
    from testbed.engines.kernel.speed import suggest

    suggestion = suggest()
    probes = [*machine.examine(), suggestion.probe]
    if format is Format.json:
        probed = {"status": machine.worst(probes), "probes": machine.as_dicts(probes)}
        print_json({**probed, "speed": suggestion.as_dict()})
    else:
        for line in machine.as_lines(probes):
            print(line)
    raise typer.Exit(int(machine.worst(probes) == "missing"))
