"""The command line: parse, call, print.

stdout is for results and stderr for everything else, so that ``--format json`` can be piped. Exit codes: 0 clean,
1 error, 2 bad input (nothing was built), 3 ran but the result is degraded. Whatever is heavy is imported inside the
command that needs it (`testbed.cli`), so that ``testbed --help`` is quick.
"""

from __future__ import annotations

import sys

import typer

from testbed.cli import (
    agent,
    capture,
    compare,
    experiments,
    exporter,
    jobs,
    lab,
    machine,
    model,
    monitor,
    plugins,
    report,
    reproduce,
    run,
    sweep,
    switch,
    watch,
)
from testbed.errors import TestbedError

app = typer.Typer(
    name="testbed",
    help="Emulate a rack with real packets and try congestion control in it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 clean, 1 error, 2 bad input, 3 ran but the result is degraded.",
)
app.command()(run.run)
app.command()(agent.agent)
app.command()(watch.watch)
app.command()(sweep.sweep)
app.command()(compare.compare)
app.command()(reproduce.reproduce)
app.command("list")(experiments.list_)
app.command()(experiments.show)
app.command()(experiments.validate)
app.command()(machine.doctor)
app.add_typer(plugins.new, name="new")
app.command()(plugins.check)
app.command()(plugins.replay)
app.command()(report.report)
app.command()(capture.decode)
app.command()(machine.selftest)
app.command()(machine.version)
app.command()(exporter.exporter)
app.add_typer(monitor.monitor, name="monitor")
app.add_typer(model.model, name="model")
app.add_typer(lab.lab, name="lab")
app.add_typer(switch.switch, name="switch")
for making in (jobs.train, jobs.distil, jobs.explain, jobs.export):
    app.command()(making)


def main() -> int:
    """Entry point of ``testbed``: every known error is one message on stderr and an exit code."""
    try:
        app()
    except TestbedError as error:
        print(f"testbed: {error}", file=sys.stderr)
        return error.exit_code
    return 0
