"""`testbed show`."""

from __future__ import annotations

from testbed.cli import shared
from testbed.runs.overrides import resolve

MOST_ALIASES = 64


def show(  # noqa: PLR0917 - one parameter per option
    experiment: shared.ExperimentArgument,
    controller: shared.Controller = "",
    tuner: shared.Tuner = "",
    engine: shared.Engine = None,
    settings: shared.Settings = None,
    duration: shared.Duration = "",
    dilation: shared.Dilation = "",
    seed: shared.Seed = None,
    format: shared.Formatted = shared.Format.text,
) -> None:
    """Print an experiment file with every default spelled out, and what traffic and thresholds amount to.

        testbed show websearch --set 'traffic.load=60 %'

    What it prints is an experiment file itself.
    """
    from testbed.experiment.critical_path import critical_path
    from testbed.experiment.offered import Offered
    from testbed.experiment.preflight import marking

    plugins = {"controller": controller, "tuner": tuner}
    resolved = resolve(experiment, plugins, shared.changes(engine, duration, dilation, seed), settings)
    if format is shared.Format.text:  # a comment: what is printed can be run as it is
        print(f"# {resolved.experiment.hosts} hosts, {Offered.of(resolved.experiment)}")
        if path := critical_path(resolved.layout):
            print(*(f"# {line}" for line in str(path).splitlines()), sep="\n")
        print(f"# {marking(resolved)}")
        for one in resolved.inputs(tuned=False):
            if one.form:
                print(f"# {one.key}: {one.form}")
        aliases = list(resolved.layout.shape.aliases.items())
        for ours, theirs in aliases[:MOST_ALIASES]:
            print(f"# {ours} is '{theirs}'")
        if len(aliases) > MOST_ALIASES:
            print(f"# and so on: {len(aliases) - MOST_ALIASES} more")
    shared.print_resolved(resolved, format)
