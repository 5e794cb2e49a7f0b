"""`testbed show`."""

from __future__ import annotations

from testbed.cli.shared import ExperimentArgument, Format, Formatted, Settings, print_resolved
from testbed.runs.overrides import resolve


def show(experiment: ExperimentArgument, settings: Settings = None, format: Formatted = Format.text) -> None:
    """Print an experiment with every default spelled out, and what its traffic amounts to."""
    from testbed.experiment.critical_path import critical_path
    from testbed.experiment.offered import Offered
    from testbed.experiment.preflight import marking

    resolved = resolve(experiment, {}, {}, settings)
    if format is Format.text:  # a comment: what is printed can be run as it is
        print(f"# {resolved.experiment.hosts} hosts, {Offered.of(resolved.experiment)}")
        if path := critical_path(resolved.layout):
            print(*(f"# {line}" for line in str(path).splitlines()), sep="\n")
        print(f"# {marking(resolved)}")
        for ours, theirs in sorted(resolved.layout.shape.aliases.items()):
            print(f"# {ours} is '{theirs}'")
    print_resolved(resolved, format)
